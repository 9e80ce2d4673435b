package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Restored is the progress of a table's restore in a deployment on Cloudflare Workers.
type Restored struct {
	Objects []RestoredObject
	Done    bool
	Wait    time.Duration // delay before the next request; if it is negative, the restore has stopped and needs a new command
}

// RestoredObject is the state of one Durable Object of the table.
type RestoredObject struct {
	Name   string // number of the bucket that the object stores, a slash, and the id of the object's range
	Became string
}

// Restore restores a table on Workers to an earlier time, or undoes the last restore if the time is
// [table.UndoRestore]. Call it again until Done is true or Wait is negative.
func (c *Client) Restore(ctx context.Context, name string, to edm.Ticks) (Restored, error) {
	at := "undo"
	if to != table.UndoRestore {
		at = to.String()
	}
	resp, err := c.send(ctx, request{method: http.MethodPost, path: "/" + escaped(name), query: "comp=restore&time=" + escaped(at)}, nil)
	var did Restored
	if err == nil {
		did, err = readRestored(string(resp.body))
	}
	if err != nil {
		return Restored{}, fmt.Errorf("restoring table %s of %s: %w", name, c.endpoint, err)
	}
	return did, nil
}

func readRestored(text string) (did Restored, err error) {
	text, ok := strings.CutSuffix(text, "\n")
	lines := strings.Split(text, "\n")
	state, seconds, waits := strings.Cut(lines[len(lines)-1], " ")
	n, err := strconv.ParseUint(seconds, 10, 16)
	switch {
	case !ok, waits != (state == table.RestoreWaits), waits && err != nil:
		return did, errNotRestored
	case waits:
		did.Wait = time.Duration(n) * time.Second
	case state == table.RestoreEnded:
		did.Done = true
	case state == table.RestoreUnfinished:
		did.Wait = -1
	default:
		return did, errNotRestored
	}
	for _, line := range lines[:len(lines)-1] {
		name, became, _ := strings.Cut(line, " ")
		if name == "" || strings.Trim(name, "0123456789/") != "" || became == "" {
			return did, errNotRestored
		}
		did.Objects = append(did.Objects, RestoredObject{name, became})
	}
	return did, nil
}

// errNotRestored means that the response does not describe a restore, because the service ignored the query string.
var errNotRestored = errors.New("the response is not from an edgetable Worker")
