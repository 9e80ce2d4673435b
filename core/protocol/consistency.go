package protocol

import (
	"cmp"

	"edgetable/core/table"
)

// consistencyHeader is no header of the service: with it a request asks for the
// consistency of its read, which otherwise follows from the address. The answer
// repeats it, so that a client can tell a server that knows it from one that
// does not.
const consistencyHeader = "x-edgetable-consistency"

// consistency is that of a read of entities, and what the request called it, ""
// if it did not ask: then the secondary address may lag behind. In a batch the
// header of the query counts, or else that of the batch.
//
// Writes do not look at it, not even at whether it makes sense: a client that
// sends it with all its requests loses nothing, since they and their conditions
// are judged by the latest state.
func (c *call) consistency() (how table.Consistency, asked string, err error) {
	asked = cmp.Or(c.header.Get("X-Edgetable-Consistency"), c.req.Header.Get("X-Edgetable-Consistency"))
	switch {
	case asked == "eventual", asked == "" && c.address.secondary:
		return table.Eventual, asked, nil
	case asked == "strong", asked == "":
		return table.Strong, asked, nil
	}
	return 0, "", table.InvalidHeaderValue.With("The value for one of the HTTP headers is not in the correct format. " + consistencyHeader + " is strong or eventual.")
}

// read says in an answer how it was read, if the request asked.
func (a *answer) read(asked string) {
	if asked != "" {
		a.header = append(a.header, Field{Name: consistencyHeader, Value: asked})
	}
}
