package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// ErrNoOptions means that the service cannot store options of tables. Only recent versions of edgetable can.
var ErrNoOptions = errors.New("this service does not support table options: it is not edgetable, or an older version of it")

// Options returns the document with the options of a table, and the revision of the table.
func (c *Client) Options(ctx context.Context, table string) (document []byte, revision string, err error) {
	resp, err := c.send(ctx, request{method: http.MethodGet, path: "/" + escaped(table), query: "comp=options"}, nil)
	if err == nil {
		if revision = resp.header.Get("ETag"); revision == "" {
			err = ErrNoOptions // Azurite ignores the query string and returns entities
		}
	}
	if HasCode(err, "InvalidQueryParameterValue") {
		err = ErrNoOptions
	}
	if err != nil {
		return nil, "", fmt.Errorf("reading the options of table %s of %s: %w", table, c.endpoint, err)
	}
	return resp.body, revision, nil
}

// SetOptions replaces the options of a table, if the table still has the given revision.
func (c *Client) SetOptions(ctx context.Context, table, revision string, document []byte) error {
	_, err := c.send(ctx, request{method: http.MethodPut, path: "/" + escaped(table), query: "comp=options", match: revision, contentType: contentJSON, body: document}, nil)
	if err != nil {
		return fmt.Errorf("setting the options of table %s of %s: %w", table, c.endpoint, err)
	}
	return nil
}
