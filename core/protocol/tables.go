package protocol

import (
	"context"

	"edgetable/core/continuation"
	"edgetable/core/multipart"
	"edgetable/core/payload"
	"edgetable/core/table"
)

func (c *call) createTable(ctx context.Context) (answer, error) {
	body, format, err := c.readTypedBody()
	if err != nil {
		return answer{}, err
	}
	read := payload.ReadTableName
	if format == payload.Atom {
		read = payload.ReadAtomTableName
	}
	name, ok, err := read(body)
	if err != nil {
		return answer{}, err
	}
	if !ok {
		return answer{}, table.PropertiesNeedValue.Err()
	}
	c.route.Table = name
	if err := c.checkAccess(ctx, Access{Entities: 1}); err != nil {
		return answer{}, err
	}
	if err := c.Service.CreateTable(ctx, c.name()); err != nil {
		return answer{}, err
	}
	location := string(payload.AppendTableURI(nil, c.base, name))
	return c.insertAnswer(location, nil, oneTableEntry(name)), nil
}

func oneTableEntry(name string) content {
	return content{of: "Tables", write: func(dst []byte, v *payload.View) []byte { return v.AppendTable(dst, name) }}
}

func (c *call) queryTables(ctx context.Context) (answer, error) {
	filter, top, err := c.query(table.ParseTableFilter)
	if err != nil {
		return answer{}, err
	}
	if _, err := c.projection(); err != nil {
		return answer{}, err
	}
	var from []byte
	if c.options.NextTable != nil {
		if from, err = continuation.Parse(*c.options.NextTable); err != nil {
			return answer{}, err
		}
	}
	consistency, asked, err := c.consistency()
	if err != nil {
		return answer{}, err
	}
	if err := c.checkAccess(ctx, Access{Entities: 1}); err != nil {
		return answer{}, err
	}
	page, err := c.Service.QueryTables(ctx, c.address.Account, table.TableQuery{Filter: filter, Top: top, From: string(from), Consistency: consistency})
	if err != nil {
		return answer{}, err
	}
	c.resp.Scanned, c.resp.Returned = page.Examined, len(page.Names)
	a := answer{status: 200}
	a.addConsistency(asked)
	if page.Next != "" {
		a.header = multipart.Header{{Name: "x-ms-continuation-NextTableName", Value: continuation.Token([]byte(page.Next))}}
	}
	return c.withBody(a, content{of: "Tables", feed: true, write: func(dst []byte, v *payload.View) []byte {
		dst = v.AppendFeedStart(dst)
		for i, name := range page.Names {
			dst = v.AppendFeedTable(dst, i, name)
		}
		return v.AppendFeedEnd(dst)
	}})
}

func (c *call) getTable(ctx context.Context) (answer, error) {
	consistency, asked, err := c.consistency()
	if err != nil {
		return answer{}, err
	}
	if err := c.checkAccess(ctx, Access{Entities: 1}); err != nil {
		return answer{}, err
	}
	name, err := c.Service.GetTable(ctx, c.name(), consistency)
	if err != nil {
		return answer{}, err
	}
	a := answer{status: 200}
	a.addConsistency(asked)
	return c.withBody(a, oneTableEntry(name))
}

func (c *call) deleteTable(ctx context.Context) (answer, error) {
	if c.header.Get("If-None-Match") != "" {
		return answer{}, table.InvalidInput.With("If-Match or If-None-Match headers cannot be specified if the target type does not have etag properties defined.")
	}
	if err := c.checkAccess(ctx, Access{Entities: 1}); err != nil {
		return answer{}, err
	}
	if err := c.Service.DeleteTable(ctx, c.name()); err != nil {
		return answer{}, err
	}
	return answer{status: 204}, nil
}
