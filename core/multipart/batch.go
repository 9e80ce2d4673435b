package multipart

import "strings"

// Batch is the structure of a batch request body. [Parse] and [AppendBatch] are inverses.
type Batch struct {
	Parts []Part

	// Truncated is set if the body has more operations or parts than the limit. Parts then holds only the first limit+1
	// of them.
	Truncated bool
}

// Part is one part of a batch: a changeset with any number of operations, or a single operation outside a changeset.
type Part struct {
	Changeset  bool
	Operations []Operation
}

// Operation is one HTTP request in a batch. Method is empty if the part is empty, or if the part is in a changeset and
// its head cannot be parsed.
type Operation struct {
	Method string

	// Target is the request target: the text between the first and the last blank of the request line. Clients send
	// absolute URIs with other hosts, and unescaped blanks in keys.
	Target string

	Header Header
	Body   []byte // body without leading line ends, or nil if it is empty; shares memory with the parsed batch
}

// ContentID returns the Content-ID header of the operation, which the response must repeat. It ignores the Content-ID
// that Python clients send in the MIME head of the part.
func (o *Operation) ContentID() string { return o.Header.Get("Content-ID") }

// Single returns the only part of the batch, a changeset or one GET. For any other batch, the error is [Empty], [Mixed]
// or [TooMany]. The caller must check the methods in a changeset.
func (b *Batch) Single() (Part, error) {
	structure := func(r Reason, op int, detail string) (Part, error) {
		return Part{}, &Error{Reason: r, Operation: op, Offset: -1, Detail: detail}
	}
	switch len(b.Parts) {
	case 0:
		return structure(Empty, -1, "the batch has no part")
	case 1:
	default:
		return structure(Mixed, -1, "a batch must contain one changeset, or one query outside a changeset")
	}
	p := b.Parts[0]
	switch {
	case !p.Changeset && len(p.Operations) == 1 && p.Operations[0].Method == "GET":
		return p, nil
	case !p.Changeset:
		return structure(Mixed, 0, "a write must be inside a changeset")
	case b.Truncated:
		return structure(TooMany, len(p.Operations)-1, "the changeset has more operations than a transaction may have")
	}
	for i := range p.Operations {
		if p.Operations[i].Method == "GET" {
			return structure(Mixed, i, "a query must not be inside a changeset")
		}
	}
	return p, nil
}

// Field is a header line.
type Field struct{ Name, Value string }

// Header holds the header lines of one head in wire order. Names retain their case, and values are trimmed of
// surrounding blanks.
type Header []Field

// Get returns the value of the first field with the given name, or "". The case of the name is ignored.
func (h Header) Get(name string) string {
	value, _ := h.Lookup(name)
	return value
}

// Values returns the values of all fields with the given name. The case of the name is ignored.
func (h Header) Values(name string) (values []string) {
	for i := range h {
		if strings.EqualFold(h[i].Name, name) {
			values = append(values, h[i].Value)
		}
	}
	return values
}

// Lookup is like Get and also reports whether the field exists.
func (h Header) Lookup(name string) (value string, ok bool) {
	for i := range h {
		if strings.EqualFold(h[i].Name, name) {
			return h[i].Value, true
		}
	}
	return "", false
}
