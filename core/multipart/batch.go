package multipart

import "strings"

// Batch is the structure of a request body. Parse and AppendBatch are inverse
// to one another.
type Batch struct {
	Parts []Part

	// Truncated says that reading stopped because more operations, or more
	// parts, were found than the limit; Parts holds at most limit+1 of each.
	Truncated bool
}

// Part is a part of the batch: a changeset of any number of operations, or one
// operation that stands in the batch directly.
type Part struct {
	Changeset  bool
	Operations []Operation
}

// Operation is an HTTP request within a batch. One without a Method is a part of
// a changeset that holds nothing.
type Operation struct {
	Method string

	// Target is the raw request target: all between the first and the last
	// blank of the request line. Clients send absolute URIs with hosts of
	// their own, and raw blanks within keys.
	Target string

	Header Header
	Body   []byte // nil if empty; a slice of the parsed body, without leading line ends
}

// ContentID returns the Content-ID among the headers of the operation, which
// is echoed in its response. That of the MIME head, sent by Python, is not.
func (o *Operation) ContentID() string { return o.Header.Get("Content-ID") }

// Single returns the only thing that the service executes: one changeset of up
// to limit writes, or one query, which is a GET and stands in the batch
// directly. Which methods are writes is not decided here. Otherwise the error
// is an [*Error] with [Empty], [Mixed] or [TooMany].
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

// Header is the header lines of one head in wire order. Names keep their
// spelling, values everything but the blanks around them.
type Header []Field

// Get returns the value of the first field of that name, in any case, or "".
func (h Header) Get(name string) string {
	value, _ := h.Lookup(name)
	return value
}

// Lookup is Get that tells an empty field from an absent one.
func (h Header) Lookup(name string) (value string, ok bool) {
	for i := range h {
		if strings.EqualFold(h[i].Name, name) {
			return h[i].Value, true
		}
	}
	return "", false
}
