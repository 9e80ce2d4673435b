package traffic

import (
	"cmp"
	"slices"

	"edgetable/core/edm"
)

// Bucket holds the counts of one Durable Object of a table, with its key range and size.
type Bucket struct {
	Tallies []*Tally // today's Tally and, if there is one, yesterday's
	Range   Range
}

// ReadBucket decodes the report of a Durable Object: today's Tally, yesterday's Tally, and the output of [AppendRange].
// It ignores a Tally in the encoding of a newer version.
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

// Merger builds the report of a table from the counts of its buckets.
type Merger struct {
	since, until edm.Ticks
	totals       Totals
	heavy        [metrics]Heavy
	shapes       window
	minutes      []minuteCount // counts by minute, in ascending order of time
	ranges       []Range
}

// NewMerger returns a Merger that has no counts.
func NewMerger() *Merger {
	m := new(Merger)
	m.shapes.size = ofTable
	return m
}

// Add adds the counts of a bucket, which has no partition in common with other buckets. It ignores a Tally that began
// three days before the bucket's last count, as in an idle bucket.
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

// Report returns the report. Add must not be called afterwards.
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
