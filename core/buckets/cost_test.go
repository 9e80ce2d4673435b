package buckets_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"edgetable/core/buckets"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// kib holds the properties of a row of about 1 KiB.
var kib = edm.AppendProperty(nil, "padding", edm.Binary(make([]byte, 1000)))

// fill inserts n rows. Each partition gets as many rows as a call of lengths() returns.
func fill(s *store, n int, lengths func() int) {
	for p := 0; n > 0; p++ {
		for r := range min(lengths(), n) {
			row := table.Row{Key: key.Append(nil, fmt.Sprintf("p%08d", p), fmt.Sprintf("r%06d", r)), Properties: kib}
			b := buckets.OfKey(row.Key, s.count)
			s.buckets[b] = append(s.buckets[b], row)
			s.all = append(s.all, row)
			n--
		}
	}
}

// cost is the total cost of several pages.
type cost struct {
	pages, reads, waves, rows, returned int
	counts                              []int
}

func (c *cost) add(x buckets.Cost) {
	c.pages++
	c.reads += x.Reads
	c.waves += x.Waves
	c.rows += x.Rows
	c.counts = append(c.counts, x.Reads)
}

// TestCostOfAPage checks the average cost of a page of 1000 rows of 1 KiB from B = 8 buckets, over pages with random
// starts. A page may take at most 1.5·B+2 reads, and at most 2 rows read per row returned, for partitions of any
// length. The following command prints the table for the package documentation:
//
//	go test -run TestCostOfAPage -v ./core/buckets
func TestCostOfAPage(t *testing.T) {
	t.Parallel()
	const (
		b    = 8
		rows = 1000
	)
	fixed := func(n int) func() int { return func() int { return n } }
	rnd := rand.New(rand.NewPCG(1, 1))
	var text strings.Builder
	fmt.Fprintf(&text, "\n%-22s %6s %6s %6s %6s %10s", "rows a partition", "reads", "95 %", "worst", "waves", "rows read")
	for _, x := range []struct {
		name    string
		size    int // rows in the table; no page may reach the end of the table
		lengths func() int
	}{
		{"1", 30_000, fixed(1)},
		{"10", 30_000, fixed(10)},
		{"47", 30_000, fixed(47)},
		{"100", 30_000, fixed(100)},
		{"200", 60_000, fixed(200)},
		{"500", 100_000, fixed(500)},
		{"4000", 400_000, fixed(4000)},
		{"1 to 99", 30_000, func() int { return 1 + rnd.IntN(99) }},
		{"1, some 2000", 200_000, func() int {
			if rnd.IntN(200) == 0 {
				return 2000
			}
			return 1
		}},
	} {
		if testing.Short() {
			x.size /= 4 // most of the time is spent on filling tables
		}
		s := newStore(b)
		fill(s, x.size, x.lengths)
		var c cost
		for range 100 {
			start := s.all[rnd.IntN(x.size/2)].Key
			page, err := buckets.Scan(t.Context(), s, b, table.ScanRequest{Ranges: []key.Range{{Start: start}}, Rows: rows}, buckets.Options{FanOut: 8, Report: c.add})
			if err != nil || len(page.Rows) != rows {
				t.Fatal(len(page.Rows), err)
			}
			c.returned += rows
		}
		slices.Sort(c.counts)
		reads, ratio := float64(c.reads)/float64(c.pages), float64(c.rows)/float64(c.returned)
		fmt.Fprintf(&text, "\n%-22s %6.1f %6d %6d %6.1f %10.2f", x.name, reads, c.counts[len(c.counts)*95/100], c.counts[len(c.counts)-1],
			float64(c.waves)/float64(c.pages), ratio)
		if c.rows != s.examined || c.reads != len(s.reads) {
			t.Errorf("%s: reported %d rows in %d reads, made %d in %d", x.name, c.rows, c.reads, s.examined, len(s.reads))
		}
		if most := 1.5*b + 2; reads > most {
			t.Errorf("%s rows a partition: a page takes %.2f reads, want at most %v", x.name, reads, most)
		}
		if worst := c.counts[len(c.counts)-1]; worst > 1.5*b+3 {
			t.Errorf("%s rows a partition: the worst page takes %d reads, want at most %v", x.name, worst, 1.5*b+3)
		}
		if ratio > 2 {
			t.Errorf("%s rows a partition: %.2f rows are read per row returned, want at most 2", x.name, ratio)
		}
	}
	t.Log(text.String())
}

