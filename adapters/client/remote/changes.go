package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// ErrNoChanges says who tells what changes in tables.
var ErrNoChanges = errors.New("this service does not tell what changes in tables: it is not edgetable, or an older one")

// ErrMissed is an error of [Client.Changes]: something may have changed that nobody tells any more.
var ErrMissed = errors.New("changes may have been missed")

// Changes is a page of what has changed in a table.
type Changes struct {
	Events []json.RawMessage
	Next   string // the position after them
	More   bool   // it has no events, and others follow at once
}

// Changes asks for what has changed since a position; "": since now, for the position. It waits so many seconds for something.
func (c *Client) Changes(ctx context.Context, name, since string, wait int) (list Changes, err error) {
	query := "comp=changes"
	if since != "" {
		query += "&since=" + url.QueryEscape(since)
	}
	if wait > 0 {
		query += "&wait=" + strconv.Itoa(wait)
	}
	resp, err := c.send(ctx, request{method: http.MethodGet, path: "/" + escaped(name), query: query}, nil)
	answer, answered := errors.AsType[*Error](err)
	switch {
	case err == nil:
		if list.Next = resp.header.Get("x-edgetable-next"); list.Next == "" {
			err = ErrNoChanges // Azurite answers with entities
		} else {
			err = json.Unmarshal(resp.body, &list.Events)
			list.More = len(list.Events) == 0 && resp.header.Get("x-edgetable-behind") == ""
		}
	case answered && answer.Status == http.StatusGone:
		err = fmt.Errorf("%w: %w", ErrMissed, err)
	case since == "" && HasCode(err, "InvalidQueryParameterValue"):
		err = ErrNoChanges
	}
	if err != nil {
		err = fmt.Errorf("reading what has changed in table %s of %s: %w", name, c.endpoint, err)
	}
	return list, err
}

// Account is the name of the account. An endpoint with a signature does not say it but in its URL.
func (c *Client) Account() string {
	if c.endpoint.account != "" {
		return c.endpoint.account
	}
	if path := c.endpoint.url.Path; path != "" {
		return path[strings.LastIndexByte(path, '/')+1:]
	}
	name, _, _ := strings.Cut(c.endpoint.url.Host, ".")
	return name
}
