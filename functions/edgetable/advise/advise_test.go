package advise

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"edgetable/core/table"
	"edgetable/core/traffic"
)

// busy returns the statistics of a table with this number of writes in its busiest minute.
func busy(writes uint32) *traffic.Report {
	r := &traffic.Report{Since: time.Unix(0, 0), Until: time.Unix(3600, 0)}
	r.Totals.Writes, r.Totals.WriteUnits, r.Totals.WriteRequests = uint64(writes), 2*uint64(writes), uint64(writes)
	r.Map.Minutes = []traffic.MapColumn{{Counts: [][]uint32{{0, 7, writes / 2, 0, 0}, {9, 7, writes / 2, 0, 0}}}}
	return r
}

// TestMoreBuckets checks that more buckets (hash keys of a table) are advised if the writes of the
// table's busiest minute are near the limit of its buckets.
func TestMoreBuckets(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		perSecond uint32
		buckets   int
		want      string
	}{
		{2000, 8, ""}, // 4,000 write units per second
		{4000, 8, "16 buckets"},
		{4000, 16, ""},
		{40_000, 8, "128 buckets"},
	} {
		list := Advise(&Facts{Traffic: busy(60 * tt.perSecond), Buckets: tt.buckets})
		got := ""
		if len(list) > 0 {
			got = list[0].Example
		}
		if got != tt.want || len(list) > 1 || len(list) == 1 && list[0].Rule != "more-buckets" {
			t.Errorf("%d a second in %d buckets: %+v", tt.perSecond, tt.buckets, list)
		}
	}
}

// TestTablesThatSplit checks the advice for Workers, where Durable Objects split automatically. The advice must not
// recommend a certain number of hash keys (buckets). If one partition is hot, the advice must say that a partition is
// never split.
func TestTablesThatSplit(t *testing.T) {
	t.Parallel()
	r := busy(60 * 40_000)
	if list := Advise(&Facts{Traffic: r, Buckets: 1, Splits: true}); len(list) > 0 {
		t.Errorf("%+v", list)
	}
	r.Partitions = map[string]traffic.Heavy{"writes": {Total: 60 * 40_000, Entries: []traffic.Entry{{Partition: "p", Count: 50 * 40_000}}}}
	list := Advise(&Facts{Traffic: r, Buckets: 1, Splits: true})
	if len(list) != 1 || list[0].Rule != "hot-partition" || !strings.Contains(list[0].Why.Workers, "No split") {
		t.Errorf("%+v", list)
	}
	r.Partitions = nil
	r.Totals.Judged, r.Totals.AtEnd = 60*40_000, 60*40_000
	list = Advise(&Facts{Traffic: r, Buckets: 1, Splits: true})
	if len(list) != 1 || list[0].Rule != "append-only" || !strings.Contains(list[0].Why.Workers, "no split divides") {
		t.Errorf("keys that grow: %+v", list)
	}
}

// TestCosts compares estimates with costs computed by hand. The traffic is 3,600 writes of 2 KiB in
// an hour; prices are in dollars.
func TestCosts(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"azure":    "0.0946", // 3,600 transactions an hour, in a month of 730 hours, at $0.036 per million
		"dynamodb": "3.8894", // per write: two units at $0.625 per million, and a request at $0.23 per million
		"workers":  "3.8106", // per write: a request at $0.45 per million, and a written row at $1.00 per million
	}
	for _, c := range Costs(&Facts{Traffic: busy(3600)}) {
		if got := fmt.Sprintf("%.4f", c.Dollars); got != want[c.Home] {
			t.Errorf("%s: %s, want %s", c.Home, got, want[c.Home])
		}
	}
	// On DynamoDB, a table is spread over several hash keys (buckets). A query page of one partition reads one bucket.
	// A query page of a range reads all buckets.
	read := busy(0)
	read.Totals.Queries = 4000
	read.Shapes = []traffic.Shape{{Plan: "Partition", Pages: 3000}, {Plan: "Range", Pages: 1000}}
	want = map[string]string{
		"azure":    "0.1051", // 4,000 transactions an hour, in a month of 730 hours, at $0.036 per million
		"dynamodb": "1.6753", // per hour: 11,000 read units at $0.125 per million, and 4,000 requests at $0.23 per million
		"workers":  "1.3140", // 4,000 requests an hour, in a month of 730 hours, at $0.45 per million
	}
	for _, c := range Costs(&Facts{Traffic: read, Buckets: 8}) {
		if got := fmt.Sprintf("%.4f", c.Dollars); got != want[c.Home] {
			t.Errorf("queries, %s: %s, want %s", c.Home, got, want[c.Home])
		}
	}
	want = map[string]string{"azure": "0.45", "dynamodb": "2.50", "workers": "2.00"}
	for _, c := range Costs(&Facts{Stored: &Stored{Bytes: 10e9}}) {
		if got := fmt.Sprintf("%.2f", c.Dollars); got != want[c.Home] {
			t.Errorf("10 GB, %s: %s, want %s", c.Home, got, want[c.Home])
		}
	}
}

// TestJoin checks that Join combines the descriptions of a table's parts into the description of
// the whole table.
func TestJoin(t *testing.T) {
	t.Parallel()
	var whole Stored
	type keys struct{ pk, rk string }
	var list []keys
	for p := range 20 {
		for r := range p * p % 11 {
			list = append(list, keys{fmt.Sprintf("p%02d", p), fmt.Sprint(r)})
		}
	}
	for _, k := range list {
		whole.Add(k.pk, k.rk, nil)
	}
	want := Join([]Stored{whole})
	if want.Rows != int64(len(list)) || want.Partitions != 18 || want.LargestRows != 9 || want.Bytes != int64(len(list)*table.EntitySize("p00", "0", nil)) {
		t.Fatalf("%+v", want)
	}
	for _, cut := range []int{1, 2, 3, 5, 7, 20} {
		var parts []Stored
		for i, k := range list {
			if i%cut == 0 {
				parts = append(parts, Stored{})
			}
			parts[len(parts)-1].Add(k.pk, k.rk, nil)
		}
		got := Join(append(parts, Stored{}))
		if got.Rows != want.Rows || got.Bytes != want.Bytes || got.Partitions != want.Partitions || got.Sizes != want.Sizes || got.LargestRows != want.LargestRows {
			t.Errorf("in parts of %d: %+v, want %+v", cut, got, want)
		}
	}
}
