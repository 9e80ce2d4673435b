package buckets_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"edgetable/core/buckets"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/core/table"
)

// random generates tables and requests.
type random struct{ *rand.Rand }

// few returns the number of seeds to test. In short mode, which the race detector uses, only a tenth
// of the seeds are tested.
func few(seeds uint64) uint64 {
	if testing.Short() {
		return seeds / 10
	}
	return seeds
}

func (r random) partition() string {
	if r.IntN(12) == 0 {
		return ""
	}
	return fmt.Sprintf("%c%.*d", 'a'+rune(r.IntN(3)), 1+r.IntN(2), r.IntN(9))
}

func (r random) entity() string { return fmt.Sprintf("%02d", r.IntN(40)) }

func (r random) row(suffix string) table.Row {
	p := edm.AppendProperty(nil, "n", edm.Int32(int32(r.IntN(20))))
	p = edm.AppendProperty(p, "padding", edm.Binary(make([]byte, r.IntN(1+r.IntN(300)))))
	return table.Row{Key: key.Append(nil, r.partition(), r.entity()+suffix), Properties: p, Nonce: r.Uint64()}
}

func (r random) position() []byte {
	p := r.partition()
	switch r.IntN(6) {
	case 0:
		return key.PartitionFrom(p)
	case 1:
		return key.PartitionAfter(p)
	case 2:
		return key.RowFrom(p, r.entity())
	case 3:
		return key.RowAfter(p, r.entity())
	case 4:
		return append(key.Append(nil, p, r.entity()), 0)
	}
	return key.Append(nil, p, r.entity())
}

// ranges returns random ascending disjoint ranges: whole partitions, single entities, or any other ranges.
func (r random) ranges() []key.Range {
	var list []key.Range
	switch r.IntN(5) {
	case 0:
		return []key.Range{{}}
	case 1:
		p := r.partition()
		list = append(list, key.Range{Start: key.PartitionFrom(p), End: key.PartitionAfter(p)})
	case 2:
		for range 1 + r.IntN(30) {
			p, e := r.partition(), r.entity()
			list = append(list, key.Range{Start: key.RowFrom(p, e), End: key.RowAfter(p, e)})
		}
	case 3:
		for range 1 + r.IntN(6) {
			p := r.partition()
			list = append(list, key.Range{Start: key.PartitionFrom(p), End: key.PartitionAfter(p)})
		}
		list = append(list, key.Range{Start: r.position()})
	default:
		for range 1 + r.IntN(4) {
			list = append(list, key.Range{Start: r.position(), End: r.position()})
		}
	}
	slices.SortFunc(list, func(a, b key.Range) int { return bytes.Compare(a.Start, b.Start) })
	var tidy []key.Range
	for _, x := range list {
		if n := len(tidy); n > 0 {
			if tidy[n-1].End == nil {
				break
			}
			x = x.Intersect(key.Range{Start: tidy[n-1].End})
		}
		if !x.Empty() {
			tidy = append(tidy, x)
		}
	}
	if len(tidy) == 0 {
		return r.ranges()
	}
	return tidy
}

func (r random) request(t *testing.T) table.ScanRequest {
	q := table.ScanRequest{Ranges: r.ranges(), Consistency: table.Consistency(r.IntN(2)), Descending: r.IntN(3) == 0}
	some := func(n int) int {
		if r.IntN(2) == 0 {
			return 0
		}
		return 1 + r.IntN(1+r.IntN(n))
	}
	q.Rows, q.Bytes, q.ScanBytes = some(200), some(20_000), some(60_000)
	if r.IntN(4) == 0 {
		often := 1 + r.IntN(5)
		q.Expired = func() bool { return r.IntN(often) == 0 }
	}
	if r.IntN(2) == 0 {
		f, err := odata.Parse(fmt.Sprintf("n %s %d", []string{"lt", "ge", "eq"}[r.IntN(3)], r.IntN(20)))
		if err != nil {
			t.Fatal(err)
		}
		q.Filter = f
	}
	return q
}

// reader configures the store s so that reads return few rows. Some reads then return no row and only the position
// of the next read.
func (r random) reader(s *store, f *odata.Filter) {
	s.readBytes = 1 + r.IntN(1<<(4+r.IntN(14)))
	s.strict = r.IntN(2) == 0
	if r.IntN(2) == 0 {
		s.prefilter = f
	}
	if r.IntN(3) == 0 {
		n := 1 + r.IntN(20)
		s.most = func() int { return 1 + r.IntN(n) } // the store calls this function under its lock, so the random generator needs none
	}
}

