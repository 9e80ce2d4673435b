package protocol

import (
	"context"

	"edgetable/core/payload"
	"edgetable/core/table"
)

// getMetadata answers GET on /$metadata, which code generators read. For each table, the document lists only the
// properties that every table has.
func (c *call) getMetadata(ctx context.Context) (answer, error) {
	var names []string
	for q := (table.TableQuery{Top: table.MaxPageRows}); ; {
		page, err := c.Service.QueryTables(ctx, c.address.Account, q)
		if err != nil {
			return answer{}, err
		}
		names = append(names, page.Names...)
		if q.From = page.Next; q.From == "" {
			break
		}
	}
	a := answer{status: 200, body: payload.AppendMetadata(nil, c.address.Account, names)}
	a.header = append(a.header, Field{Name: "Content-Type", Value: "application/xml"})
	return a, nil
}
