package workerd_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

var sharedRequests = flag.Int("requests", 200, "requests of TestObjectsShareMemory")

// TestObjectsShareMemory sends 256 Durable Objects requests of all kinds and sizes, up to the largest: batches of 16
// kB to 4 MB, entities of 1 MiB that are replaced and merged, pages, and merges that are refused because the result
// is too large. One wasm instance with all the objects must serve all requests, so its memory must never be full.
func TestObjectsShareMemory(t *testing.T) {
	server := start(t)
	s := openStore(t, server.NewPlace(wallClock), wallClock, 255)
	create(t, s)
	rnd := rand.New(rand.NewPCG(44, 7))
	partition := func() string { return fmt.Sprint(rnd.IntN(600)) }
	text := func(size int) edm.Value { return edm.Binary(make([]byte, size)) }
	commit := func(want error, batch ...table.Mutation) {
		t.Helper()
		if _, err := s.Commit(t.Context(), people, batch); (err == nil) != (want == nil) {
			t.Fatalf("%d mutations: %v, want %v", len(batch), err, want)
		}
	}
	put := func(kind table.Kind, partition, row, name string, size int) table.Mutation {
		return table.Mutation{Kind: kind, Key: key.Append(nil, partition, row), Nonce: rnd.Uint64(), Properties: edm.AppendProperty(nil, name, text(size))}
	}
	for n := range 600 { // let all Durable Objects of the table start before instances are counted
		commit(nil, put(table.Put, fmt.Sprint(n), "small", "v", 10))
	}
	before := instances(t, server, 0).Made
	for range *sharedRequests {
		p := partition()
		switch rnd.IntN(8) {
		case 0, 1, 2: // one of the batches of 16 kB to 4 MB
			rows, all := 1+rnd.IntN(table.MaxBatchOperations), 16_000<<rnd.IntN(9)
			var batch []table.Mutation
			for i := range rows {
				batch = append(batch, put([]table.Kind{table.Put, table.Merge}[rnd.IntN(2)], p, fmt.Sprint(i), "v", min(all/rows, 1_000_000)))
			}
			commit(nil, batch...)
		case 3:
			commit(nil, put(table.Put, p, "large", "v", 600_000+rnd.IntN(400_000)))
		case 4:
			commit(nil, put(table.Put, p, "large", "v", 500_000))
			commit(nil, put(table.Merge, p, "large", "w", rnd.IntN(500_000)))
			commit(table.EntityTooLarge.Err(), put(table.Merge, p, "large", "u", 700_000))
		case 5:
			if _, err := s.Get(t.Context(), people, key.Append(nil, p, "small"), table.Strong); err != nil {
				t.Fatal(err)
			}
		default:
			if _, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: []key.Range{{Start: key.PartitionFrom(p), End: key.PartitionAfter(p)}}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if made := instances(t, server, 0).Made - before; made != 0 {
		t.Errorf("the memory of all objects was full %d times", made)
	}
}
