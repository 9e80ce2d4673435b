package traffic

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/key"
)

// play sends random requests to a Counter and to the Tallies of four buckets. Each request goes to the Counter and to
// one bucket.
func play(seed uint64, requests int) ([][]*Tally, *Counter) {
	r := rand.New(rand.NewPCG(seed, 7))
	start := 1000 * day
	c := at(start)
	buckets := make([][]*Tally, 4)
	for i := range buckets {
		buckets[i] = []*Tally{NewTally(start), NewTally(start - day)}
	}
	for i := range requests {
		now := start + edm.Ticks(i)*edm.TicksPerSecond
		c.Tick(now)
		p := fmt.Sprintf("p%02d", min(r.IntN(60), r.IntN(60)))
		v := Visit{Account: "a", Table: "t", PartitionKey: p, RowKey: fmt.Sprintf("%06d", i), InPartition: true, Entities: 1, Bytes: 100, Largest: 100}
		v.From = key.Append(nil, v.PartitionKey, v.RowKey)
		switch i % 5 {
		case 0, 1:
			v.Write, v.Inserts = true, 1
		case 2:
			v = Visit{Account: "a", Table: "t", PartitionKey: p, InPartition: true, Plan: "Partition", Shape: fmt.Sprintf("A%d eq ?", r.IntN(3)), From: key.PartitionFrom(p), To: key.PartitionAfter(p), Scanned: 30, ScannedBytes: 900, Returned: 2}
		}
		bucket := buckets[hash(p)%4]
		t := bucket[i%2]
		t.Tick(now)
		t.Add(&v)
		c.Add(&v)
	}
	return buckets, c
}

// TestMerge compares the merged Tallies of four buckets with a Counter of all requests.
func TestMerge(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		buckets, c := play(seed, 5000)
		merger := NewMerger()
		for n, bucket := range buckets {
			var b []byte
			for _, tally := range bucket {
				part := tally.Append(nil)
				if again, ok := ReadTally(part); !ok || !slices.Equal(again.Append(nil), part) {
					t.Fatal("a Tally changes when it is kept")
				}
				if len(part) > 4<<10 {
					t.Errorf("%d bytes", len(part))
				}
				b = append(appendLength(b, len(part)), part...)
			}
			part := AppendRange(nil, uint16(n), key.Range{Start: key.PartitionAfter("m"), End: key.PartitionFrom("z")}, 1<<40, 7*edm.TicksPerSecond*edm.Ticks(n))
			b = append(appendLength(b, len(part)), part...)
			read, ok := ReadBucket(b)
			if !ok {
				t.Fatalf("bucket %d cannot be read", n)
			}
			merger.Add(&read)
			for cut := 0; cut < len(b); cut += 7 {
				if _, ok := ReadBucket(b[:cut]); ok {
					t.Fatalf("statistics that end after %d bytes are read", cut)
				}
			}
		}
		got := merger.Report()
		saved := c.Save()
		want := saved.Tables[0].Report()
		same := got.Totals
		for _, p := range []*Totals{&same, &want.Totals} { // merged Tallies lack these fields, which depend on the order of all requests
			p.Judged, p.AtEnd, p.AtStart, p.LastInserted, p.Batchable, p.FirstPartitions, p.LargestIn, p.SecondMostIn = 0, 0, 0, "", 0, 0, "", ""
		}
		if same.FirstInserts = want.Totals.FirstInserts; same != want.Totals {
			t.Errorf("got %+v\nwant %+v", same, want.Totals)
		}
		if got.Since.After(want.Since) || got.Until != want.Until || len(got.Shapes) != 3 || !slices.Equal(got.Shapes, want.Shapes) {
			t.Errorf("from %v to %v: %+v", got.Since, got.Until, got.Shapes)
		}
		for n, r := range got.Ranges {
			if r.Bucket != n || r.From != "m" || r.To != "z" || r.Bytes != 1<<40 || r.Load < 0.05 || r.Load > 0.5 || n > 0 && r.Since != edm.Ticks(7*n*edm.TicksPerSecond).Time() || n == 0 && !r.Since.IsZero() { // all ranges together get one request per second
				t.Errorf("range %d of %d: %+v", n, len(got.Ranges), r)
			}
		}
		for _, name := range Metrics {
			exact := map[string]uint64{}
			for _, e := range want.Partitions[name].Entries {
				exact[e.Partition] = e.Count
			}
			h := got.Partitions[name]
			if h.Total != want.Partitions[name].Total {
				t.Errorf("%s: a total of %d, want %d", name, h.Total, want.Partitions[name].Total)
			}
			for i, e := range h.Entries {
				if n := exact[e.Partition]; n > e.Count || n+e.Error < e.Count || i > 0 && e.Count > h.Entries[i-1].Count {
					t.Errorf("%s, place %d: %+v, want %d", name, i, e, n)
				}
			}
		}
		most, sum := 0, uint32(0)
		for _, m := range got.Map.Minutes {
			most, sum = max(most, len(m.Counts)), sum+m.Counts[0][1+writes]
		}
		if most != 1 || len(got.Map.Minutes) < 60 || sum == 0 {
			t.Errorf("%d minutes, %d writes", len(got.Map.Minutes), sum)
		}
		whole := buckets[0][0].Append(nil)
		for cut := 0; cut < len(whole); cut += 7 {
			if _, ok := ReadTally(whole[:cut]); ok {
				t.Fatalf("a Tally that ends after %d bytes is read", cut)
			}
		}
	}
}

