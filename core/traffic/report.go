package traffic

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"edgetable/core/edm"
	"edgetable/core/key"
)

// Overview is a summary of one table.
type Overview struct {
	Account string    `json:"account"`
	Table   string    `json:"table"`
	Since   time.Time `json:"since"`
	Totals  Totals    `json:"totals"`
}

// Report describes the traffic of a table.
type Report struct {
	Account string    `json:"account"`
	Table   string    `json:"table"`
	Since   time.Time `json:"since"` // start of the counts in Totals, Partitions and Shapes
	Until   time.Time `json:"until"`
	Totals  Totals    `json:"totals"`
	// Partitions maps a metric's name to its heaviest partitions.
	Partitions map[string]Heavy `json:"heaviest"`
	Shapes     []Shape          `json:"shapes"` // groups of queries in descending order of cost
	Map        Map              `json:"map"`
	// Hour holds the counts of the last hour, which are exact. Even a table without other counts has these counts. On
	// Cloudflare Workers, Hour is nil.
	Hour *Hour `json:"hour,omitempty"`
	// Ranges lists the ranges of a table's Durable Objects by bucket, and within a bucket in key order. It is set on
	// Cloudflare Workers only.
	Ranges []Range `json:"ranges,omitempty"`
	// Missing is the number of Durable Objects that did not respond. The report lacks their counts.
	Missing int `json:"missing,omitempty"`
}

// Sum returns the total of a metric over all partitions. It includes requests that concern more than one partition.
func (r *Report) Sum(metric string) uint64 {
	t, sum := &r.Totals, uint64(0)
	switch metric {
	case "reads":
		sum = t.Reads + t.Queries
	case "writes":
		sum = t.Writes
	case "scanned":
		sum = t.Scanned
	case "throttled":
		sum = t.Throttled
	}
	return max(sum, r.Partitions[metric].Total) // Total may be higher than the exact sum, because Total includes extrapolated reads
}

// Map is a matrix of request counts. Each row is a range of keys. Each column is a minute or a quarter of an hour.
type Map struct {
	Metrics [metrics]string `json:"metrics"`
	// Starts are the keys at which the ranges start, in ascending order. The first range starts before all keys.
	Starts   []Start     `json:"starts"`
	Minutes  []MapColumn `json:"minutes"`
	Quarters []MapColumn `json:"quarters"` // each column is a quarter of an hour
}

// Start is a key at which a range of the map starts. If the key is long, RowKey may be truncated.
type Start struct {
	PartitionKey string `json:"PartitionKey"`
	RowKey       string `json:"RowKey"`
}

// MapColumn holds the counts of a period that starts at the time At.
type MapColumn struct {
	At time.Time `json:"at"`
	// Counts has one list for each range with traffic: the index of the range, and then its count for each metric.
	Counts [][]uint32 `json:"counts"`
}

// Overviews returns the overview of each table with detailed counts, for all accounts.
func (s *Saved) Overviews() []Overview {
	list := make([]Overview, 0, len(s.Tables))
	for i := range s.Tables {
		t := &s.Tables[i]
		since, totals := t.totals()
		list = append(list, Overview{t.Account, t.Table, since.Time(), totals})
	}
	return list
}

// Find returns the counts of a table of an account. An empty account means any account.
func (s *Saved) Find(account, table string) (t *SavedTable, ok bool) {
	for i := range s.Tables {
		if t = &s.Tables[i]; strings.EqualFold(t.Table, table) && (account == "" || t.Account == account) {
			return t, true
		}
	}
	return nil, false
}

func (t *SavedTable) totals() (since edm.Ticks, sum Totals) {
	since, sum = t.Windows[0].Since, t.Windows[0].Totals
	if before := &t.Windows[1]; before.Since > 0 {
		since = before.Since
		sum.add(&before.Totals)
	}
	return since, sum
}

// Report returns the report about the table.
func (t *SavedTable) Report() *Report {
	since, totals := t.totals()
	r := &Report{Account: t.Account, Table: t.Table, Since: since.Time(), Until: t.Now.Time(), Totals: totals, Partitions: map[string]Heavy{}}
	for m, name := range Metrics {
		r.Partitions[name] = t.Windows[0].Heavy[m].merge(t.Windows[1].Heavy[m], heaviest)
	}
	all := window{shapes: append([]Shape{}, t.Windows[0].Shapes...), size: ofTable}
	for i := range t.Windows[1].Shapes {
		s := &t.Windows[1].Shapes[i]
		all.shape(&Visit{Plan: s.Plan, Shape: s.Filter, Example: s.Example}).add(s)
	}
	r.Shapes = expensiveFirst(all.shapes)
	r.Map = Map{Metrics: Metrics, Starts: []Start{{}}, Minutes: columns(t.Minutes), Quarters: columns(t.Quarters)}
	for _, k := range t.Bounds {
		pk, rk := key.Decode(k)
		r.Map.Starts = append(r.Map.Starts, Start{strings.ToValidUTF8(pk, ""), strings.ToValidUTF8(rk, "")})
	}
	return r
}

func expensiveFirst(list []Shape) []Shape {
	sorted := append(make([]Shape, 0, len(list)), list...)
	slices.SortStableFunc(sorted, func(a, b Shape) int { return cmp.Compare(b.Scanned, a.Scanned) })
	return sorted
}

// columns decodes the packed columns. If several columns have the same time, it adds their counts into one column.
func columns(packed []Column) []MapColumn {
	list := make([]MapColumn, 0, len(packed))
	for i := 0; i < len(packed); i++ {
		c, _ := unpack(packed[i].Cells)
		for i+1 < len(packed) && packed[i+1].At == packed[i].At {
			i++
			more, _ := unpack(packed[i].Cells)
			c.add(&more)
		}
		column := MapColumn{At: packed[i].At.Time(), Counts: [][]uint32{}}
		for r := range c {
			if c[r] != [metrics]uint32{} {
				column.Counts = append(column.Counts, append([]uint32{uint32(r)}, c[r][:]...))
			}
		}
		list = append(list, column)
	}
	return list
}
