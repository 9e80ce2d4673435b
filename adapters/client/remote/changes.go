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

// ErrNoChanges means that the service cannot report changes of tables. Only newer versions of edgetable can.
var ErrNoChanges = errors.New("this service does not support change feeds: it is not edgetable, or an older version of it")

// ErrMissed means that [Client.Changes] may have missed changes, because the service no longer has them.
var ErrMissed = errors.New("changes may have been missed")

// Changes is a page of a table's changes.
type Changes struct {
	Events []json.RawMessage
	Next   string // the position after the last event, for the next request
	// More says that further changes may be available at once. More is false if the service says that the response is
	// 0.0 seconds behind the table. Behind is the age of the last event in seconds, or 0 if the response has no age.
	More   bool
	Behind float64
}

// Event holds the fields of one change of a table, as docs/feed.md describes them.
type Event struct {
	Type         string          `json:"type"`
	Subject      string          `json:"subject"`
	PartitionKey string          `json:"partitionkey"`
	RowKey       string          `json:"rowkey"`
	Superseded   bool            `json:"superseded"`
	Expired      string          `json:"expired"`
	Data         json.RawMessage `json:"data"` // the entity, if the event includes it
}

// String formats the event as a line for people.
func (e *Event) String() string {
	line := strings.TrimPrefix(strings.TrimPrefix(e.Type, "edgetable."), "entity.")
	if e.Subject != "" {
		line += " " + e.Subject
	}
	if e.Superseded {
		line += " superseded"
	}
	if e.Expired != "" {
		line += " expired " + e.Expired
	}
	if e.Data != nil {
		line += " " + string(e.Data)
	}
	return line
}

// Changes requests the changes after a position; "" requests only the current position. If there are no changes, the
// service waits up to wait seconds for the next change.
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
			err = ErrNoChanges // Azurite ignores the query string and returns entities
		} else {
			behind := resp.header.Get("x-edgetable-behind")
			list.Behind, _ = strconv.ParseFloat(behind, 64) // the service omits this header if there are more changes
			list.More = behind != "0.0"
			err = json.Unmarshal(resp.body, &list.Events)
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

// Account returns the name of the account. For an endpoint with a shared access signature, it is taken from the URL.
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
