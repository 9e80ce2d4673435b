package remote

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"strings"

	"edgetable/core/payload"
)

// Query says which entities of a table to read.
type Query struct {
	Table  string
	Filter string   // expression, as in $filter; "" means all entities
	Select []string // names of properties; nil means all properties
	Top    int      // maximum number of entities; 0 means no maximum
	// Order is the order of the keys, as in $orderby; "" means ascending. Only edgetable supports Order. With other
	// services, the query returns an error.
	Order string
}

// orderHeader is the request header for the order of the results. A server that supports the header returns it in the
// response.
const orderHeader = "x-edgetable-orderby"

const pageSize = 1000

// Entities returns an iterator over the entities that match a query. An entity is valid until the next iteration. An
// error ends the iteration.
func (c *Client) Entities(ctx context.Context, q Query) iter.Seq2[payload.Received, error] {
	return func(yield func(payload.Received, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		fail := func(err error) {
			yield(payload.Received{}, fmt.Errorf("reading table %s of %s: %w", q.Table, c.endpoint, err))
		}
		var reader payload.Reader
		var free []byte // memory of a page that was read completely, for use by a later page
		next := c.fetch(ctx, &q, "", nil)
		for n, pages := 0, 0; next != nil; pages++ {
			p := <-next
			if p.err != nil {
				fail(p.err)
				return
			}
			next = nil
			if p.token != "" && (q.Top == 0 || n+pageSize < q.Top) {
				next = c.fetch(ctx, &q, p.token, free[:0])
			}
			if err := reader.Feed(p.body); err != nil {
				fail(err)
				return
			}
			for {
				e, ok, err := reader.Next()
				if err != nil {
					fail(err)
					return
				}
				if !ok {
					break
				}
				if !yield(e, nil) {
					return
				}
				if n++; n == q.Top {
					return
				}
			}
			if next == nil && p.token != "" { // the page had fewer entities than pageSize, so more pages are needed
				next = c.fetch(ctx, &q, p.token, free[:0])
			}
			free = p.body
		}
	}
}

type page struct {
	body  []byte
	token string // continuation token of the next page; "" on the last page
	err   error
}

func (c *Client) fetch(ctx context.Context, q *Query, token string, into []byte) <-chan page {
	result := make(chan page, 1)
	query := q.text()
	if token != "" {
		query = strings.TrimPrefix(query+"&"+token, "&")
	}
	go func() {
		resp, err := c.send(ctx, request{method: http.MethodGet, path: "/" + q.Table + "()", query: query, order: q.Order}, into)
		if err == nil && q.Order != "" && resp.header.Get(orderHeader) == "" {
			err = errors.New("the service does not support the order " + strconv.Quote(q.Order) + ": only edgetable does")
		}
		p := page{body: resp.body, err: err}
		if err == nil {
			p.token = continuation(resp.header)
		}
		result <- p
	}()
	return result
}

func (q *Query) text() string {
	var parts []string
	if q.Filter != "" {
		parts = append(parts, "$filter="+escaped(q.Filter))
	}
	if q.Select != nil {
		parts = append(parts, "$select="+escaped(strings.Join(q.Select, ",")))
	}
	if q.Top > 0 {
		parts = append(parts, "$top="+strconv.Itoa(min(q.Top, pageSize)))
	}
	return strings.Join(parts, "&")
}

func continuation(h http.Header) string {
	partition, row := h.Get("x-ms-continuation-NextPartitionKey"), h.Get("x-ms-continuation-NextRowKey")
	if partition == "" && row == "" {
		return ""
	}
	token := "NextPartitionKey=" + escaped(partition)
	if row != "" {
		token += "&NextRowKey=" + escaped(row)
	}
	return token
}

// Get reads one entity. The result ok is false if the entity does not exist.
func (c *Client) Get(ctx context.Context, table, partition, row string, names []string) (e payload.Received, ok bool, err error) {
	q := Query{Select: names}
	resp, err := c.send(ctx, request{method: http.MethodGet, path: entityPath(table, partition, row), query: q.text()}, nil)
	if HasCode(err, "ResourceNotFound", "EntityNotFound") {
		return e, false, nil
	}
	if err == nil {
		e, err = new(payload.Reader).Entity(resp.body)
	}
	if err != nil {
		return e, false, fmt.Errorf("reading table %s of %s: %w", table, c.endpoint, err)
	}
	return e, true, nil
}

func entityPath(table, partition, row string) string {
	return string(payload.AppendEntityURI(nil, "/", table, partition, row))
}
