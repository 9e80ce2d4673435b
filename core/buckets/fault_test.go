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
	for i, fanOut := range []int{1, 3, 8, 3, 8} {
		s := grid(8)
		want := keysOf(s.all)
		var src buckets.Source = s
		if i > 2 {
			src = &inWaves{Source: s}
		}
		for nth := range int32(11) {
			var n atomic.Int32
			s.before = func(context.Context, uint16, key.Range, buckets.Limit) (*buckets.Chunk, error) {
				if n.Add(1) == nth+1 {
					return nil, errFault
				}
				return nil, nil
			}
			reported := 0
			o := buckets.Options{FanOut: fanOut, Report: func(buckets.Cost) { reported++ }}
			page, err := buckets.Scan(t.Context(), src, 8, whole, o)
			if !errors.Is(err, errFault) || page.Rows != nil || page.Next != nil {
				t.Errorf("read %d of several failed, %d at a time: %d rows, Next %q, %v", nth, fanOut, len(page.Rows), page.Next, err)
			}
			if reported != 1 {
				t.Errorf("the cost of a page that failed was reported %d times", reported)
			}
			if got := keysOf(pages(t, src, 8, whole, o, nil)...); !slices.Equal(got, want) {
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
			if _, err := buckets.Scan(t.Context(), s, 8, whole, buckets.Options{FanOut: fanOut}); !errors.Is(err, errFault) {
				t.Errorf("%d at a time: %v, want the error of the read", fanOut, err)
			}
		})
	}
}

// TestNoReadStarts checks that no read starts after ctx has ended or another read has failed. If ctx ends, Scan returns
// the error of ctx even if each read that started succeeds, because other reads are missing.
func TestNoReadStarts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, noReadStarts) // which ends the test if all reads wait
}

func noReadStarts(t *testing.T) {
	for _, x := range []struct {
		fanOut, at int32 // ctx ends in read number at, or before the first one if at is 0
		fails      bool  // the read itself fails
		most       int32 // number of reads
	}{
		{0, 0, false, 0}, {2, 0, false, 0},
		{0, 1, false, 1}, {0, 3, false, 3}, {0, 1, true, 1},
		{2, 1, false, 2}, {2, 3, false, 4}, {2, 1, true, 2},
	} {
		for _, waves := range []bool{false, true} {
			ctx, cancel := context.WithCancel(t.Context())
			if x.at == 0 {
				cancel()
			}
			var n atomic.Int32
			s := readFunc(func(readCtx context.Context, _ uint16, _ key.Range, _ buckets.Limit) (buckets.Chunk, error) {
				switch i := n.Add(1); {
				case i == x.at && x.fails:
					cancel()
					return buckets.Chunk{}, errFault
				case i == x.at:
					cancel()
				case i > x.at && !waves:
					<-readCtx.Done() // so that no further read is due before ctx has ended
				}
				return buckets.Chunk{}, nil
			})
			var src buckets.Source = s
			if waves {
				src = &inWaves{Source: s}
			}
			page, err := buckets.Scan(ctx, src, 8, whole, buckets.Options{FanOut: int(x.fanOut)})
			if !errors.Is(err, context.Canceled) || n.Load() > x.most {
				t.Errorf("%+v, waves %t: %d reads, Next %q, %v", x, waves, n.Load(), page.Next, err)
			}
			cancel()
		}
	}
	var n atomic.Int32
	s := readFunc(func(ctx context.Context, b uint16, _ key.Range, _ buckets.Limit) (buckets.Chunk, error) {
		if n.Add(1); b == 0 {
			return buckets.Chunk{}, errFault
		}
		<-ctx.Done()
		return buckets.Chunk{}, nil
	})
	if _, err := buckets.Scan(t.Context(), s, 8, whole, buckets.Options{FanOut: 2}); !errors.Is(err, errFault) || n.Load() > 2 {
		t.Errorf("after a read failed, there are %d reads, want those of two goroutines; %v", n.Load(), err)
	}
}

// TestEndedWhileExamining checks that Scan returns the error of ctx if ctx ends after the last read, while many rows are
// still to be examined.
func TestEndedWhileExamining(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := table.ScanRequest{Ranges: []key.Range{{}}, Expired: func() bool { cancel(); return false }}
	if page, err := buckets.Scan(ctx, grid(1), 1, r, buckets.Options{}); !errors.Is(err, context.Canceled) || page.Rows != nil {
		t.Errorf("%d rows, %v, want the error of ctx", len(page.Rows), err)
	}
}

// readFunc is a Source that has only the function Read.
type readFunc func(context.Context, uint16, key.Range, buckets.Limit) (buckets.Chunk, error)

