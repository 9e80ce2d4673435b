package protocol

import (
	"context"

	"edgetable/core/edm"
	"edgetable/core/multipart"
	"edgetable/core/table"
)

// restoreTable answers comp=restore, an operation of our own: it puts a table back to what
// it was at a time, or undoes that. It undoes writes of everybody, so that only the account's key permits it.
func (c *call) restoreTable(ctx context.Context) (answer, error) {
	if c.options.time == nil {
		return answer{}, errTime
	}
	to := table.UndoRestore
	if *c.options.time != "undo" {
		var err error
		if to, err = edm.ParseDateTime(*c.options.time); err != nil {
			return answer{}, errTime
		}
	}
	did, err := c.Service.Restore(ctx, c.name(), to)
	return answer{status: 200, body: did, header: multipart.Header{{Name: "Content-Type", Value: "text/plain"}}}, err
}

var errTime = table.InvalidQueryParameterValue.With("Value for one of the query parameters specified in the request URI is invalid. time must be one such as 2026-11-23T14:03:07Z, or undo.")
