package multipart

import "bytes"

// splitter cuts a multipart body at its delimiter lines: "--", the boundary, "--" at the end of the body, and blanks.
// It compares whole lines, because one of the two boundaries may be a prefix of the other.
//
// If glued is set, a delimiter may directly follow the closing brace of an operation's JSON, as one client writes it.
// This is safe: in valid JSON, "--" occurs only inside a string, which contains no line end (docs/adr/0022).
type splitter struct {
	body  []byte
	delim []byte
	pos   int  // offset after the last delimiter line
	glued bool // whether the line end between an operation's JSON and a delimiter may be missing
}

// newSplitter returns a splitter for body[pos:], which must begin at the start of a line.
func newSplitter(body []byte, pos int, boundary string) splitter {
	return splitter{body: body, delim: append([]byte("--"), boundary...), pos: pos}
}

// delimiter finds the next delimiter line and moves s.pos past this line. The content before this line ends at the
// offset start, and does not include the line end.
func (s *splitter) delimiter() (start int, closing, ok bool) {
	from, glued, judged := s.pos, s.glued, false
	for {
		i := bytes.Index(s.body[from:], s.delim)
		if i < 0 {
			return 0, false, false
		}
		start, from = from+i, from+i+len(s.delim)
		if start > 0 && s.body[start-1] != '\n' {
			if !glued || s.body[start-1] != '}' {
				continue
			}
			// Call holdsJSON only for the first brace of a part, because it parses from the start of the part. For a
			// body full of braces and delimiters, a call for each brace would take hours.
			if !judged {
				glued, judged = holdsJSON(s.body[s.pos:start]), true
			}
			if !glued {
				continue
			}
		}
		rest := s.body[from:]
		closing = bytes.HasPrefix(rest, []byte("--"))
		if closing {
			rest = rest[2:]
		}
		end, ok := lineEnd(rest)
		if !ok {
			continue
		}
		// If two delimiter lines are adjacent, the line end between them belongs to the first one.
		content := max(s.pos, trimLineEnd(s.body, start))
		s.pos = len(s.body) - len(rest) + end
		return content, closing, true
	}
}

// holdsJSON reports whether a part contains an operation with a JSON body.
func holdsJSON(part []byte) bool {
	for range 2 { // skip the head of the part, then the head of the operation
		_, rest, ok := cutHead(part)
		if !ok {
			return false
		}
		part = part[rest:]
	}
	part = bytes.TrimLeft(part, "\r\n")
	return len(part) > 0 && part[0] == '{'
}

// lineEnd returns the length of the blanks and the line end at the start of s. The end of input counts as a line end.
func lineEnd(s []byte) (n int, ok bool) {
	for n < len(s) && (s[n] == ' ' || s[n] == '\t') {
		n++
	}
	switch {
	case n == len(s):
		return n, true
	case s[n] == '\n':
		return n + 1, true
	case s[n] == '\r' && n+1 < len(s) && s[n+1] == '\n':
		return n + 2, true
	}
	return 0, false
}

// trimLineEnd returns the length of s[:end] without a trailing CRLF or LF.
func trimLineEnd(s []byte, end int) int {
	if end > 0 && s[end-1] == '\n' {
		end--
		if end > 0 && s[end-1] == '\r' {
			end--
		}
	}
	return end
}

func blank(s []byte) bool { return len(bytes.Trim(s, " \t\r\n")) == 0 }
