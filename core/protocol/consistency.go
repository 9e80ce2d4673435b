package protocol

import (
	"cmp"

	"edgetable/core/table"
)

// consistencyHeader is the request header that selects strong or eventual consistency for a read. By default, a read at
// the address of the secondary is eventual, and any other read is strong. Azure has no such header. The response
// repeats it to show that the server supports it.
const consistencyHeader = "x-edgetable-consistency"

// consistency returns the consistency of a read of entities or tables. It also returns the value of consistencyHeader,
// or "" if the header is absent. In a batch, the header of the query takes precedence over the header of the batch.
//
// Writes ignore the header, even if it is invalid, because the store always checks their conditions against the latest
// state. A client may therefore send the header with every request.
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
