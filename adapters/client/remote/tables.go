package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"edgetable/core/payload"
	"edgetable/core/percent"
)

// Tables returns the names of all tables.
func (c *Client) Tables(ctx context.Context) (names []string, err error) {
	query := ""
	for {
		resp, err := c.send(ctx, request{method: http.MethodGet, path: "/Tables", query: query}, nil)
		if err != nil {
			return nil, fmt.Errorf("listing the tables of %s: %w", c.endpoint, err)
		}
		var page struct {
			Value []struct{ TableName string }
		}
		if err := json.Unmarshal(resp.body, &page); err != nil {
			return nil, fmt.Errorf("listing the tables of %s: %w", c.endpoint, err)
		}
		for _, t := range page.Value {
			names = append(names, t.TableName)
		}
		next := resp.header.Get("x-ms-continuation-NextTableName")
		if next == "" {
			return names, nil
		}
		query = "NextTableName=" + escaped(next)
	}
}

// CreateTable creates a table. The result created is false if the table already exists.
func (c *Client) CreateTable(ctx context.Context, table string) (created bool, err error) {
	_, err = c.send(ctx, request{method: http.MethodPost, path: "/Tables", contentType: contentJSON, body: []byte(`{"TableName":"` + table + `"}`)}, nil)
	switch {
	case err == nil:
		return true, nil
	case HasCode(err, "TableAlreadyExists"):
		return false, nil
	}
	return false, fmt.Errorf("creating table %s at %s: %w", table, c.endpoint, err)
}

// DeleteTable removes a table and all its entities.
func (c *Client) DeleteTable(ctx context.Context, table string) error {
	_, err := c.send(ctx, request{method: http.MethodDelete, path: string(payload.AppendTableURI([]byte("/"), "", table))}, nil)
	if err != nil {
		return fmt.Errorf("deleting table %s: %w", table, err)
	}
	return nil
}

func escaped(s string) string { return string(percent.AppendEscaped(nil, s)) }
