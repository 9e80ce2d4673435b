package traffic

import (
	"cmp"
	"slices"

	"edgetable/core/edm"
)

// Bucket is what an object of a table counted, and its keys and size.
type Bucket struct {
	Tallies []*Tally // of this day, and of the day before if there is one
	Range   Range
}

// ReadBucket reads what an object tells: the Tally of this day, that of the day before,
// which may be empty, and what [AppendRange] wrote, each after its length. Tallies of a
// later version are left out.
func ReadBucket(b []byte) (bucket Bucket, ok bool) {
	r := reader{rest: b}
	for range 2 {
		if t, ok := ReadTally(r.bytes()); ok {
			bucket.Tallies = append(bucket.Tallies, t)
		}
	}
	if bucket.Range, ok = readRange(r.bytes()); len(bucket.Tallies) > 0 {
		bucket.Range.Load = bucket.Tallies[0].load()
	}
	return bucket, ok && !r.bad && len(r.rest) == 0
}

// Merger makes the report of a table from its buckets.
type Merger struct {
	since, until edm.Ticks
	totals       Totals
	heavy        [metrics]Heavy
	shapes       window
	minutes      []minuteCount // ascending
	ranges       []Range
}

// NewMerger makes a Merger without a bucket.
func NewMerger() *Merger {
	m := new(Merger)
	m.shapes.size = ofTable
	return m
}

// Add adds a bucket. A partition is in one bucket only. What a bucket counted three days
// ago, before it rested, is left out: the others have forgotten it.
func (m *Merger) Add(b *Bucket) {
	m.ranges = append(m.ranges, b.Range)
	until := edm.Ticks(0)
	for _, t := range b.Tallies {
		until = max(until, t.now)
	}
	m.until = max(m.until, until)
	var own [metrics]Heavy
	for _, t := range b.Tallies {
		if until-t.since > 3*day {
			continue
		}
		if m.since == 0 || t.since < m.since {
			m.since = t.since
		}
		m.totals.add(&t.totals)
		for i := range own {
			own[i] = t.heavy[i].save().merge(own[i], ofBucket.partitions)
		}
		for i := range t.shapes {
			s := &t.shapes[i]
			m.shapes.shape(&Visit{Plan: s.Plan, Shape: s.Filter, Example: s.Example}).add(s)
		}
		for i := range t.minutes {
			m.minute(&t.minutes[i])
		}
	}
	for i := range own {
		h := &m.heavy[i]
		h.Total += own[i].Total
		for _, e := range own[i].Entries {
			h.insert(e)
		}
		h.Entries = h.Entries[:min(len(h.Entries), heaviest)]
	}
}

// minute adds the counts of a minute.
func (m *Merger) minute(c *minuteCount) {
	i, found := slices.BinarySearchFunc(m.minutes, c.at, func(own minuteCount, at edm.Ticks) int { return cmp.Compare(own.at, at) })
	if !found {
		m.minutes = slices.Insert(m.minutes, i, *c)
		return
	}
	for k, n := range c.counts {
		increase(&m.minutes[i].counts[k], int(n))
	}
}

// Report returns the report. No bucket may follow.
func (m *Merger) Report() *Report {
	r := &Report{
		Since: m.since.Time(), Until: m.until.Time(), Totals: m.totals, Partitions: map[string]Heavy{},
		Shapes: expensiveFirst(m.shapes.shapes), Ranges: m.ranges,
		Map: Map{Metrics: Metrics, Starts: []Start{{}}, Minutes: []MapColumn{}, Quarters: []MapColumn{}},
	}
	for i, name := range Metrics {
		r.Partitions[name] = m.heavy[i]
	}
	for i := range m.minutes {
		c := &m.minutes[i]
		r.Map.Minutes = append(r.Map.Minutes, MapColumn{At: c.at.Time(), Counts: [][]uint32{append([]uint32{0}, c.counts[:]...)}})
	}
	return r
}