func (f readFunc) Read(ctx context.Context, b uint16, r key.Range, l buckets.Limit) (buckets.Chunk, error) {
	return f(ctx, b, r, l)
}

// inWaves is a Source that runs the reads of a wave in one call. most is the number of reads in the largest wave.
type inWaves struct {
	buckets.Source
	most int
}

func (w *inWaves) ReadWave(ctx context.Context, reads []buckets.Read) (err error) {
	w.most = max(w.most, len(reads))
	for i := range reads {
		r := &reads[i]
		if r.Chunk, err = w.Read(ctx, r.Bucket, r.Range, r.Limit); err != nil {
			return err
		}
	}
	return nil
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
	still.Store(true)
	first, _ := key.Decode(s.buckets[3][0].Key)
	for _, r := range []key.Range{{Start: key.RowFrom(first, "r000000"), End: key.RowAfter(first, "r000000")}, {Start: key.PartitionFrom(first), End: key.PartitionAfter(first)}} {
		if page, err := buckets.Scan(t.Context(), s, 8, table.ScanRequest{Ranges: []key.Range{r}}, buckets.Options{}); !errors.Is(err, table.ErrBusy) {
			t.Errorf("in %q: %d rows, Next %q, %v; want ErrBusy", r, len(page.Rows), page.Next, err)
		}
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
	list := func(keys ...[]byte) (rows []table.Row) {
		for _, k := range keys {
			rows = append(rows, table.Row{Key: k})
		}
		return rows
	}
	bx, bx0 := append(bytes.Clone(b), 'x'), append(bytes.Clone(b), 'x', 0)
	for _, x := range []struct {
		why        string
		descending bool
		chunk      buckets.Chunk
		broken     bool
	}{
		{"the first row of the range", false, buckets.Chunk{Rows: list(b)}, false},
		{"Next is the end of the range", false, buckets.Chunk{Rows: list(b), Next: c}, false},
		{"Next is behind a row", false, buckets.Chunk{Rows: list(bx), Next: bx0}, false},
		{"a row before the range", false, buckets.Chunk{Rows: list(a)}, true},
		{"a row before the range, and one in it", false, buckets.Chunk{Rows: list(a, b)}, true},
		{"a row behind the range", false, buckets.Chunk{Rows: list(c)}, true},
		{"rows out of order", false, buckets.Chunk{Rows: list(bx, b)}, true},
		{"a row twice", false, buckets.Chunk{Rows: list(b, b)}, true},
		{"Next is a row of the chunk", false, buckets.Chunk{Rows: list(b), Next: b}, true},
		{"Next is before a row of the chunk", false, buckets.Chunk{Rows: list(bx), Next: b}, true},
		{"Next is before the range", false, buckets.Chunk{Next: a}, true},
		{"the last row of the range", true, buckets.Chunk{Rows: list(b)}, false},
		{"Next is the start of the range", true, buckets.Chunk{Rows: list(b), Next: b}, false},
		{"Next is a row, an exclusive bound", true, buckets.Chunk{Rows: list(bx), Next: bx}, false},
		{"a row before the range", true, buckets.Chunk{Rows: list(a)}, true},
		{"a row at the end of the range", true, buckets.Chunk{Rows: list(c)}, true},
		{"a row at the end of the range, and one in it", true, buckets.Chunk{Rows: list(c, b)}, true},
		{"a row behind the range, and one in it", true, buckets.Chunk{Rows: list(append(c, 'x'), b)}, true},
		{"rows out of order", true, buckets.Chunk{Rows: list(b, bx)}, true},
		{"a row twice", true, buckets.Chunk{Rows: list(b, b)}, true},
		{"Next is behind a row of the chunk", true, buckets.Chunk{Rows: list(bx), Next: bx0}, true},
		{"Next is behind the range", true, buckets.Chunk{Next: append(c, 'x')}, true},
	} {
		reads := 0
		s := readFunc(func(_ context.Context, _ uint16, r key.Range, _ buckets.Limit) (buckets.Chunk, error) {
			if reads++; r.Empty() {
				t.Errorf("%s: a read of no keys", x.why)
			}
			if reads > 1 {
				return buckets.Chunk{}, nil
			}
			return x.chunk, nil
		})
		page, err := buckets.Scan(t.Context(), s, 1, table.ScanRequest{Ranges: []key.Range{{Start: b, End: c}}, Descending: x.descending}, buckets.Options{})
		if x.broken != (err != nil) || !x.broken && len(page.Rows) != len(x.chunk.Rows) {
			t.Errorf("%s, descending %t: %d rows, %v", x.why, x.descending, len(page.Rows), err)
		}
	}
}
