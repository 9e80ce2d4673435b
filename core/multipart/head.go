package multipart

import (
	"bytes"
	"strings"
)

// Limits of a head. maxLine is in bytes. A request line with two percent-encoded keys of 1 KiB has up to 20 KB.
const (
	maxLine   = 32 << 10
	maxFields = 64
)

// cutHead finds the empty line that ends a head: content[:end] is the head, and content[rest:] follows the empty line.
// At the end of content, a line end suffices.
func cutHead(content []byte) (end, next int, ok bool) {
	for end < len(content) {
		i := bytes.IndexByte(content[end:], '\n')
		if i < 0 {
			return 0, 0, false
		}
		if i == 0 || i == 1 && content[end] == '\r' {
			return end, end + i + 1, true
		}
		end += i + 1
	}
	return end, end, end > 0 // the splitter has counted the empty line as part of the next delimiter
}

// cutLine cuts the first line from a head. Every line of the head ends with LF or CRLF.
func cutLine(head string) (line, rest string) {
	line, rest, _ = strings.Cut(head, "\n")
	return strings.TrimSuffix(line, "\r"), rest
}

// parseRequestLine splits a request line at its first and its last blank, because the target may contain unescaped
// blanks.
func parseRequestLine(line string) (method, target, problem string) {
	first, last := strings.IndexByte(line, ' '), strings.LastIndexByte(line, ' ')
	switch {
	case len(line) > maxLine:
		return "", "", "the request line is too long"
	case first == last || line[last+1:] != "HTTP/1.1" && line[last+1:] != "HTTP/1.0":
		return "", "", "the request line is not 'METHOD target HTTP/1.1'"
	}
	method, target = line[:first], line[first+1:last]
	switch {
	case !token(method):
		return "", "", "the method is not a token"
	case target == "" || target[0] == ' ' || target[len(target)-1] == ' ' || !fieldText(target):
		return "", "", "the request target is empty, or has control characters or surrounding spaces"
	}
	return method, target, ""
}

// appendFields appends the header lines of a head to dst. It returns a problem as text and not as an error, because
// only the caller knows the offset.
func appendFields(dst Header, lines string) (h Header, problem string) {
	n := 0
	for lines != "" {
		var line string
		line, lines = cutLine(lines)
		if len(line) > maxLine {
			return dst, "a header line is too long"
		}
		name, value, ok := strings.Cut(line, ":")
		switch value = strings.Trim(value, " \t"); {
		case !ok:
			return dst, "a header line has no colon"
		case !token(name): // this includes folded header lines, which HTTP no longer allows
			return dst, "a header name is not a token"
		case !fieldText(value):
			return dst, "a header value has control characters"
		}
		if n++; n > maxFields {
			return dst, "too many header lines"
		}
		dst = append(dst, Field{name, value})
	}
	return dst, ""
}

func token(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if letter := c | 0x20; 'a' <= letter && letter <= 'z' || c == '-' || '0' <= c && c <= '9' {
			continue
		}
		if strings.IndexByte("!#$%&'*+.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}

// fieldText reports whether s has no control characters other than tabs.
func fieldText(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' && s[i] != '\t' || s[i] == 0x7f {
			return false
		}
	}
	return true
}