// TestReads scans pages of entities, and pages of parts of partitions. It checks how many reads a page makes, and
// how many rows these reads examine.
func TestReads(t *testing.T) {
	t.Parallel()
	s := newStore(8)
	fill(s, 12_000, func() int { return 4000 })
	big := edm.AppendProperty(nil, "padding", edm.Binary(make([]byte, 64<<10)))
	for i := range 100 {
		s.put(table.Row{Key: key.Append(nil, "q", fmt.Sprintf("%03d", i)), Properties: big})
	}
	partition := func(p string) key.Range {
		return key.Range{Start: key.PartitionFrom(p), End: key.PartitionAfter(p)}
	}
	point := func(p, r string) key.Range { return key.Range{Start: key.RowFrom(p, r), End: key.RowAfter(p, r)} }
	const p0, p2 = "p00000000", "p00000002"
	var points []key.Range
	for i := range 30 {
		points = append(points, point(p0, fmt.Sprintf("r%06d", i*3)))
	}
	for _, x := range []struct {
		why                    string
		ranges                 []key.Range
		rows, bytes            int
		fanOut                 int
		reads, waves, examined int // upper limits of the cost
		returned               int
		finished               bool
	}{
		{why: "an entity", ranges: []key.Range{point(p0, "r000007")}, rows: 1000, reads: 1, waves: 1, examined: 1, returned: 1, finished: true},
		{why: "an entity, up to the next key that may exist", ranges: []key.Range{{Start: points[0].Start, End: key.RowFrom(p0, "r000000 ")}}, rows: 1000, reads: 1, waves: 1, examined: 1, returned: 1, finished: true},
		{why: "no entity", ranges: []key.Range{point(p0, "none")}, rows: 1000, reads: 1, waves: 1, examined: 0, finished: true},
		{why: "1.04 MB of a partition", ranges: []key.Range{partition(p0)}, rows: 1000, reads: 1, waves: 1, examined: 1001, returned: 1000},
		{why: "2.1 MB of a partition", ranges: []key.Range{partition(p0)}, rows: 2000, reads: 2, waves: 2, examined: 2001, returned: 2000},
		{why: "all of a partition", ranges: []key.Range{partition(p0)}, reads: 4, waves: 4, examined: 4000, returned: 4000, finished: true},
		{why: "4 MiB of a partition", ranges: []key.Range{partition("q")}, rows: 1000, bytes: 4 << 20, reads: 4, waves: 4, examined: 64, returned: 60},
		{why: "part of a partition", ranges: []key.Range{{Start: key.RowFrom(p0, "r003900"), End: key.PartitionAfter(p0)}}, rows: 1000, reads: 1, waves: 1, examined: 100, returned: 100, finished: true},
		{why: "all of what is asked for, and not more, is there", ranges: []key.Range{{Start: key.RowFrom(p0, "r003900"), End: key.PartitionAfter(p0)}}, rows: 100, reads: 1, waves: 1, examined: 100, returned: 100, finished: true},
		{why: "1.5 MiB of a partition", ranges: []key.Range{partition(p0)}, rows: 4000, bytes: 3 << 19, reads: 2, waves: 2, examined: 1600, returned: 1530},
		{why: "1.1 MiB of a partition, almost all in one read", ranges: []key.Range{partition(p0)}, rows: 4000, bytes: 11 << 20 / 10, reads: 1, waves: 1, examined: 1020, returned: 1020},
		{why: "the first of the table", ranges: []key.Range{{}}, rows: 1, fanOut: 8, reads: 8, waves: 1, examined: 8, returned: 1},
		{why: "30 entities, one after the other", ranges: points, rows: 1000, reads: 30, waves: 30, examined: 30, returned: 30, finished: true},
		{why: "30 entities, 16 at a time", ranges: points, rows: 1000, fanOut: 16, reads: 30, waves: 2, examined: 30, returned: 30, finished: true},
		{why: "30 entities, 2 at a time", ranges: points, rows: 1000, fanOut: 2, reads: 30, waves: 15, examined: 30, returned: 30, finished: true},
		{why: "the first 5 of 30 entities", ranges: points, rows: 5, fanOut: 16, reads: 5, waves: 1, examined: 5, returned: 5},
		{why: "an entity and the partitions behind it", ranges: []key.Range{points[0], {Start: key.PartitionFrom("p00000001")}}, rows: 10, fanOut: 16, reads: 10, waves: 3, examined: 60, returned: 10},
		{why: "two partitions at a time", ranges: []key.Range{partition("q"), partition(p2)}[:1], rows: 10, fanOut: 16, reads: 1, waves: 1, examined: 11, returned: 10},
		{why: "partitions that are empty, 16 at a time", ranges: []key.Range{partition("a"), partition("b"), partition("c"), partition("d"), partition(p0)}, rows: 10, fanOut: 16, reads: 6, waves: 2, examined: 20, returned: 10},
	} {
		s.reads, s.limits, s.examined = nil, nil, 0
		s.readBytes = 1 << 20
		var c buckets.Cost
		page, err := buckets.Scan(t.Context(), s, 8, table.ScanRequest{Ranges: x.ranges, Rows: x.rows, Bytes: x.bytes},
			buckets.Options{FanOut: x.fanOut, Report: func(one buckets.Cost) { c = one }})
		if err != nil || len(page.Rows) != x.returned || (page.Next == nil) != x.finished {
			t.Errorf("%s: %d rows, want %d; Next %q, %v", x.why, len(page.Rows), x.returned, page.Next, err)
		}
		if len(s.reads) > x.reads || c.Waves > x.waves || s.examined > x.examined {
			t.Errorf("%s: %d reads in %d waves of %d rows, want at most %d, %d, %d", x.why, len(s.reads), c.Waves, s.examined, x.reads, x.waves, x.examined)
		}
		for _, l := range s.limits {
			if len(page.Rows) == 1 && bytes.Equal(x.ranges[0].Start, points[0].Start) && l.Rows > 1 {
				t.Errorf("%s: a read of one entity asks for %d rows", x.why, l.Rows)
			}
		}
		if len(x.ranges) == 1 && x.ranges[0].End != nil {
			p, _ := key.Split(x.ranges[0].Start)
			for _, b := range s.reads {
				if b != buckets.Of(p, 8) {
					t.Errorf("%s: bucket %d was read, the partition is in %d", x.why, b, buckets.Of(p, 8))
				}
			}
		}
	}
}

