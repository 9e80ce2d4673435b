package load_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"edgetable/core/multipart"
	"edgetable/functions/edgetable/load"
	"edgetable/functions/edgetable/load/wire"
	"edgetable/testdata/must"
)

func TestEntity(t *testing.T) {
	t.Parallel()
	l := load.Layout{Entities: 1 << 30, RowsPerPartition: 100}
	for _, i := range []int{0, 1, 99, 100, 12345, 1e6, 1e8} {
		b := l.AppendEntity(nil, i)
		if len(b) != load.EntitySize {
			t.Errorf("entity %d has %d bytes, want %d", i, len(b), load.EntitySize)
		}
		var e struct{ PartitionKey, RowKey, Text string }
		if err := json.Unmarshal(b, &e); err != nil {
			t.Fatalf("entity %d: %v", i, err)
		}
		path := string(l.AppendPath(nil, "/a/t", i))
		if want := fmt.Sprintf("/a/t(PartitionKey='%s',RowKey='%s')", e.PartitionKey, e.RowKey); path != want {
			t.Errorf("entity %d: path %s does not name %s", i, path, want)
		}
	}
}

// page returns the JSON of a response that contains the first n entities.
func page(l load.Layout, n int) []byte {
	list := make([]string, n)
	for i := range list {
		list[i] = string(l.AppendEntity(nil, i))
	}
	return []byte(`{"value":[` + strings.Join(list, ",") + "]}")
}

func TestCountEntities(t *testing.T) {
	t.Parallel()
	l := load.Layout{Entities: 1000, RowsPerPartition: 1000}
	for _, n := range []int{0, 1, 2, 1000} {
		if got := load.CountEntities(load.JSON, page(l, n)); got != n {
			t.Errorf("page of %d counted as %d", n, got)
		}
	}
}

// TestFillCoversEveryEntityOnce parses the batches of Fill with the server's parser. Each batch must be a valid
// transaction in one partition. Together, the batches must contain each entity once.
func TestFillCoversEveryEntityOnce(t *testing.T) {
	t.Parallel()
	target, err := wire.NewTarget("http://127.0.0.1:1/acct", wire.Development("acct"))
	must.OK(t, err)
	_, contentType, _ := strings.Cut(load.BatchHeader, "Content-Type: ")
	boundary, err := multipart.Boundary(strings.TrimSpace(contentType))
	must.OK(t, err)
	for _, l := range []load.Layout{
		{Entities: 1000, RowsPerPartition: 100},  // each batch is a whole partition
		{Entities: 2000, RowsPerPartition: 1000}, // each partition needs several batches
		{Entities: 701, RowsPerPartition: 70},    // each partition is smaller than a batch; the last partition has only one entity
		{Entities: 1234, RowsPerPartition: 250},  // the last batch of each partition is not full
		{Entities: 1, RowsPerPartition: 100},
	} {
		seen := map[string]int{}
		for k := range l.Batches() {
			batch, err := multipart.Parse(load.BatchBody(target, "t", l, k), boundary, load.BatchSize)
			if err != nil || batch.Truncated || len(batch.Parts) != 1 {
				t.Fatalf("%+v, batch %d: %v, %+v", l, k, err, batch)
			}
			partitions := map[string]bool{}
			for _, op := range batch.Parts[0].Operations {
				var e struct{ PartitionKey, RowKey string }
				if err := json.Unmarshal(op.Body, &e); err != nil {
					t.Fatalf("%+v, batch %d: %v", l, k, err)
				}
				partitions[e.PartitionKey] = true
				seen[e.RowKey]++
			}
			if len(partitions) != 1 {
				t.Errorf("%+v, batch %d is in partitions %v", l, k, partitions)
			}
		}
		if len(seen) != l.Entities {
			t.Errorf("%+v: %d entities, want %d", l, len(seen), l.Entities)
		}
		for rk, n := range seen {
			if n != 1 {
				t.Errorf("%+v: %s is there %d times", l, rk, n)
			}
		}
	}
}

func TestRunNobodyListens(t *testing.T) {
	t.Parallel()
	target, err := wire.NewTarget("http://127.0.0.1:1/a", wire.Development("a"))
	must.OK(t, err)
	if _, err := load.Run(t.Context(), load.Spec{Target: target, Op: load.Insert, Connections: 1, Duration: time.Second}); err == nil {
		t.Error("a server that is not there was measured")
	}
}

func BenchmarkCountEntities(b *testing.B) {
	page := page(load.Layout{Entities: 1000, RowsPerPartition: 1000}, 1000)
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		load.CountEntities(load.JSON, page)
	}
}

func BenchmarkBatchBody(b *testing.B) {
	target, err := wire.NewTarget("http://127.0.0.1:1/acct", wire.Development("acct"))
	must.OK(b, err)
	l := load.Layout{Entities: 1000, RowsPerPartition: 100}
	for b.Loop() {
		load.BatchBody(target, "t", l, 3)
	}
}
