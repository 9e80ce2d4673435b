package multipart

import (
	"bytes"
	"strings"
)

// Parse parses the body of a batch. It stops after limit+1 operations or parts; see [Batch.Truncated]. The Batch shares
// memory with body. The error is an [*Error] with [Malformed].
func Parse(body []byte, boundary string, limit int) (*Batch, error) {
	p := parser{body: body, limit: limit}
	if err := p.batch(boundary); err != nil {
		return nil, err
	}
	return &Batch{Parts: p.parts, Truncated: p.truncated}, nil
}

// parser parses one body. All offsets are from the start of the body.
type parser struct {
	body      []byte
	limit     int
	parts     []Part
	count     int
	fields    Header // headers of all operations, in one array to save allocations
	mime      Header // fields of the last MIME head, whose text is mimeText
	mimeText  string
	truncated bool
}

func (p *parser) batch(boundary string) error {
	s := newSplitter(p.body, 0, boundary)
	_, closing, ok := s.delimiter()
	if !ok {
		return p.fail(0, "the boundary of the batch is missing from the body")
	}
	for !closing {
		begin := s.pos
		var end int
		end, closing, ok = s.delimiter()
		if !ok {
			// Some clients omit the "--" of the closing delimiter. Accept this if only blanks follow. Other text means
			// that the batch was truncated.
			if blank(p.body[begin:]) {
				return nil
			}
			return p.fail(begin, "the closing boundary of the batch is missing")
		}
		if p.truncated {
			return nil
		}
		if err := p.batchPart(begin, end); err != nil {
			return err
		}
		if len(p.parts) > p.limit { // changesets may be empty, so limit the parts too
			p.truncated = true
		}
	}
	return nil
}

func (p *parser) batchPart(begin, end int) error {
	contentType, rest, problem := p.mimeHead(begin, end)
	if problem != "" {
		return p.fail(begin, problem)
	}
	if mediaType(contentType) == "application/http" {
		op, problem := p.operation(rest, end)
		if problem != "" {
			return p.failOperation(rest, problem)
		}
		p.add()
		p.parts = append(p.parts, Part{Operations: []Operation{op}})
		return nil
	}
	boundary, err := Boundary(contentType)
	if err != nil {
		return p.fail(begin, "the content type of a batch part must be application/http, or multipart/mixed with a boundary")
	}
	return p.changeset(rest, end, boundary)
}

// changeset reads the parts of a changeset. It requires the closing delimiter, which every client sends. Without it,
// the transaction may be truncated.
func (p *parser) changeset(begin, end int, boundary string) error {
	s := newSplitter(p.body[:end], begin, boundary)
	s.glued = true
	_, closing, ok := s.delimiter()
	if !ok {
		return p.fail(begin, "the boundary of the changeset is missing from the body")
	}
	var ops []Operation
	for !closing && !p.truncated {
		begin := s.pos
		end, closing, ok = s.delimiter()
		if !ok {
			return p.fail(begin, "the closing boundary of the changeset is missing")
		}
		if blank(p.body[begin:end]) {
			p.add()
			ops = append(ops, Operation{})
			continue
		}
		contentType, rest, problem := p.mimeHead(begin, end)
		if problem == "" && mediaType(contentType) != "application/http" {
			problem = "the content type of a changeset part must be application/http"
		}
		if problem != "" {
			return p.failOperation(begin, problem)
		}
		op, problem := p.operation(rest, end)
		if problem != "" {
			op = Operation{} // an operation without a method makes the caller of Parse reject the whole changeset
		}
		p.add()
		ops = append(ops, op)
	}
	p.parts = append(p.parts, Part{Changeset: true, Operations: ops})
	return nil
}

func (p *parser) mimeHead(begin, end int) (contentType string, rest int, problem string) {
	n, rest, ok := cutHead(p.body[begin:end])
	if !ok {
		return "", 0, "the headers of a part must end with an empty line"
	}
	// Most parts have the same MIME head, so reuse the parsed fields.
	if head := p.body[begin : begin+n]; string(head) != p.mimeText {
		p.mimeText = string(head)
		p.mime, problem = appendFields(p.mime[:0], p.mimeText)
		if problem != "" {
			return "", 0, problem
		}
	}
	// Accept only encodings that leave the bytes of a part unchanged.
	switch strings.ToLower(p.mime.Get("Content-Transfer-Encoding")) {
	case "", "binary", "8bit", "7bit":
		return p.mime.Get("Content-Type"), begin + rest, ""
	}
	return "", 0, "the Content-Transfer-Encoding is not binary"
}

// operation reads the inner request of a part. The target and the headers share one string, which is a copy of the
// head. The body is not copied.
func (p *parser) operation(begin, end int) (op Operation, problem string) {
	content := p.body[begin:end]
	n, rest, ok := cutHead(content)
	if !ok || n == 0 {
		return op, "the headers of an operation must end with an empty line"
	}
	line, lines := cutLine(string(content[:n]))
	method, target, problem := parseRequestLine(line)
	if problem != "" {
		return op, problem
	}
	first := len(p.fields)
	p.fields, problem = appendFields(p.fields, lines)
	if problem != "" {
		return op, problem
	}
	op.Method, op.Target = method, target
	if last := len(p.fields); last > first {
		op.Header = p.fields[first:last:last]
	}
	if length, ok := op.Header.Lookup("Content-Length"); ok && !digits(length) {
		return op, "the Content-Length is not a number"
	}
	if body := bytes.TrimLeft(content[rest:], "\r\n"); len(body) > 0 {
		op.Body = body[:len(body):len(body)]
	}
	return op, ""
}

func (p *parser) add() {
	p.count++
	p.truncated = p.count > p.limit
}

// digits reports whether s is empty or has only digits. The value of Content-Length is otherwise ignored, because some
// clients send a wrong one.
func digits(s string) bool {
	for i := range len(s) {
		if s[i]-'0' > 9 {
			return false
		}
	}
	return true
}

// mediaType returns a content type in lower case and without parameters.
func mediaType(contentType string) string {
	t, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.Trim(t, " \t"))
}

func (p *parser) fail(at int, problem string) error {
	return &Error{Reason: Malformed, Operation: -1, Offset: at, Detail: problem}
}

func (p *parser) failOperation(at int, problem string) error {
	return &Error{Reason: Malformed, Operation: p.count, Offset: at, Detail: problem}
}