// TestSmallPartitions checks that a wave reads several small partitions whole.
func TestSmallPartitions(t *testing.T) {
	t.Parallel()
	s := newStore(8)
	fill(s, 40, func() int { return 8 })
	var ranges []key.Range
	for i := range 5 {
		p := fmt.Sprintf("p%08d", i)
		ranges = append(ranges, key.Range{Start: key.PartitionFrom(p), End: key.PartitionAfter(p)})
	}
	for _, x := range []struct{ fanOut, rows, waves int }{{0, 45, 5}, {2, 45, 3}, {5, 45, 1}, {8, 80, 1}} {
		var c buckets.Cost
		page, err := buckets.Scan(t.Context(), s, 8, table.ScanRequest{Ranges: ranges, Rows: x.rows}, buckets.Options{FanOut: x.fanOut, Report: func(one buckets.Cost) { c = one }})
		if err != nil || len(page.Rows) != 40 || page.Next != nil || c.Reads != 5 || c.Waves > x.waves {
			t.Errorf("%d at a time: %d rows, Next %q, %+v, %v; want 40 rows by 5 reads in at most %d waves", x.fanOut, len(page.Rows), page.Next, c, err, x.waves)
		}
	}
}

// TestOneBucket checks that a table with one bucket costs one read a page, as a partition does.
func TestOneBucket(t *testing.T) {
	t.Parallel()
	s := newStore(1)
	fill(s, 3000, func() int { return 37 })
	var c cost
	if got := pages(t, s, 1, table.ScanRequest{Ranges: []key.Range{{}}, Rows: 500}, buckets.Options{FanOut: 8, Report: c.add}, nil); len(got) != 6 || c.reads != 6 || c.rows > 3000+6 {
		t.Errorf("%d pages took %d reads of %d rows, want one read a page", len(got), c.reads, c.rows)
	}
}

