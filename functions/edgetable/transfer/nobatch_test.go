package transfer_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"edgetable/adapters/client/remote"
	"edgetable/adapters/transport/httpserver"
	"edgetable/core/protocol"
	"edgetable/functions/edgetable/transfer"
	"edgetable/functions/edgetable/transfer/scan"
	"edgetable/testdata/remotetest"
)

// withoutBatches wraps a service. The wrapper answers each batch with 501 Not Implemented, and
// counts the batches.
type withoutBatches struct {
	httpserver.Protocol
	asked *atomic.Int64
}

func (s withoutBatches) Serve(ctx context.Context, req *protocol.Request) protocol.Response {
	if strings.Contains(req.Target, "$batch") {
		s.asked.Add(1)
		return protocol.Response{Status: http.StatusNotImplemented}
	}
	return s.Protocol.Serve(ctx, req)
}

// TestWithoutBatches checks that a service without batches gets one request for each entity. The
// client may try a batch only once for every hundred entities.
func TestWithoutBatches(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	e, err := remote.ParseConnection(remotetest.Start(t, func(p httpserver.Protocol) httpserver.Protocol { return withoutBatches{p, &asked} }))
	if err != nil {
		t.Fatal(err)
	}
	c := remote.New(e, 4)
	defer c.Close()
	var text strings.Builder
	for i := range 300 {
		fmt.Fprintf(&text, `{"PartitionKey":"p","RowKey":"%03d"}`+"\n", i)
	}
	file := write(t, filepath.Join(t.TempDir(), "People.jsonl"), text.String())
	if totals, err := newImport(t, c, file, "", "insert").Run(t.Context(), c); err != nil || totals.Written != 300 || asked.Load() != 3 {
		t.Errorf("%+v, %v, %d batches", totals, err, asked.Load())
	}
	asked.Store(0)
	n, err := transfer.Purge(t.Context(), c, remote.Query{Table: "People", Filter: "PartitionKey ge ''"}, 1, new(scan.Progress))
	if err != nil || n != 300 || asked.Load() > 20 || len(dump(t, c, "People")) > 0 {
		t.Errorf("%d deleted, %v, %d batches", n, err, asked.Load())
	}
}