// TestLoad checks that the load is averaged over the last five minutes, or since the start of the Tally if that was
// later.
func TestLoad(t *testing.T) {
	t.Parallel()
	tally := NewTally(1000*day + 7*edm.TicksPerSecond)
	v := Visit{PartitionKey: "p", From: key.Append(nil, "p", "r"), InPartition: true, Write: true, Entities: 3}
	for second := range 1200 {
		tally.Tick(1000*day + edm.Ticks(7+second)*edm.TicksPerSecond)
		tally.Add(&v)
		if got := tally.load(); second > 1 && (got < 2.98 || got > 4.51) {
			t.Fatalf("after %d seconds of 3 writes each the load is %f", second, got)
		}
	}
	if got := tally.load(); got < 3 || got > 3.02 {
		t.Errorf("after 20 minutes of 3 writes a second the load is %f", got)
	}
	tally.Tick(tally.now + 2*minute)
	if got := tally.load(); got < 1.2 || got > 2 {
		t.Errorf("two minutes later it is %f", got)
	}
	if tally.Tick(tally.now + 3*minute); tally.load() != 0 {
		t.Errorf("five minutes later it is %f", tally.load())
	}
}

// TestMergeForgets merges the counts of several buckets (parts of a table). One bucket was idle for a long time, and
// its old counts must not be in the report. Otherwise the report would start too early, and rates that are computed
// from the report would be too low.
func TestMergeForgets(t *testing.T) {
	t.Parallel()
	now := 1000 * day
	used := func(since edm.Ticks) *Tally {
		one := NewTally(since)
		v := get("t", "p")
		v.From = key.Append(nil, "p", "r")
		one.Add(v)
		one.Tick(now)
		return one
	}
	m := NewMerger()
	m.Add(&Bucket{Tallies: []*Tally{NewTally(now), used(now - 90*day)}})
	m.Add(&Bucket{Tallies: []*Tally{used(now - day/2), used(now - 2*day - minute)}})
	r := m.Report()
	if r.Totals.Reads != 2 || r.Partitions["reads"].Total != 2 || r.Since != (now-2*day-minute).Time() || r.Until != now.Time() {
		t.Errorf("%d reads since %v until %v", r.Totals.Reads, r.Since, r.Until)
	}
}

// TestTallyIsSmall fills a Tally with as much data as it can store, and checks its size.
func TestTallyIsSmall(t *testing.T) {
	t.Parallel()
	tally := NewTally(1000 * day)
	long := func(i int) string { return fmt.Sprintf("%0500d", i) }
	for i := range 3000 {
		tally.Tick(1000*day + edm.Ticks(i)*minute/3)
		p := long(i % 999)
		k := key.Append(nil, p, long(i))
		tally.Add(&Visit{PartitionKey: p, RowKey: long(i), From: k, InPartition: true, Entities: 1})
		tally.Add(&Visit{PartitionKey: p, RowKey: long(i), From: k, InPartition: true, Entities: 1, Write: true, Inserts: 1, Largest: i})
		tally.Add(&Visit{PartitionKey: p, From: k, InPartition: true, Plan: "Rows", Shape: long(i), Example: long(i), Scanned: i})
	}
	if n := len(tally.Append(nil)); n > 16<<10 {
		t.Errorf("%d bytes", n)
	}
	if _, ok := ReadTally(tally.Append(nil)); !ok {
		t.Error("a full Tally cannot be read")
	}
}

func appendLength(b []byte, n int) []byte {
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}
