package buckets_test

import (
	"context"
	"testing"

	"edgetable/core/buckets"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/storetest"
	"edgetable/core/table"
	"edgetable/testdata/memstore"
)

// spread is the reference store. Its partitions are treated as if they were spread over 8 buckets.
type spread struct{ *memstore.Store }

func (s spread) Scan(ctx context.Context, name table.RecordKey, r table.ScanRequest) (table.Page, error) {
	return buckets.Scan(ctx, spreadTable{s.Store, name}, 8, r, buckets.Options{FanOut: 4, ReadBytes: 64 << 10})
}

type spreadTable struct {
	*memstore.Store
	name table.RecordKey
}

// Read scans the whole range r, in which most rows do not belong to bucket b. It returns only the rows of bucket b,
// so some chunks are empty.
func (s spreadTable) Read(ctx context.Context, b uint16, r key.Range, l buckets.Limit) (buckets.Chunk, error) {
	page, err := s.Scan(ctx, s.name, table.ScanRequest{
		Ranges: []key.Range{r}, Rows: min(4*l.Rows, 500), ScanBytes: l.Bytes, Consistency: l.Consistency, Descending: l.Descending,
	})
	c := buckets.Chunk{Next: page.Next}
	for _, row := range page.Rows {
		if buckets.OfKey(row.Key, 8) != b {
			continue
		}
		if len(c.Rows) == l.Rows {
			request := table.ScanRequest{Descending: l.Descending}
			c.Next = request.Continue(row.Key)
			break
		}
		c.Rows = append(c.Rows, row)
	}
	return c, err
}

// TestStore checks that a store whose Scan is this package's Scan fulfils the requirements for scans in package
// storetest. A page takes several reads, and a table may be dropped and created again between two reads. So the store
// does not declare the guarantees SnapshotPage and ExactDrop.
func TestStore(t *testing.T) {
	t.Parallel()
	open := func(_ testing.TB, now func() edm.Ticks) storetest.Fixture {
		return storetest.Fixture{Store: spread{memstore.New(now)}, Strengths: storetest.Strengths{
			Conditional: true, AtomicCommit: true, Linearizable: true, TimestampsAcrossProcesses: true, Descending: true,
		}}
	}
	storetest.Scans(t, open)
	storetest.Order(t, open)
}
