package protocol

import (
	"context"
	"strconv"

	"edgetable/core/continuation"
	"edgetable/core/multipart"
	"edgetable/core/table"
)

// countEntities answers GET on the $count of a table. An answer may have a continuation token; the client then adds up
// the counts of all answers.
func (c *call) countEntities(ctx context.Context) (answer, error) {
	if o := &c.options; o.Top != nil || o.Select != nil || o.OrderBy != nil {
		return answer{}, table.InvalidQueryParameterValue.With("Value for one of the query parameters specified in the request URI is invalid. $count supports only $filter and continuation tokens.")
	}
	filter, err := c.filter(c.parseFilter())
	if err != nil {
		return answer{}, err
	}
	from, err := continuation.Position(c.options.NextPartition, c.options.NextRow, false)
	if err != nil {
		return answer{}, err
	}
	consistency, asked, err := c.consistency()
	if err != nil {
		return answer{}, err
	}
	c.visitQuery(filter, from)
	c.resp.reads, c.resp.filter = true, filter
	page, err := c.Service.Query(ctx, c.name(), table.Query{
		Filter: filter, Range: c.keyRange(), Count: true, From: from, Consistency: consistency, Pause: c.pause(ctx),
	})
	if err != nil {
		return answer{}, err
	}
	c.resp.Scanned, c.resp.Returned = page.Examined, 0
	c.visitedPage(&page)
	a := answer{status: 200, header: continuation.Headers(page.Next, false), body: strconv.AppendInt(nil, int64(page.Count), 10)}
	a.addConsistency(asked)
	a.header = append(a.header, multipart.Field{Name: "Content-Type", Value: "text/plain"})
	return a, nil
}
