package multipart

import "bytes"

// splitter cuts a multipart body at its delimiter lines. A delimiter line
// begins with "--" boundary, has "--" after it if it is the closing one, then
// blanks, and the line end or the end of input. Comparing whole lines keeps ids
// apart if one is a prefix of the other.
//
// One client leaves out the line end before the delimiter. With glued, a
// delimiter also begins after the closing brace of an operation's JSON: valid
// JSON has "--" only within a string, and a string has no line end
// (docs/adr/0022).
type splitter struct {
	body  []byte
	delim []byte // "--" boundary
	pos   int    // after the last delimiter line
	glued bool   // a delimiter may follow JSON without a line end between them
}

// newSplitter splits body from pos on; pos is the start of a line.
func newSplitter(body []byte, pos int, boundary string) splitter {
	return splitter{body: body, delim: append([]byte("--"), boundary...), pos: pos}
}

// delimiter finds the next delimiter line and moves after it. The line end
// before the line belongs to it: start is the end of the content before it.
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
			// It is asked at the first brace alone, since it reads the whole head: a body
			// full of braces and delimiters would take hours.
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
		// The line end before may also belong to the previous delimiter line.
		content := max(s.pos, trimLineEnd(s.body, start))
		s.pos = len(s.body) - len(rest) + end
		return content, closing, true
	}
}

// holdsJSON reports whether a part is an operation whose body is JSON.
func holdsJSON(part []byte) bool {
	for range 2 { // the heads of the part and of the operation
		_, rest, ok := cutHead(part)
		if !ok {
			return false
		}
		part = part[rest:]
	}
	part = bytes.TrimLeft(part, "\r\n")
	return len(part) > 0 && part[0] == '{'
}

// lineEnd returns the length of the line end at the beginning of s, with the
// blanks before it. The end of input is a line end.
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

// trimLineEnd returns end without the CRLF or LF at the end of s[:end].
func trimLineEnd(s []byte, end int) int {
	if end > 0 && s[end-1] == '\n' {
		end--
		if end > 0 && s[end-1] == '\r' {
			end--
		}
	}
	return end
}

// blank reports whether s has only blanks and line ends.
func blank(s []byte) bool { return len(bytes.Trim(s, " \t\r\n")) == 0 }