// TestModel compares a scan of buckets with one sorted list. Page by page, the scan must return exactly the rows of
// the list that are in the ranges and match the filter, each once and in order.
func TestModel(t *testing.T) {
	t.Parallel()
	for seed := range few(800) {
		r := random{rand.New(rand.NewPCG(seed, 1))}
		count := []uint16{0, 1, 2, 3, 8, 16}[r.IntN(6)]
		s := newStore(count)
		for range r.IntN(1 + r.IntN(600)) {
			s.put(r.row(""))
		}
		q := r.request(t)
		r.reader(s, q.Filter)
		var want []string
		for _, x := range q.Ranges {
			for _, row := range s.all.in(x) {
				if q.Filter.Match(row.Key, row.Timestamp, row.Properties) {
					want = append(want, string(row.Key))
				}
			}
		}
		if q.Descending {
			slices.Reverse(want)
		}
		o := buckets.Options{FanOut: r.IntN(12), ReadBytes: s.readBytes}
		if q.Expired != nil {
			o.FanOut = 0 // the functions q.Expired and s.most share a random generator, so reads must not run concurrently
		}
		var src buckets.Source = s
		w := &inWaves{Source: s}
		if r.IntN(3) == 0 {
			src = w
		}
		list := pages(t, src, count, q, o, nil)
		if w.most > o.FanOut {
			t.Fatalf("seed %d: a wave has %d reads, want at most FanOut = %d", seed, w.most, o.FanOut)
		}
		if got := keysOf(list...); !slices.Equal(got, want) {
			t.Fatalf("seed %d: %d buckets, %+v:\n got %q\nwant %q", seed, count, q, got, want)
		}
		for i, page := range list {
			size := 0
			for _, row := range page {
				size += len(row.Key) + len(row.Properties)
			}
			if q.Rows > 0 && len(page) > q.Rows || q.Bytes > 0 && size > q.Bytes && len(page) > 1 {
				t.Fatalf("seed %d: page %d has %d rows, %d bytes; limits %d, %d", seed, i, len(page), size, q.Rows, q.Bytes)
			}
			if q.Rows > 0 && q.Bytes+q.ScanBytes == 0 && q.Expired == nil && i+1 < len(list) && len(page) < q.Rows {
				t.Fatalf("seed %d: page %d of %d has %d rows though nothing but Rows = %d limits it", seed, i, len(list), len(page), q.Rows)
			}
		}
		for _, l := range s.limits {
			if l.Consistency != q.Consistency || l.Filter != q.Filter || l.Descending != q.Descending {
				t.Fatalf("seed %d: a read has %v and %v, the request %v and %v", seed, l.Consistency, l.Filter, q.Consistency, q.Filter)
			}
		}
	}
}

// TestNarrowRanges scans ranges that have few keys or one, whose ends differ from their starts in few characters.
func TestNarrowRanges(t *testing.T) {
	t.Parallel()
	s := newStore(8)
	names := []string{"a", "r", "r ", "r !", "r x", "r!", "rX", "s"}
	for _, p := range names {
		for _, r := range append(names, "") {
			s.put(table.Row{Key: key.Append(nil, p, r)})
		}
	}
	var positions [][]byte
	for _, p := range names {
		positions = append(positions, key.PartitionFrom(p), key.PartitionAfter(p))
	}
	for _, r := range append(names, "") {
		positions = append(positions, key.RowFrom("r", r), key.RowAfter("r", r))
	}
	for _, start := range positions {
		for _, end := range positions {
			q := table.ScanRequest{Ranges: []key.Range{{Start: start, End: end}}}
			if q.Ranges[0].Empty() {
				continue
			}
			want := keysOf(s.all.in(q.Ranges[0]))
			if got := keysOf(pages(t, s, 8, q, buckets.Options{}, nil)...); !slices.Equal(got, want) {
				t.Errorf("in %q there are %q, want %q", q.Ranges, got, want)
			}
		}
	}
}

