package engine

import (
	"fmt"
	"testing"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/core/table"
	"edgetable/core/traffic"
)

// report asks an object for its statistics.
func (o *object) report() *traffic.Report {
	o.Helper()
	r := o.demand("traffic", o.handle(message.Traffic(nil, &place), nil), nil)
	bucket, ok := traffic.ReadBucket(r.Rest())
	if !ok {
		o.Fatal("the statistics cannot be read")
	}
	m := traffic.NewMerger()
	m.Add(&bucket)
	return m.Report()
}

// This method replaces the engine by a new one, as after the platform has ended the object.
func (o *object) again() {
	o.engine = New(Options{Now: func() edm.Ticks { return o.now }, Rand: o.rand})
}

func (o *object) scan(filter string) {
	o.Helper()
	f, err := odata.Parse(filter)
	if err != nil {
		o.Fatal(err)
	}
	plan := odata.MakePlan(f)
	o.demand(filter, o.handle(message.AppendScan(nil, &place, &message.Scan{Ranges: plan.Ranges, Filter: plan.Residual}), nil), nil)
}

// TestStatistics checks that a bucket counts each request that it serves once.
func TestStatistics(t *testing.T) {
	t.Parallel()
	o := newObject(t, "")
	first := o.handle(get("r"), nil)
	o.demand("the table", o.handle(get("r"), &first, located(1, false)), table.ErrNoEntity)
	for i := range 10 {
		m := table.Mutation{Key: key.Append(nil, fmt.Sprint("p", i%2), fmt.Sprint(i)), Condition: table.Absent, Properties: edm.AppendProperty(nil, "A", edm.Int32(int32(i)))}
		write := message.Commit(nil, &place, []table.Mutation{m})
		o.demand("insert", o.handle(o.attempt(write), nil), nil)
		o.demand("the same once more", o.handle(write, nil), nil) // a repeated write gets the remembered answer
	}
	o.scan("A eq 3")
	o.scan("PartitionKey eq 'p1' and A eq 3")
	o.scan("PartitionKey eq 'p1' and A eq 5")
	o.scan("PartitionKey eq 'p1' and RowKey ge '5' and RowKey lt '8'")
	o.scan("PartitionKey eq 'p1' and RowKey eq '5'")
	o.scan("PartitionKey ge 'p1' and PartitionKey lt 'p3'")
	r := o.report()
	if got := r.Totals; got.Writes != 10 || got.WriteRequests != 10 || got.Reads != 1 || got.Queries != 6 || got.Scanned != 10+5+5+2+1+5 || got.Returned != 1+1+1+2+1+5 || got.FirstPartitions != 2 {
		t.Errorf("%+v", got)
	}
	if len(r.Ranges) != 1 || r.Ranges[0] != (traffic.Range{Bytes: uint64(o.rows.Size()), Load: 17}) { // the load of 17 requests in one second
		t.Errorf("the ranges are %+v", r.Ranges)
	}
	plans := map[string]uint64{}
	for _, s := range r.Shapes {
		plans[s.Plan+" "+s.Filter] += s.Pages
	}
	for shape, pages := range map[string]uint64{"Table A eq ?": 1, "Partition A eq ?": 2, "Rows ": 1, "Point ": 1, "Range ": 1} {
		if plans[shape] != pages {
			t.Errorf("%q: %d pages, want %d, of %v", shape, plans[shape], pages, plans)
		}
	}
	if h := r.Partitions["writes"]; len(h.Entries) != 2 || h.Entries[0].Count != 5 {
		t.Errorf("%+v", h)
	}
	if h := r.Partitions["scanned"].Entries; len(h) != 1 || h[0].Partition != "p1" || h[0].Count != 13 {
		t.Errorf("%+v", h)
	}
}

// TestStatisticsAreKept checks that an object that ends at any moment loses at most a sixteenth of the
// counts, or the counts of five minutes. It also checks that the object writes few rows for its counts.
func TestStatisticsAreKept(t *testing.T) {
	t.Parallel()
	o := newObject(t, "")
	first := o.handle(get("r"), nil)
	o.demand("the table", o.handle(get("r"), &first, located(1, false)), table.ErrNoEntity)
	written, before := 0, ""
	for n := uint64(2); n < 5000; n++ {
		o.demand("read", o.handle(get("r"), nil), table.ErrNoEntity)
		i, _ := o.rows.At([]byte("mt"))
		if now := string(o.rows.Rows[i].Value); now != before {
			written, before = written+1, now
		}
		if n%97 == 0 {
			engine := o.engine
			o.again()
			if got := o.report().Totals.Reads; got > n || got < n-n/16-1 {
				t.Fatalf("%d of %d are known", got, n)
			}
			o.engine = engine
		}
	}
	if written > 120 {
		t.Errorf("%d rows are written for 5,000 requests", written)
	}
	o.now += 300 * edm.TicksPerSecond
	o.demand("read", o.handle(get("r"), nil), table.ErrNoEntity)
	if o.again(); o.report().Totals.Reads != 5000 {
		t.Errorf("after five minutes %d are known", o.report().Totals.Reads)
	}
}

// TestStatisticsOfDays checks that the statistics of a day are available until the end of the next
// day, and that a deleted table leaves no rows.
func TestStatisticsOfDays(t *testing.T) {
	t.Parallel()
	const day = 24 * 3600 * edm.TicksPerSecond
	o := newObject(t, "")
	first := o.handle(get("r"), nil)
	o.demand("the table", o.handle(get("r"), &first, located(1, false)), table.ErrNoEntity)
	for n, want := range []uint64{2, 4, 4} {
		if n > 0 {
			o.now += day
		}
		for range min(n+1, 2) {
			o.demand("read", o.handle(get("r"), nil), table.ErrNoEntity)
		}
		o.again()
		if got := o.report().Totals.Reads; got != want {
			t.Errorf("day %d: %d reads, want %d", n, got, want)
		}
	}
	o.demand("drop", o.handle(message.Drop(nil, table.Incarnation{1}, false), nil), nil)
	if len(o.rows.Rows) > 1 {
		t.Errorf("%d rows are left", len(o.rows.Rows))
	}
}

// TestStatisticsOfAnotherVersion checks that a row with statistics that this version cannot read is replaced.
func TestStatisticsOfAnotherVersion(t *testing.T) {
	t.Parallel()
	o := newObject(t, "")
	o.rows.Put([]byte("mt"), []byte{255, 1, 2})
	o.rows.Put([]byte("mu"), []byte{255, 1, 2})
	first := o.handle(get("r"), nil)
	o.demand("the table", o.handle(get("r"), &first, located(1, false)), table.ErrNoEntity)
	if r := o.report(); r.Totals.Reads != 1 {
		t.Errorf("%+v", r.Totals)
	}
}
