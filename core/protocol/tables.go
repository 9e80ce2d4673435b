package protocol

import (
	"context"

	"edgetable/core/multipart"
	"edgetable/core/payload"
	"edgetable/core/table"
)

// createTable is POST on /Tables.
func (c *call) createTable(ctx context.Context) (answer, error) {
	c.operation = "CreateTable"
	c.prefer = parsePreference(c.header.Get("Prefer"))
	body, err := c.content()
	if err != nil {
		return answer{}, err
	}
	name, ok, err := payload.ReadTableName(body)
	if err != nil {
		return answer{}, err
	}
	if !ok {
		return answer{}, table.PropertiesNeedValue.Err()
	}
	c.route.table = name
	if err := c.Service.CreateTable(ctx, c.name()); err != nil {
		return answer{}, err
	}
	location := string(payload.AppendTableURI(nil, c.base, name))
	return c.created(location, nil, func(dst []byte) []byte {
		return c.view("Tables", nil).AppendTable(dst, name)
	}), nil
}

// queryTables is GET on /Tables.
func (c *call) queryTables(ctx context.Context) (answer, error) {
	c.operation = "QueryTables"
	filter, top, err := c.query()
	if err != nil {
		return answer{}, err
	}
	if _, err := c.projection(); err != nil {
		return answer{}, err
	}
	from, err := c.options.tablePosition()
	if err != nil {
		return answer{}, err
	}
	page, err := c.Service.QueryTables(ctx, c.address.account, table.TableQuery{Filter: filter, Top: top, From: from})
	if err != nil {
		return answer{}, err
	}
	a := answer{status: 200}
	if page.Next != "" {
		a.header = multipart.Header{{Name: "x-ms-continuation-NextTableName", Value: token([]byte(page.Next))}}
	}
	return c.withBody(a, func(dst []byte) []byte {
		v := c.view("Tables", nil)
		dst = v.AppendFeedStart(dst)
		for i, name := range page.Names {
			dst = v.AppendFeedTable(dst, i, name)
		}
		return v.AppendFeedEnd(dst)
	}), nil
}

// getTable is GET on /Tables('name').
func (c *call) getTable(ctx context.Context) (answer, error) {
	c.operation = "GetTable"
	name, err := c.Service.GetTable(ctx, c.name())
	if err != nil {
		return answer{}, err
	}
	return c.withBody(answer{status: 200}, func(dst []byte) []byte {
		return c.view("Tables", nil).AppendTable(dst, name)
	}), nil
}

// deleteTable is DELETE on /Tables('name').
func (c *call) deleteTable(ctx context.Context) (answer, error) {
	c.operation = "DeleteTable"
	if c.header.Get("If-None-Match") != "" {
		return answer{}, table.InvalidInput.With("If-Match or If-None-Match headers cannot be specified if the target type does not have etag properties defined.")
	}
	if err := c.Service.DeleteTable(ctx, c.name()); err != nil {
		return answer{}, err
	}
	return answer{status: 204}, nil
}