// TestSharedPositions scans a Source that reads the rows of all buckets and returns those of one. So the position of an
// unread bucket is often the key of a row in another bucket, which must come on this page or the next one.
func TestSharedPositions(t *testing.T) {
	t.Parallel()
	s := newStore(1)
	fill(s, 90, func() int { return 3 })
	src := readFunc(func(ctx context.Context, b uint16, r key.Range, l buckets.Limit) (buckets.Chunk, error) {
		l.Rows = min(l.Rows, 5)
		c, err := s.Read(ctx, 0, r, l)
		c.Rows = slices.DeleteFunc(c.Rows, func(row table.Row) bool { return buckets.OfKey(row.Key, 8) != b })
		return c, err
	})
	for _, rows := range []int{1, 7, 0} {
		for _, fanOut := range []int{0, 8} {
			for _, q := range []table.ScanRequest{{Rows: rows}, {Rows: rows, ScanBytes: 10_000}} {
				q.Ranges = []key.Range{{}}
				if got := keysOf(pages(t, src, 8, q, buckets.Options{FanOut: fanOut}, nil)...); !slices.Equal(got, keysOf(s.all)) {
					t.Errorf("%d rows a page, %d reads at a time: %d rows, want %d", rows, fanOut, len(got), len(s.all))
				}
				q.Descending = true
				got := keysOf(pages(t, src, 8, q, buckets.Options{FanOut: fanOut}, nil)...)
				if slices.Reverse(got); !slices.Equal(got, keysOf(s.all)) {
					t.Errorf("descending, %d rows a page, %d reads at a time: %d rows, want %d", rows, fanOut, len(got), len(s.all))
				}
			}
		}
	}
}

// TestPagingUnderWrites inserts and deletes rows between the pages of a scan, even at the position where the next
// page starts. The scan must return each row that exists during the whole scan exactly once, and no row that never
// existed.
func TestPagingUnderWrites(t *testing.T) {
	t.Parallel()
	for seed := range few(80) {
		r := random{rand.New(rand.NewPCG(seed, 2))}
		s := newStore(8)
		ever := map[string]bool{}
		for range 300 {
			row := r.row("")
			s.put(row)
			ever[string(row.Key)] = true
		}
		stays := keysOf(s.all)
		q := r.request(t)
		q.Ranges, q.Filter, q.Expired = []key.Range{{}}, nil, nil
		r.reader(s, nil)
		change := func() {
			for range 3 {
				row := r.row("+")
				s.put(row)
				ever[string(row.Key)] = true
				s.remove(r.row("+").Key)
			}
		}
		got := keysOf(pages(t, s, 8, q, buckets.Options{FanOut: 1}, change)...)
		if q.Descending {
			slices.Reverse(got)
		}
		if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Fatalf("seed %d: rows come twice, or out of order", seed)
		}
		for _, k := range got {
			if !ever[k] {
				t.Fatalf("seed %d: %q never was there", seed, k)
			}
		}
		got = slices.DeleteFunc(got, func(k string) bool { return k[len(k)-1] == '+' })
		if !slices.Equal(got, stays) {
			t.Fatalf("seed %d: rows that exist throughout:\n got %q\nwant %q", seed, got, stays)
		}
	}
}

// TestConcurrentScans runs scans with concurrent reads while rows are written, for the race detector.
func TestConcurrentScans(t *testing.T) {
	t.Parallel()
	r := random{rand.New(rand.NewPCG(1, 3))}
	s := newStore(8)
	for range 500 {
		s.put(r.row(""))
	}
	stays := keysOf(s.all)
	var done atomic.Int32
	for i := range 4 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			r := random{rand.New(rand.NewPCG(uint64(i), 4))}
			for range 10 {
				q := table.ScanRequest{Ranges: []key.Range{{}}, Rows: 1 + r.IntN(300)}
				got := keysOf(pages(t, s, 8, q, buckets.Options{FanOut: 1 + r.IntN(9)}, nil)...)
				got = slices.DeleteFunc(got, func(k string) bool { return k[len(k)-1] == '+' })
				if !slices.Equal(got, stays) {
					t.Errorf("got %d rows of %d", len(got), len(stays))
				}
			}
			done.Add(1)
		})
	}
	t.Run("", func(t *testing.T) {
		t.Parallel()
		r := random{rand.New(rand.NewPCG(5, 5))}
		for n := 0; done.Load() < 4 && n < 3_000; n++ {
			s.put(r.row("+"))
			s.remove(r.row("+").Key)
		}
	})
}
