package workerd_test

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"edgetable/testdata/edge/workerd"
)

var (
	restRanges = flag.Int("ranges", 12, "ranges of the table of TestMessagesAtRest")
	restKeys   = flag.Int("keys", 0, "characters of PartitionKeys more than needed")
)

// restPartition returns the PartitionKey of the partition with the number n, in a table made by splitInto. All these
// keys share a long prefix. So the first keys of the table's ranges are long, too.
func restPartition(n int) string { return strings.Repeat("k", *restKeys) + fmt.Sprintf("p%03d", n) }

// splitInto creates a table and writes to it until it has split into this number of ranges, each with some
// partitions. It returns options with which a server serves that table without further splits.
func splitInto(t *testing.T, o workerd.Options, table string, ranges int) workerd.Options {
	t.Helper()
	o.Env = []string{acme, "EDGETABLE_SPLIT_BYTES=1"}
	s, err := workerd.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	must(t, 201, s, "POST", "acme", "/Tables", "", fmt.Sprintf(`{"TableName":%q}`, table))
	for n := 0; len(statistics(t, s, table).Ranges) < ranges; n++ {
		if n == 2000 {
			t.Fatalf("there are only %d ranges", len(statistics(t, s, table).Ranges))
		}
		for i := range 2 * ranges {
			put(t, s, fmt.Sprintf("/%s(PartitionKey='%s',RowKey='r')", table, restPartition(i)))
		}
	}
	s.Stop()
	o.Env[1] = "EDGETABLE_SPLIT_BYTES=0"
	return o
}

// resting is the server of atRest. The tests that use it run one after the other.
var resting struct {
	sync.Mutex
	server *workerd.Server
}

// atRest returns a server whose table many is at rest: the table has several ranges, and no longer splits. The first test
// makes it, and other tests wait until this test has ended.
func atRest(t *testing.T) *workerd.Server {
	t.Helper()
	resting.Lock()
	t.Cleanup(resting.Unlock)
	if resting.server == nil {
		s, err := workerd.Start(splitInto(t, workerd.Options{Data: filepath.Join(data, "rest"), Log: workerd.Causes(&shared.log)}, "many", *restRanges))
		if err != nil {
			t.Fatal(err)
		}
		resting.server = s
	}
	return resting.server
}

// batchOf returns a batch of writes to one partition.
func batchOf(table, partition string, rows, size int) (kind, body string) {
	kind, body = batch(table, 0, rows, size)
	return kind, strings.ReplaceAll(body, "'p'", "'"+partition+"'")
}

// TestMessagesAtRest counts the messages to Durable Objects. For a request, a Worker that knows the ranges of
// all objects must send one message, to the object with the request's keys. It must send no message to
// another object or to the catalog object. Requests of different sizes run in wasm instances with different
// limits of memory. All these instances must know the ranges.
func TestMessagesAtRest(t *testing.T) {
	t.Parallel()
	most := 2 * *restRanges
	s := atRest(t)
	partition := restPartition
	get := func(n int) {
		must(t, 200, s, "GET", "acme", fmt.Sprintf("/many(PartitionKey='%s',RowKey='r')", partition(n)), "", "")
	}
	write := func(n int) { put(t, s, fmt.Sprintf("/many(PartitionKey='%s',RowKey='r')", partition(n))) }
	batch := func(n int) {
		kind, body := batchOf("many", partition(n), 40, 1000)
		if status, answer := sent(t, s, workerd.Client, "POST", "/$batch", kind, body); status != 202 || strings.Contains(answer, "odata.error") {
			t.Errorf("%d %.300s", status, answer)
		}
	}
	page := func(n int) {
		answer := must(t, 200, s, "GET", "acme", "/many()", "$filter=PartitionKey%20eq%20'"+partition(n)+"'", "")
		if rows := strings.Count(answer, `"RowKey"`); rows != 41 {
			t.Errorf("%s has %d entities", partition(n), rows)
		}
	}
	messages := func() workerd.Messages {
		m, err := s.Messages(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	// Send requests until the last splits have ended and the Worker knows which object has which range.
	for tries := 0; ; tries++ {
		messages()
		for n := range most {
			get(n)
		}
		m := messages()
		if m.Bucket == most && m.Catalog == 0 {
			break
		}
		if tries == 2000 {
			t.Fatalf("it is not at rest: %d reads took %+v", most, m)
		}
	}
	for _, row := range []struct {
		what string
		do   func(n int)
	}{{"a get", get}, {"a write", write}, {"a batch of 40 kB", batch}, {"a page of 40 kB", page}} {
		for n := range most {
			row.do(n)
		}
		// One message to the catalog is allowed: an object may still send it for a split that was due before the
		// restart.
		if m := messages(); m.Bucket != most || m.Catalog > 1 {
			t.Errorf("%d times %s: %d messages to buckets and %d to the catalog", most, row.what, m.Bucket, m.Catalog)
		}
	}
}

// TestFullBehindWriteOfRange checks writes to a range that is not the first range of its table. The memory of
// the Worker's wasm instance becomes full after a Durable Object has carried out a write. The Worker must
// then replace the instance, and the new instance must answer the request. It must not send the write again.
func TestFullBehindWriteOfRange(t *testing.T) {
	t.Parallel()
	s := atRest(t)
	for n := range 12 {
		partition := restPartition(n)
		kind, body := batchOf("many", partition, 3, 10)
		for _, r := range []request{
			{method: "POST", target: "/many", kind: "application/json", body: fmt.Sprintf(`{"PartitionKey":"%s","RowKey":"new"}`, partition)},
			{method: "POST", target: "/$batch", kind: kind, body: strings.ReplaceAll(body, "PUT", "MERGE")},
			{method: "DELETE", target: fmt.Sprintf("/many(PartitionKey='%s',RowKey='new')", partition)},
		} {
			// After this read, the Worker's instance knows the ranges. The same instance serves the next request.
			must(t, 200, s, "GET", "acme", fmt.Sprintf("/many(PartitionKey='%s',RowKey='r')", partition), "", "")
			r.header = []string{"x-fault: full"} // makes the memory of the instance full; see faults.mjs
			resp, answer, err := r.send(t.Context(), s, workerd.Client)
			if err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode >= 300 || strings.Contains(answer, "odata.error") {
				t.Errorf("%s %s: %s: %s", r.method, r.target, resp.Status, answer)
			}
		}
	}
}
