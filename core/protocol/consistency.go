package protocol

import (
	"cmp"

	"edgetable/core/table"
)

// consistencyHeader is the request header that selects strong or eventual consistency for a read. The default is
// eventual at the secondary's address, and otherwise strong.
const consistencyHeader = "x-edgetable-consistency"

// consistency returns the consistency of a read, and the value of consistencyHeader, or "" without this header. A query
// in a batch may have its own header. Writes ignore the header.
func (c *call) consistency() (how table.Consistency, asked string, err error) {
	asked = cmp.Or(c.header.Get("X-Edgetable-Consistency"), c.req.Header.Get("X-Edgetable-Consistency"))
	switch {
	case asked == "strong" && c.Secondary != nil && c.Secondary():
		return 0, "", table.InvalidHeaderValue.With("The value for one of the HTTP headers is not in the correct format. This server is a secondary and may return old data: send requests with " + consistencyHeader + ": strong to the primary.")
	case asked == "eventual", asked == "" && c.address.Secondary:
		return table.Eventual, asked, nil
	case asked == "strong", asked == "":
		return table.Strong, asked, nil
	}
	return 0, "", table.InvalidHeaderValue.With("The value for one of the HTTP headers is not in the correct format. " + consistencyHeader + " is strong or eventual.")
}

// addConsistency repeats consistencyHeader in the answer if the request had it.
func (a *answer) addConsistency(asked string) {
	if asked != "" {
		a.header = append(a.header, Field{Name: consistencyHeader, Value: asked})
	}
}
