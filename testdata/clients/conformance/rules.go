package main

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// Operations are the rows of the table in the document: first the operations that Azure documents, then general topics.
var Operations = []string{
	"CreateTable", "QueryTables", "GetTable", "DeleteTable",
	"InsertEntity", "UpdateEntity", "MergeEntity", "UpsertEntity", "DeleteEntity",
	"GetEntity", "QueryEntities", "EntityGroupTransaction",
	"TableACL", "SAS", "Bearer", "UserDelegation", "ServiceProperties", "ServiceStats", "CORS", "ATOM", "Errors", "Retry",
}

// operationOf returns the text before the first colon of a test's name, if this text is an operation.
func operationOf(name string) (string, bool) {
	operation, _, found := strings.Cut(name, ": ")
	return operation, found && slices.Contains(Operations, operation)
}

// Rules assign operations to tests whose names do not begin with an operation. The first matching rule applies.
type Rules []*rule

type rule struct {
	suite     string
	operation string
	pattern   *regexp.Regexp
	where     string
	used      bool
}

// readRules reads lines of suite, operation and a regular expression for the test's name, which is the rest of the line.
// Blank lines and lines that begin with # are comments.
func readRules(path string) (Rules, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var rules Rules
	lines := bufio.NewScanner(file)
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		where := fmt.Sprintf("%s:%d", path, number)
		suite, rest, _ := strings.Cut(line, " ")
		operation, text, _ := strings.Cut(strings.TrimSpace(rest), " ")
		if !slices.Contains(Operations, operation) {
			return nil, fmt.Errorf("%s: no operation %q", where, operation)
		}
		pattern, err := regexp.Compile("^(?:" + strings.TrimSpace(text) + ")")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
		rules = append(rules, &rule{suite, operation, pattern, where, false})
	}
	return rules, lines.Err()
}

// Counts holds the number of tests of an operation by outcome, for one suite.
type Counts map[string][3]int

// Count counts the tests of a suite by operation and outcome.
func (rules Rules) Count(suite string, tests []Test) (Counts, error) {
	counts := Counts{}
	for _, test := range tests {
		operation, ok := operationOf(test.Name)
		if !ok {
			operation, ok = rules.match(suite, test.Name)
		}
		if !ok {
			return nil, fmt.Errorf("suite %s, test %q: which operation? Begin its name with one, as in \"GetEntity: …\", or add a rule to operations.txt", suite, test.Name)
		}
		c := counts[operation]
		c[test.Outcome]++
		counts[operation] = c
	}
	return counts, nil
}

func (rules Rules) match(suite, name string) (string, bool) {
	for _, r := range rules {
		if r.suite == suite && r.pattern.MatchString(name) {
			r.used = true
			return r.operation, true
		}
	}
	return "", false
}

// Unused returns the first rule that matched no test. It ignores rules of suites that did not run.
func (rules Rules) Unused(without []string) error {
	for _, r := range rules {
		if !r.used && !slices.Contains(without, r.suite) {
			return fmt.Errorf("%s: no test of suite %s needs this rule", r.where, r.suite)
		}
	}
	return nil
}
