package transfer_test

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"edgetable/adapters/client/remote"
	"edgetable/adapters/transport/httpserver"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/payload"
	"edgetable/core/protocol"
	"edgetable/testdata/must"
	"edgetable/testdata/remotetest"
)

// newClient returns a client for a new server that has a table People.
func newClient(t testing.TB) *remote.Client {
	t.Helper()
	return clientOf(t, nil)
}

// newStopper returns a client for a new server, and a stopper, which cancels a context after a
// number of requests. The stopper counts the requests for which the callback returns true.
func newStopper(t testing.TB, counts func(*protocol.Request) bool) (*remote.Client, *stopper) {
	t.Helper()
	s := &stopper{counts: counts}
	return clientOf(t, func(p httpserver.Protocol) httpserver.Protocol {
		s.Protocol = p
		return s
	}), s
}

func pages(req *protocol.Request) bool {
	return req.Method == http.MethodGet && strings.Contains(req.Target, "()") && !strings.Contains(req.Target, "$top=")
}

func batches(req *protocol.Request) bool { return strings.Contains(req.Target, "$batch") }

// stopper wraps a server. It cancels a context when the server receives a certain request.
type stopper struct {
	httpserver.Protocol
	counts func(*protocol.Request) bool
	left   atomic.Int64
	stop   atomic.Pointer[context.CancelFunc]
}

// cancelAfter returns a context that is cancelled when the server receives the last of this many
// requests.
func (s *stopper) cancelAfter(t testing.TB, requests int) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	s.left.Store(int64(requests))
	s.stop.Store(&cancel)
	return ctx, cancel
}

func (s *stopper) Serve(ctx context.Context, req *protocol.Request) protocol.Response {
	if s.counts(req) && s.left.Add(-1) == 0 {
		(*s.stop.Load())()
	}
	return s.Protocol.Serve(ctx, req)
}

func clientOf(t testing.TB, wrap func(httpserver.Protocol) httpserver.Protocol) *remote.Client {
	t.Helper()
	e, err := remote.ParseConnection(remotetest.Start(t, wrap))
	must.OK(t, err)
	c := remote.New(e, 8)
	t.Cleanup(c.Close)
	if _, err := c.CreateTable(t.Context(), "People"); err != nil {
		t.Fatal(err)
	}
	return c
}

type keys struct{ partition, row string }

func (k keys) compare(other keys) int {
	return cmp.Or(key.Compare(k.partition, other.partition), key.Compare(k.row, other.row))
}

// fill inserts an entity for each key, in batches. p returns the properties of the ith entity.
func fill(t testing.TB, c *remote.Client, table string, list []keys, p func(i int) edm.Properties) {
	t.Helper()
	var ops []remote.Operation
	flush := func() {
		if len(ops) > 0 {
			must.OK(t, c.Batch(t.Context(), table, ops))
		}
		ops = ops[:0]
	}
	for i, k := range list {
		if len(ops) == remote.MaxOperations || len(ops) > 0 && ops[0].PartitionKey != k.partition {
			flush()
		}
		ops = append(ops, remote.Operation{Kind: remote.Insert, PartitionKey: k.partition, RowKey: k.row, Body: payload.AppendJSON(nil, k.partition, k.row, 0, p(i))})
	}
	flush()
}

func nothing(int) edm.Properties { return nil }

func numbered(n int) (list []keys) {
	for i := range n {
		list = append(list, keys{fmt.Sprintf("p%04d", i/500), fmt.Sprintf("r%06d", i)})
	}
	return list
}

func property(i int) edm.Properties {
	return edm.AppendProperty(nil, "Text", edm.String(strings.Repeat(fmt.Sprint(i, ","), 1000)))
}

// dump returns the entities of a table as JSON without Timestamps, one string each.
func dump(t testing.TB, c *remote.Client, tableName string) (lines []string) {
	t.Helper()
	for e, err := range c.Entities(t.Context(), remote.Query{Table: tableName}) {
		must.OK(t, err)
		lines = append(lines, string(payload.AppendJSON(nil, e.PartitionKey, e.RowKey, 0, e.Properties)))
	}
	return lines
}

// inOrder returns the lines sorted by key; list has the key of each line.
func inOrder(list []keys, lines []string) []string {
	index := make([]int, len(list))
	for i := range index {
		index[i] = i
	}
	slices.SortFunc(index, func(a, b int) int { return list[a].compare(list[b]) })
	var sorted []string
	for _, i := range index {
		sorted = append(sorted, lines[i])
	}
	return sorted
}

func write(t testing.TB, path, text string) string {
	t.Helper()
	must.OK(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}
