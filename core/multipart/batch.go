package multipart

import "strings"

// Batch is the structure of a request body. Parse and AppendBatch are inverses.
type Batch struct {
	Parts []Part

	// Truncated says that reading stopped because the body has more operations
	// or parts than the limit; Parts holds at most limit+1 of each.
	Truncated bool
}

// Part is a part of the batch: a changeset of any number of operations, or one
// operation directly in the batch.
type Part struct {
	Changeset  bool
	Operations []Operation
}

// Operation is an HTTP request within a batch. An Operation without a Method is
// a part of a changeset that is empty or has a head that cannot be read.
type Operation struct {
	Method string

	// Target is the raw request target: the text between the first and the last
	// blank of the request line. Clients send absolute URIs with other hosts,
	// and raw blanks in keys.
	Target string

	Header Header
	Body   []byte // nil if empty; a slice of the parsed body, without leading line ends
}

// ContentID returns the Content-ID among the headers of the operation; the
// response repeats it. Python clients send one in the MIME head, which the
// response does not repeat.
func (o *Operation) ContentID() string { return o.Header.Get("Content-ID") }

// Single returns the only content that the service executes: one changeset of
// up to limit writes, or one query, a GET directly in the batch. The caller
// decides which methods are writes. For other content the error is an [*Error]
// with [Empty], [Mixed] or [TooMany].
func (b *Batch) Single() (Part, error) {
	structure := func(r Reason, op int, detail string) (Part, error) {
		return Part{}, &Error{Reason: r, Operation: op, Offset: -1, Detail: detail}
	}
	switch len(b.Parts) {
	case 0:
		return structure(Empty, -1, "the batch has no part")
	case 1:
	default:
		return structure(Mixed, -1, "a batch is one changeset, or one query without a changeset")
	}
	p := b.Parts[0]
	switch {
	case !p.Changeset && len(p.Operations) == 1 && p.Operations[0].Method == "GET":
		return p, nil
	case !p.Changeset:
		return structure(Mixed, 0, "a write must stand in a changeset")
	case b.Truncated:
		return structure(TooMany, len(p.Operations)-1, "the changeset has more operations than a transaction may have")
	}
	for i := range p.Operations {
		if p.Operations[i].Method == "GET" {
			return structure(Mixed, i, "a query cannot stand in a changeset")
		}
	}
	return p, nil
}

// Field is a header line.
type Field struct{ Name, Value string }

// Header holds the header lines of one head in wire order. Names keep their
// spelling; values keep everything except the blanks around them.
type Header []Field

// Get returns the value of the first field of that name, in any case, or "".
func (h Header) Get(name string) string {
	value, _ := h.Lookup(name)
	return value
}

// Lookup is Get, but it also reports whether the field exists.
func (h Header) Lookup(name string) (value string, ok bool) {
	for i := range h {
		if strings.EqualFold(h[i].Name, name) {
			return h[i].Value, true
		}
	}
	return "", false
}
