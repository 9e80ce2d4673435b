// Package attack sends requests that cost a server much and the client little. Each connection sends the next request
// as soon as the previous one is answered.
package attack

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"edgetable/functions/edgetable/load/wire"
)

// Kind is a kind of attack.
type Kind string

// The kinds of attack.
const (
	Scans   Kind = "scans"   // queries of a whole table with a filter that matches no entity
	Inserts Kind = "inserts" // inserts of entities of 1 MiB
	SignIns Kind = "signins" // requests with a wrong signature
)

// Kinds lists all kinds of attacks.
var Kinds = []Kind{Scans, Inserts, SignIns}

// Run attacks a table over several connections until ctx ends, and returns the number of responses.
func Run(ctx context.Context, t wire.Target, table string, k Kind, connections int) (answers int64, err error) {
	var total atomic.Int64
	var wg sync.WaitGroup
	errs := make(chan error, connections)
	for i := range connections {
		wg.Go(func() {
			if err := run(ctx, t, table, k, i, &total); err != nil && ctx.Err() == nil {
				errs <- err
			}
		})
	}
	wg.Wait()
	close(errs)
	return total.Load(), <-errs
}

// run sends the requests of one connection. If the server refuses a request and closes the connection, run opens a
// new one.
func run(ctx context.Context, t wire.Target, table string, k Kind, worker int, total *atomic.Int64) error {
	path := []byte(t.Base + "/" + table + "()")
	req := wire.Request{Method: "GET", Path: path, Query: []byte("$filter=Kind%20eq%20'none'"), Header: "Accept: application/json;odata=nometadata\r\n"}
	if k == SignIns {
		req.Query = []byte("sv=2019-02-02&sig=bm90aGluZw%3D%3D&tn=" + table + "&sp=r&se=2099-01-01T00:00:00Z")
		t = t.WithToken("none=1") // send this token, which is invalid, instead of signing with the account key
	}
	for n := 0; ctx.Err() == nil; {
		c, err := wire.Dial(ctx, t)
		if err != nil {
			return fmt.Errorf("%s: %w", k, err)
		}
		stop := context.AfterFunc(ctx, func() { _ = c.Close() })
		for ctx.Err() == nil {
			if k == Inserts {
				n++
				req = wire.Request{Method: "POST", Path: []byte(t.Base + "/" + table), Body: entity(worker, n),
					Header: "Accept: application/json;odata=nometadata\r\nContent-Type: application/json\r\nPrefer: return-no-content\r\n"}
			}
			resp, err := c.Do(&req)
			if err != nil {
				break
			}
			if want := map[Kind]int{Scans: 200, Inserts: 204, SignIns: 403}[k]; resp.Status != want && resp.Status != 503 {
				stop()
				return fmt.Errorf("%s: status %d: %.200s", k, resp.Status, resp.Body)
			}
			total.Add(1)
		}
		stop()
		_ = c.Close() // closing a connection twice is harmless
	}
	return nil
}

// entity returns the JSON of an entity of almost 1 MiB.
func entity(worker, n int) []byte {
	b := append(make([]byte, 0, 1<<20), `{"PartitionKey":"attack`...)
	b = append(strconv.AppendInt(b, int64(worker), 10), `","RowKey":"`...)
	b = append(strconv.AppendInt(b, int64(n), 10), '"')
	for i := range 15 {
		b = append(b, `,"P`...)
		b = append(strconv.AppendInt(b, int64(i), 10), `":"`...)
		b = append(append(b, bytes.Repeat([]byte{'a' + byte((worker+n+i)%26)}, 32000)...), '"')
	}
	return append(b, '}')
}