// TestExpiredAmongEntities checks that a page of many single entities looks at the clock after each wave.
func TestExpiredAmongEntities(t *testing.T) {
	t.Parallel()
	s := grid(8)
	var points []key.Range
	for _, row := range s.all[:100] {
		p, r := key.Decode(row.Key)
		points = append(points, key.Range{Start: key.RowFrom(p, r), End: key.RowAfter(p, r)})
	}
	for _, fanOut := range []int{0, 1, 2, 16} {
		s.reads = nil
		page, err := buckets.Scan(t.Context(), s, 8, table.ScanRequest{Ranges: points, Expired: func() bool { return true }}, buckets.Options{FanOut: fanOut})
		if most := max(fanOut, 1); err != nil || len(page.Rows) == 0 || page.Next == nil || len(s.reads) > most {
			t.Errorf("%d at a time: after the end of its time a page has %d rows of %d reads, want at most %d; Next %q, %v", fanOut, len(page.Rows), len(s.reads), most, page.Next, err)
		}
	}
}

// TestBudgets checks that the byte budget limits how much a page reads. Even with the smallest budget, a page must
// have rows. It also checks that Scan checks the deadline at least once per 64 KiB.
func TestBudgets(t *testing.T) {
	t.Parallel()
	s := newStore(8)
	fill(s, 8000, func() int { return 20 })
	large := newStore(8)
	fill(large, 1000, func() int { return 20 })
	for _, b := range large.buckets {
		for i := range b {
			b[i].Properties = edm.AppendProperty(nil, "padding", edm.Binary(make([]byte, 1900)))
		}
	}
	large.readBytes = 16 << 10
	for _, budget := range []int{100_000, 1 << 20} {
		var c buckets.Cost
		page, err := buckets.Scan(t.Context(), large, 8, table.ScanRequest{Ranges: []key.Range{{}}, ScanBytes: budget}, buckets.Options{Report: func(x buckets.Cost) { c = x }})
		if err != nil || c.Bytes > budget+budget/8 || page.Scanned < budget/8 || c.Reads > 8+budget/16384 {
			t.Errorf("of a budget of %d bytes, a page of %d bytes in rows of 1.9 KB was examined by %+v; %v", budget, page.Scanned, c, err)
		}
	}
	for _, budget := range []int{1, 100_000, 1 << 20, 4 << 20} {
		s.bytesRead = 0
		page, err := buckets.Scan(t.Context(), s, 8, table.ScanRequest{Ranges: []key.Range{{}}, ScanBytes: budget}, buckets.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if least := 8 * 1100; s.bytesRead > max(budget+budget/8, least) {
			t.Errorf("of a budget of %d bytes, %d were read", budget, s.bytesRead)
		}
		if page.Next == nil || len(page.Rows) == 0 || page.Scanned > s.bytesRead {
			t.Errorf("of a budget of %d bytes, %d were examined: %d rows, Next %q", budget, page.Scanned, len(page.Rows), page.Next)
		}
	}
	asked := 0
	page, err := buckets.Scan(t.Context(), s, 8, table.ScanRequest{Ranges: []key.Range{{}}, Rows: 4000, Expired: func() bool { asked++; return false }}, buckets.Options{})
	if err != nil || asked < page.Scanned>>16 || len(page.Rows) != 4000 {
		t.Errorf("in %d KiB the clock was looked at %d times, %d rows, %v", page.Scanned>>10, asked, len(page.Rows), err)
	}
	asked = 0
	empty := newStore(8)
	page, err = buckets.Scan(t.Context(), empty, 8, table.ScanRequest{Ranges: []key.Range{{}}, Expired: func() bool { asked++; return true }}, buckets.Options{})
	if err != nil || page.Next != nil || asked > 0 {
		t.Errorf("an empty table: Next %q, %v; the clock was looked at %d times before a row was examined", page.Next, err, asked)
	}
}

// TestReadsInVain checks that the byte budget of a page also limits the number of reads of empty ranges.
func TestReadsInVain(t *testing.T) {
	t.Parallel()
	const count = 64
	s := newStore(count)
	var ranges []key.Range
	for i := range 100 {
		ranges = append(ranges, key.Range{Start: key.PartitionFrom(fmt.Sprintf("%03d", i)), End: key.PartitionFrom(fmt.Sprintf("%03d~", i))})
	}
	for _, x := range []struct {
		why    string
		budget int
		reads  int // upper limit of the number of reads
		pages  int
	}{
		{"a read counts 4 KiB", 1 << 20, 256, 25},
		{"the least there is to a page is a range", 1, count, 100},
		{"no budget", 0, 100 * count, 1},
	} {
		var c cost
		var worst int
		tooEarly := func() bool { t.Errorf("%s: the clock is looked at before the first row", x.why); return false }
		got := pages(t, s, count, table.ScanRequest{Ranges: ranges, Rows: 10, ScanBytes: x.budget, Expired: tooEarly},
			buckets.Options{FanOut: 8, Report: func(one buckets.Cost) { c.add(one); worst = max(worst, one.Reads) }}, nil)
		if worst > x.reads || len(got) != x.pages {
			t.Errorf("%s: %d pages of %d reads at most, want %d of %d", x.why, len(got), worst, x.pages, x.reads)
		}
		if c.reads != 100*count {
			t.Errorf("%s: %d reads in all, want each bucket read once a range", x.why, c.reads)
		}
	}
}

// TestFilterIsLearned checks that Scan makes fewer and larger reads if few rows match the filter.
func TestFilterIsLearned(t *testing.T) {
	t.Parallel()
	s := newStore(8)
	fill(s, 20_000, func() int { return 50 })
	for _, prefilter := range []bool{false, true} {
		f := filter(t, "PartitionKey ge 'p' and RowKey eq 'r000010' or RowKey eq 'none'")
		if s.prefilter = nil; prefilter {
			s.prefilter = f
		}
		var c, wide cost
		r := table.ScanRequest{Ranges: []key.Range{{}}, Filter: f, Rows: 200}
		got := pages(t, s, 8, r, buckets.Options{Report: c.add}, nil)
		if n := len(keysOf(got...)); n != 400 {
			t.Errorf("%d rows match, want 400", n)
		}
		pages(t, s, 8, r, buckets.Options{FanOut: 8, Report: wide.add}, nil)
		if wide.waves*3 > c.waves*2 || wide.reads > c.reads+2*8 || wide.rows > c.rows*11/10 {
			t.Errorf("sorted out by the Source: %v: 8 at a time there are %d reads of %d rows in %d waves, instead of %d of %d in %d", prefilter, wide.reads, wide.rows, wide.waves, c.reads, c.rows, c.waves)
		}
		// The table has 21 MB, so it takes 21 reads of 1 MiB. In addition, each of the two pages begins with one
		// read from each of 8 buckets.
		if c.reads > 20+4*8 || c.rows > 2*20_000 {
			t.Errorf("sorted out by the Source: %v: %d pages took %d reads of %d rows", prefilter, len(got), c.reads, c.rows)
		}
	}
	s.prefilter = nil
	for _, x := range []struct {
		filter                    string
		fanOut                    int
		pages, reads, waves, rows int // upper limits
	}{
		{"RowKey lt 'r000005'", 2, 10, 200, 96, 33_000},
		{"RowKey lt 'r000005'", 8, 10, 215, 82, 34_000},
		{"RowKey eq 'r000010'", 2, 2, 48, 24, 24_500},
		{"PartitionKey lt 'p00000004' and RowKey eq 'r000001'", 2, 1, 33, 14, 20_000},
		{"PartitionKey lt 'p00000004' and RowKey eq 'r000001'", 8, 1, 37, 5, 20_000},
	} {
		var c cost
		pages(t, s, 8, table.ScanRequest{Ranges: []key.Range{{}}, Filter: filter(t, x.filter), Rows: 200}, buckets.Options{FanOut: x.fanOut, Report: c.add}, nil)
		if c.pages > x.pages || c.reads > x.reads || c.waves > x.waves || c.rows > x.rows {
			t.Errorf("%+v: %d pages took %d reads of %d rows in %d waves", x, c.pages, c.reads, c.rows, c.waves)
		}
	}
}

// TestMemory checks that Scan keeps the result of at most one read per bucket in memory, whatever the request is.
func TestMemory(t *testing.T) {
	t.Parallel()
	s := newStore(8)
	fill(s, 20_000, func() int { return 50 })
	var mu sync.Mutex
	most := 0
	s.most = func() int { return 1 << 20 }
	s.readBytes = 1 << 30 // so high that only the Limit bounds each read
	_, err := buckets.Scan(t.Context(), &limited{s, func(l buckets.Limit) {
		mu.Lock()
		defer mu.Unlock()
		most = max(most, l.Bytes)
	}}, 8, table.ScanRequest{Ranges: []key.Range{{}}}, buckets.Options{ReadBytes: 100_000})
	if err != nil || most > 100_000 {
		t.Errorf("a read may take %d bytes, want at most ReadBytes = 100000; %v", most, err)
	}
}
