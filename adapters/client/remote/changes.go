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

// ErrNoChanges means that the service does not support change feeds. Only recent versions of edgetable support them.
var ErrNoChanges = errors.New("this service does not support change feeds: it is not edgetable, or an older version of it")

// ErrMissed means that [Client.Changes] may have missed changes, because the service no longer has them.
var ErrMissed = errors.New("changes may have been missed")

// Changes is a page of a table's changes.
type Changes struct {
	Events []json.RawMessage
	Next   string // position after the last event, for the next request
	// More is true if further changes are available now. Behind is the age of the last event in seconds, or 0 if the
	// service did not send it.
	More   bool
	Behind float64
}

// Event is one change of a table; docs/feed.md describes the fields.
type Event struct {
	Type         string          `json:"type"`
	Subject      string          `json:"subject"`
	PartitionKey string          `json:"partitionkey"`
	RowKey       string          `json:"rowkey"`
	Superseded   bool            `json:"superseded"`
	Expired      string          `json:"expired"`
	Data         json.RawMessage `json:"data"` // the entity, if the event includes it
}

// String formats the event as a human-readable line.
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

// Changes returns the changes after a position, or only the current position if the parameter is "". If there are
// no changes, the service waits for the next one, for at most wait seconds.
func (c *Client) Changes(ctx context.Context, name, position string, wait int) (list Changes, err error) {
	query := "comp=changes"
	if position != "" {
		query += "&since=" + url.QueryEscape(position)
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
			list.Behind, _ = strconv.ParseFloat(behind, 64) // the service omits the header if there are more changes
			list.More = behind != "0.0"
			err = json.Unmarshal(resp.body, &list.Events)
		}
	case answered && answer.Status == http.StatusGone:
		err = fmt.Errorf("%w: %w", ErrMissed, err)
	case position == "" && HasCode(err, "InvalidQueryParameterValue"):
		err = ErrNoChanges
	}
	if err != nil {
		err = fmt.Errorf("reading what has changed in table %s of %s: %w", name, c.endpoint, err)
	}
	return list, err
}
