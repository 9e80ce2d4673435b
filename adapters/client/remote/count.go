package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Count counts the entities that match a query. It calls the function counted with the number of entities on each page.
// The result ok is false if the service does not support counts. For example, Azure does not.
func (c *Client) Count(ctx context.Context, q Query, counted func(n int64)) (ok bool, err error) {
	where := Query{Filter: q.Filter}
	for token := ""; ; {
		query := strings.Trim(where.text()+"&"+token, "&")
		resp, err := c.send(ctx, request{method: http.MethodGet, path: "/" + q.Table + "()/$count", query: query}, nil)
		if refused, is := errors.AsType[*Error](err); is && token == "" && (refused.Status == 400 || refused.Status == 405 || refused.Status == 501) {
			return false, nil
		}
		if err != nil {
			return true, fmt.Errorf("counting table %s of %s: %w", q.Table, c.endpoint, err)
		}
		n, err := strconv.ParseInt(string(resp.body), 10, 64)
		if err != nil {
			return false, nil // the response has entities instead of a number, so the service does not support $count
		}
		counted(n)
		if token = continuation(resp.header); token == "" {
			return true, nil
		}
	}
}
