package main

import (
	"regexp"
	"strings"
)

// pattern is the value of -run or -skip: alternatives, each with an expression for each level of a test's name.
type pattern [][]*regexp.Regexp

// parsePattern splits a pattern like package testing: at / and |, except in brackets.
func parsePattern(text string) (p pattern, err error) {
	var one []*regexp.Regexp
	add := func(s string) {
		var e *regexp.Regexp
		if err == nil {
			e, err = regexp.Compile(strings.ReplaceAll(s, " ", "_"))
		}
		one = append(one, e)
	}
	brackets, parentheses, begin := 0, 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '[':
			brackets++
		case ']':
			brackets = max(0, brackets-1)
		case '(':
			if brackets == 0 {
				parentheses++
			}
		case ')':
			if brackets == 0 {
				parentheses--
			}
		case '\\':
			i++
		case '/', '|':
			if brackets == 0 && parentheses == 0 {
				add(text[begin:i])
				if begin = i + 1; text[i] == '|' {
					p, one = append(p, one), nil
				}
			}
		}
	}
	add(text[begin:])
	return append(p, one), err
}

// matches reports whether the pattern matches a test with this name. A pattern may have more levels than the name:
// with -run, it then selects the test because of its subtests; with -skip, it does not skip the test.
func (p pattern) matches(path []string, run bool) bool {
	for _, one := range p {
		all := run || len(path) >= len(one)
		for i, name := range path {
			all = all && (i >= len(one) || one[i].MatchString(name))
		}
		if all {
			return true
		}
	}
	return false
}
