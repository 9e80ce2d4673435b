package protocol

import (
	"context"

	"edgetable/core/multipart"
	"edgetable/core/payload"
)

// getTraffic answers comp=traffic, an operation of our own: the statistics of a table.
// They have keys of entities and filters, so that only the account's key permits it.
func (c *call) getTraffic(ctx context.Context) (answer, error) {
	a := answer{status: 200, header: multipart.Header{{Name: "Content-Type", Value: "application/json"}}}
	if c.Traffic == nil {
		report, err := c.Service.Traffic(ctx, c.name())
		if err == nil {
			a.body = payload.AppendReport(nil, report)
		}
		return a, err
	}
	_, err := c.Service.TableACL(ctx, c.name()) // the table exists, or this says that it does not
	if err == nil {
		a.body, err = c.Traffic(c.account.Name, c.name().Table)
	}
	return a, err
}
