package buckets_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"edgetable/core/buckets"
	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/core/table"
)

// rows is a table, or one bucket of a table, in key order.
type rows []table.Row

func (r rows) from(k []byte) int {
	i, _ := slices.BinarySearchFunc(r, k, func(r table.Row, k []byte) int { return bytes.Compare(r.Key, k) })
	return i
}

func (r rows) in(x key.Range) rows {
	end := len(r)
	if x.End != nil {
		end = r.from(x.End)
	}
	return r[min(r.from(x.Start), end):end]
}

func (r *rows) put(row table.Row) {
	i := r.from(row.Key)
	if i < len(*r) && bytes.Equal((*r)[i].Key, row.Key) {
		(*r)[i] = row
		return
	}
	*r = slices.Insert(*r, i, row)
}

func (r *rows) remove(k []byte) {
	if i := r.from(k); i < len(*r) && bytes.Equal((*r)[i].Key, k) {
		*r = slices.Delete(*r, i, i+1)
	}
}

// store is a Source in memory. Like the operation Query of DynamoDB, a read returns rows in order: at most
// Limit.Rows rows, and about readBytes bytes. The fields before, most, strict and prefilter change this behaviour.
type store struct {
	count     uint16
	readBytes int
	// If the function before is not nil, it is called before each read. The function may return an error, or the
	// result of the read.
	before func(ctx context.Context, b uint16, r key.Range, l buckets.Limit) (*buckets.Chunk, error)
	// The function most returns the maximum number of rows of a read; a nil function sets no maximum. If the result
	// is 0, the read returns no row, and its Next is the position where the read began.
	most func() int
	// If the field strict is set, reads leave out rows that do not fit into the limit.
	strict bool
	// prefilter drops rows that cannot match. Dropped rows count as examined.
	prefilter *odata.Filter

	mu        sync.Mutex
	buckets   []rows
	all       rows
	reads     []uint16 // the bucket of each read
	examined  int
	limits    []buckets.Limit
	returned  int
	bytesRead int
}

func newStore(count uint16) *store {
	return &store{count: count, readBytes: 1 << 20, buckets: make([]rows, max(count, 1))}
}

func (s *store) put(row table.Row) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all.put(row)
	s.buckets[buckets.OfKey(row.Key, s.count)].put(row)
}

func (s *store) remove(k []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all.remove(k)
	s.buckets[buckets.OfKey(k, s.count)].remove(k)
}

func (s *store) Read(ctx context.Context, b uint16, r key.Range, l buckets.Limit) (buckets.Chunk, error) {
	if err := ctx.Err(); err != nil {
		return buckets.Chunk{}, err
	}
	if l.Rows < 1 || l.Bytes < 1 || r.Empty() || b >= max(s.count, 1) {
		return buckets.Chunk{}, fmt.Errorf("read of %d rows, %d bytes of bucket %d in %q", l.Rows, l.Bytes, b, r)
	}
	if s.before != nil {
		c, err := s.before(ctx, b, r, l)
		if err != nil {
			return buckets.Chunk{}, err
		}
		if c != nil {
			return *c, nil
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads = append(s.reads, b)
	s.limits = append(s.limits, l)
	there := s.buckets[b].in(r)
	if n := len(there) - l.Rows - 1; n > 0 { // copy no more rows than the loop looks at
		if there = there[:l.Rows+1]; l.Descending {
			there = s.buckets[b].in(r)[n:]
		}
	}
	there = slices.Clone(there)
	position, behind := slices.Clone[[]byte], func(k []byte) []byte { return append(slices.Clone(k), 0) }
	if l.Descending {
		slices.Reverse(there)
		position, behind = behind, position
	}
	most := min(l.Rows, len(there))
	if s.most != nil {
		most = min(most, s.most())
	}
	var c buckets.Chunk
	for i := range there {
		row := there[i]
		n := len(row.Key) + len(row.Properties)
		if i == most || c.Scanned+n > s.readBytes && i > 0 || s.strict && l.Strict && c.Scanned+n > l.Bytes {
			c.Next = position(row.Key)
			break
		}
		c.Examined++
		c.Scanned += n
		if i+1 == l.Rows { // stop at the limit like DynamoDB, without checking whether another row follows
			c.Next = behind(row.Key)
		}
		if s.prefilter == nil || s.prefilter.Match(row.Key, row.Timestamp, row.Properties) {
			c.Rows = append(c.Rows, row)
		}
		if c.Next != nil {
			break
		}
	}
	s.examined += c.Examined
	s.bytesRead += c.Scanned
	s.returned += len(c.Rows)
	return c, nil
}

// pages scans page by page to the end, and returns the rows of each page. Each time after a page that is not the
// last, between() is called.
func pages(t testing.TB, s buckets.Source, count uint16, r table.ScanRequest, o buckets.Options, between func()) [][]table.Row {
	t.Helper()
	var list [][]table.Row
	for range 100_000 {
		page, err := buckets.Scan(t.Context(), s, count, r, o)
		if err != nil {
			t.Fatalf("from %q: %v", r.Ranges[0].Start, err)
		}
		list = append(list, page.Rows)
		if page.Next == nil {
			return list
		}
		last := r.Ranges[len(r.Ranges)-1].End
		if r.Descending && last != nil && bytes.Compare(page.Next, last) >= 0 || !r.Descending && bytes.Compare(page.Next, r.Ranges[0].Start) <= 0 {
			t.Fatalf("Next %q is not behind the start of %q", page.Next, r.Ranges)
		}
		if n := len(page.Rows); n > 0 {
			if order := bytes.Compare(page.Next, page.Rows[n-1].Key); r.Descending && order > 0 || !r.Descending && order <= 0 {
				t.Fatalf("Next %q is not behind the last row %q", page.Next, page.Rows[n-1].Key)
			}
		}
		if r.Ranges = r.Rest(page.Next); len(r.Ranges) == 0 {
			return list
		}
		if between != nil {
			between()
		}
	}
	t.Fatal("the scan does not end")
	return nil
}

func keysOf(pages ...[]table.Row) []string {
	var list []string
	for _, p := range pages {
		for _, row := range p {
			list = append(list, string(row.Key))
		}
	}
	return list
}
