package buckets_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"edgetable/core/buckets"
	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/core/table"
)

func filter(t *testing.T, text string) *odata.Filter {
	t.Helper()
	f, err := odata.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// limited is a store that passes the limit of each read to a function.
type limited struct {
	*store
	see func(buckets.Limit)
}

func (l *limited) Read(ctx context.Context, b uint16, r key.Range, limit buckets.Limit) (buckets.Chunk, error) {
	l.see(limit)
	return l.store.Read(ctx, b, r, limit)
}

var whole = table.ScanRequest{Ranges: []key.Range{{}}, Rows: 1000}

func grid(count uint16) *store {
	s := newStore(count)
	fill(s, 3000, func() int { return 37 })
	return s
}

var errFault = errors.New("fault")

// TestReadFails checks that Scan returns the error of a failed read, and that the next attempt succeeds.
func TestReadFails(t *testing.T) {
	t.Parallel()
	for _, fanOut := range []int{1, 3, 8} {
		want := keysOf(grid(8).all)
		for nth := range int32(11) {
			s := grid(8)
			var n atomic.Int32
			s.before = func(context.Context, uint16, key.Range, buckets.Limit) (*buckets.Chunk, error) {
				if n.Add(1) == nth+1 {
					return nil, errFault
				}
				return nil, nil
			}
			reported := 0
			o := buckets.Options{FanOut: fanOut, Report: func(buckets.Cost) { reported++ }}
			page, err := buckets.Scan(t.Context(), s, 8, whole, o)
			if !errors.Is(err, errFault) || page.Rows != nil || page.Next != nil {
				t.Errorf("read %d of several failed, %d at a time: %d rows, Next %q, %v", nth, fanOut, len(page.Rows), page.Next, err)
			}
			if reported != 1 {
				t.Errorf("the cost of a page that failed was reported %d times", reported)
			}
			if got := keysOf(pages(t, s, 8, whole, o, nil)...); !slices.Equal(got, want) {
				t.Errorf("afterwards there are %d rows, want %d", len(got), len(want))
			}
		}
	}
}

// TestReadHangs checks that a hanging read ends when ctx ends, that a failed read cancels the concurrent ones, and
// that no goroutine leaks.
func TestReadHangs(t *testing.T) {
	t.Parallel()
	for _, fanOut := range []int{1, 2, 8} {
		synctest.Test(t, func(t *testing.T) {
			s := grid(8)
			s.before = func(ctx context.Context, b uint16, _ key.Range, _ buckets.Limit) (*buckets.Chunk, error) {
				if b == 5 {
					<-ctx.Done()
					return nil, errFault // any error; if ctx has ended, Scan must return the error of ctx instead
				}
				return nil, nil
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, err := buckets.Scan(ctx, s, 8, whole, buckets.Options{FanOut: fanOut}); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%d at a time: %v, want the error of ctx", fanOut, err)
			}
			hangs := s.before
			s.before = func(ctx context.Context, b uint16, r key.Range, l buckets.Limit) (*buckets.Chunk, error) {
				if b == 6 {
					return nil, errFault
				}
				if fanOut == 8 {
					return hangs(ctx, b, r, l)
				}
				return nil, nil
			}
			if _, err := buckets.Scan(t.Context(), s, 8, whole, buckets.Options{FanOut: fanOut}); err == nil {
				t.Errorf("%d at a time: no error", fanOut)
			}
			s.before = nil
			ended, end := context.WithCancel(t.Context())
			end()
			s.reads = nil
			if _, err := buckets.Scan(ended, s, 8, whole, buckets.Options{FanOut: fanOut}); !errors.Is(err, context.Canceled) || len(s.reads) > 0 {
				t.Errorf("%d at a time, ctx has ended: %v after %d reads", fanOut, err, len(s.reads))
			}
		})
	}
}

// TestReadStandsStill checks a scan in which the reads of one bucket return neither rows nor a later position. The
// page must end at the position of that bucket. If that position is the start of the page, the error must be ErrBusy.
func TestReadStandsStill(t *testing.T) {
	t.Parallel()
	s := grid(8)
	var still atomic.Bool
	s.before = func(_ context.Context, b uint16, r key.Range, _ buckets.Limit) (*buckets.Chunk, error) {
		if still.Load() && b == 3 {
			return &buckets.Chunk{Next: r.Start}, nil
		}
		return nil, nil
	}
	for _, start := range [][]byte{{}, s.all[100].Key, s.buckets[3][40].Key} {
		still.Store(true)
		r := table.ScanRequest{Ranges: []key.Range{{Start: start}}, Rows: 1000}
		if page, err := buckets.Scan(t.Context(), s, 8, r, buckets.Options{FanOut: 8}); !errors.Is(err, table.ErrBusy) {
			t.Errorf("from %q: Next %q, %v; want ErrBusy", start, page.Next, err)
		}
		still.Store(false)
	}
	// The first read of bucket 3 succeeds, and its later reads return nothing. So the page ends at the position of
	// bucket 3. The page must contain all rows before its Next, and no others.
	var n atomic.Int32
	s.before = func(_ context.Context, b uint16, r key.Range, _ buckets.Limit) (*buckets.Chunk, error) {
		if b == 3 && n.Add(1) > 1 {
			return &buckets.Chunk{Next: r.Start}, nil
		}
		return nil, nil
	}
	r := table.ScanRequest{Ranges: []key.Range{{}}, Rows: 3000}
	s.readBytes = 50_000
	page, err := buckets.Scan(t.Context(), s, 8, r, buckets.Options{})
	if err != nil || len(page.Rows) == 0 || len(page.Rows) == 3000 || page.Next == nil {
		t.Fatalf("%d rows, Next %q, %v", len(page.Rows), page.Next, err)
	}
	if want := keysOf(s.all.in(key.Range{End: page.Next})); !slices.Equal(keysOf(page.Rows), want) {
		t.Errorf("up to %q there are %d rows, want %d", page.Next, len(page.Rows), len(want))
	}
}

// TestEmptyChunks checks that the scan continues at the Next of a chunk without rows, even if other buckets have rows
// before that position.
func TestEmptyChunks(t *testing.T) {
	t.Parallel()
	s := grid(8)
	rnd := rand.New(rand.NewPCG(4, 4))
	s.before = func(_ context.Context, b uint16, r key.Range, _ buckets.Limit) (*buckets.Chunk, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		there := s.buckets[b].in(r)
		if len(there) == 0 || rnd.IntN(3) > 0 {
			return nil, nil
		}
		if bytes.Compare(there[0].Key, r.Start) > 0 { // Next is the first unread row, or the start of the partition of this row
			next := slices.Clone(there[0].Key)
			if p := key.Partition(next); rnd.IntN(2) == 0 && bytes.Compare(p, r.Start) > 0 {
				next = p
			}
			return &buckets.Chunk{Next: next, Scanned: 1000, Examined: 1}, nil
		}
		return nil, nil
	}
	for _, r := range []table.ScanRequest{whole, {Ranges: whole.Ranges, Rows: 7}, {Ranges: whole.Ranges, ScanBytes: 500}} {
		if got := keysOf(pages(t, s, 8, r, buckets.Options{FanOut: 4}, nil)...); !slices.Equal(got, keysOf(s.all)) {
			t.Errorf("%d rows, want %d", len(got), len(s.all))
		}
	}
}

// TestBrokenSource checks that Scan returns an error if a Source violates its contract. Otherwise Scan could lose or
// repeat rows.
func TestBrokenSource(t *testing.T) {
	t.Parallel()
	a, b, c := key.Append(nil, "p", "a"), key.Append(nil, "p", "b"), key.Append(nil, "p", "c")
	row := func(k []byte) table.Row { return table.Row{Key: k} }
	r := key.Range{Start: b, End: c}
	for _, x := range []struct {
		why   string
		chunk buckets.Chunk
	}{
		{"a row before the range", buckets.Chunk{Rows: []table.Row{row(a)}}},
		{"a row behind the range", buckets.Chunk{Rows: []table.Row{row(c)}}},
		{"rows out of order", buckets.Chunk{Rows: []table.Row{row(append(b, 'x')), row(b)}}},
		{"a row twice", buckets.Chunk{Rows: []table.Row{row(b), row(b)}}},
		{"Next is a row of the chunk", buckets.Chunk{Rows: []table.Row{row(b)}, Next: b}},
		{"Next is before the range", buckets.Chunk{Next: a}},
	} {
		s := newStore(1)
		s.before = func(context.Context, uint16, key.Range, buckets.Limit) (*buckets.Chunk, error) {
			return &x.chunk, nil
		}
		if _, err := buckets.Scan(t.Context(), s, 1, table.ScanRequest{Ranges: []key.Range{r}}, buckets.Options{}); err == nil {
			t.Errorf("%s: no error", x.why)
		}
	}
}
