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

// spread is the reference store with its entities seen as 8 buckets.
type spread struct{ *memstore.Store }

func (s spread) Scan(ctx context.Context, name table.RecordKey, r table.ScanRequest) (table.Page, error) {
	return buckets.Scan(ctx, spreadTable{s.Store, name}, 8, r, buckets.Options{FanOut: 4, ReadBytes: 64 << 10})
}

type spreadTable struct {
	*memstore.Store
	name table.RecordKey
}

// Read goes through a part of the table in which other buckets have most of the
// rows, so that some chunks have none.
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

// The merge passes the laws of scans. A page takes several
// reads, and between two of them a table may be deleted and created again: so
// there is neither SnapshotPage nor ExactDrop.
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
