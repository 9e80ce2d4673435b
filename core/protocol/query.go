package protocol

import (
	"context"

	"edgetable/core/address"
	"edgetable/core/continuation"
	"edgetable/core/key"
	"edgetable/core/multipart"
	"edgetable/core/odata"
	"edgetable/core/payload"
	"edgetable/core/table"
)

// getEntity answers GET on an entity. The entity is reported as missing if it is outside the key range of a shared
// access signature, or if the filter does not match it.
func (c *call) getEntity(ctx context.Context) (answer, error) {
	if c.allowEntity(c.route.PartitionKey, c.route.RowKey) != nil {
		return answer{}, table.ResourceNotFound.Err()
	}
	filter, err := c.filter(c.parseFilter())
	if err != nil {
		return answer{}, err
	}
	projection, err := c.projection()
	if err != nil {
		return answer{}, err
	}
	consistency, asked, err := c.consistency()
	if err != nil {
		return answer{}, err
	}
	c.visitEntity()
	err = c.checkAccess(ctx, Access{PartitionKey: c.route.PartitionKey, HasPartition: true, Entities: 1})
	if err != nil {
		return answer{}, err
	}
	row, err := c.Service.Get(ctx, c.name(), c.route.PartitionKey, c.route.RowKey, consistency)
	if err != nil {
		return answer{}, err
	}
	c.resp.Scanned = 1
	c.visited(&row)
	if !filter.Match(row.Key, row.Timestamp, row.Properties) {
		return answer{}, table.ResourceNotFound.Err()
	}
	c.resp.Returned = 1
	a := answer{status: 200, header: make(multipart.Header, 0, 2)}
	a.header = append(a.header, Field{Name: "ETag", Value: etagText(row.Timestamp)})
	a.addConsistency(asked)
	return c.withBody(a, c.entity(c.route.PartitionKey, c.route.RowKey, row.Timestamp, row.Properties, projection))
}

func (c *call) queryEntities(ctx context.Context) (answer, error) {
	if c.route.Nested {
		if err := table.CheckTableName(c.route.Table); err != nil {
			return answer{}, err
		}
		return answer{}, table.NotImplemented.With(table.NotImplemented.Err().Message + " The path continues after the table name: does the client's base URL include a table?")
	}
	projection, err := c.projection()
	if err != nil {
		return answer{}, err
	}
	filter, top, err := c.query(c.parseFilter())
	if err != nil {
		return answer{}, err
	}
	order, orderText, err := c.order(filter)
	if err != nil {
		return answer{}, err
	}
	from, err := continuation.Position(c.options.NextPartition, c.options.NextRow, order.Descending)
	if err != nil {
		return answer{}, err
	}
	consistency, asked, err := c.consistency()
	if err != nil {
		return answer{}, err
	}
	c.visitQuery(filter, from)
	if err := c.checkAccess(ctx, Access{Entities: 1}); err != nil {
		return answer{}, err
	}
	c.resp.reads, c.resp.filter = true, filter
	page, err := c.Service.Query(ctx, c.name(), table.Query{
		Filter: filter, Range: c.keyRange(), Top: top, From: from, Descending: order.Descending, Consistency: consistency, Pause: c.pause(ctx),
	})
	if err != nil {
		return answer{}, err
	}
	a := answer{status: 200, header: continuation.Headers(page.Next, order.Descending)}
	tokens := len(a.header)
	a.addConsistency(asked)
	if orderText != "" {
		a.header = append(a.header, Field{Name: address.OrderHeader, Value: orderText})
	}
	size := 256
	for i := range page.Rows {
		size += shownSize(page.Rows[i].Properties)
	}
	most, shown := c.Service.MostShown(), len(page.Rows)
	a, err = c.withBody(a, content{of: c.route.Table, feed: true, fields: projection, size: min(size, most), write: func(dst []byte, v *payload.View) []byte {
		begin := len(dst)
		dst = v.AppendFeedStart(dst)
		for i := range page.Rows {
			row, before := &page.Rows[i], len(dst)
			pk, rk := key.Decode(row.Key)
			dst = v.AppendFeedEntity(dst, i, pk, rk, row.Timestamp, row.Properties)
			if len(dst)-begin > most && i > 0 {
				dst, shown = dst[:before], i
				break
			}
		}
		return v.AppendFeedEnd(dst)
	}})
	if shown < len(page.Rows) { // the rows are longer than estimated, because of escapes or of nulls for missing properties
		page.Next = (&table.ScanRequest{Descending: order.Descending}).Continue(page.Rows[shown].Key)
		a.header = append(continuation.Headers(page.Next, order.Descending), a.header[tokens:]...)
	}
	c.resp.Scanned, c.resp.Returned = page.Examined, shown
	c.visitedPage(&page)
	if page.Recycle != nil {
		page.Recycle()
	}
	return a, err
}

func (c *call) query(parse func(string) (*odata.Filter, error)) (*odata.Filter, int, error) {
	filter, err := c.filter(parse)
	if err != nil {
		return nil, 0, err
	}
	top := table.MaxPageRows
	if c.options.Top != nil {
		var err error
		if top, err = odata.ParseTop(*c.options.Top); err != nil {
			return nil, 0, table.InvalidInput.With(err.Error())
		}
	}
	return filter, top, nil
}

// parseFilter returns the parser for filters on entities.
func (c *call) parseFilter() func(string) (*odata.Filter, error) {
	if c.Extensions {
		return odata.ParseExtended
	}
	return odata.Parse
}

func (c *call) filter(parse func(string) (*odata.Filter, error)) (*odata.Filter, error) {
	if c.options.Filter == nil {
		return nil, nil
	}
	f, err := parse(*c.options.Filter)
	if err != nil {
		return nil, queryError(err)
	}
	return f, nil
}

func (c *call) projection() (*payload.Projection, error) {
	if c.options.Select == nil {
		return nil, nil
	}
	names, err := odata.ParseSelect(*c.options.Select)
	if err != nil {
		return nil, queryError(err)
	}
	return payload.NewProjection(names, *c.options.Select), nil
}
