package traffic

import (
	"slices"

	"edgetable/core/edm"
)

// Merge describes a table by the Tallies of its buckets: of each the present one and,
// if there is one, that of the day before. A partition is in one bucket only. What a bucket counted
// three days ago, before it rested, is left out: the others have forgotten it.
func Merge(account, table string, buckets [][]*Tally) *Report {
	r := &Report{Account: account, Table: table, Partitions: map[string]Heavy{}}
	all := window{size: ofTable}
	minutes := map[edm.Ticks]*MapColumn{}
	until := edm.Ticks(0)
	for _, t := range slices.Concat(buckets...) {
		until = max(until, t.now)
	}
	r.Until = until.Time()
	for _, tallies := range buckets {
		tallies = slices.DeleteFunc(slices.Clone(tallies), func(t *Tally) bool { return until-t.since > 3*day })
		var heaviest [metrics]Heavy
		for _, t := range tallies {
			if since := t.since.Time(); r.Since.IsZero() || since.Before(r.Since) {
				r.Since = since
			}
			r.Totals.add(&t.totals)
			for m := range heaviest {
				heaviest[m] = t.heavy[m].save().merge(heaviest[m], ofBucket.partitions)
			}
			for i := range t.shapes {
				s := &t.shapes[i]
				all.shape(&Visit{Plan: s.Plan, Shape: s.Filter, Example: s.Example}).add(s)
			}
			for _, m := range t.minutes {
				if minutes[m.at] == nil {
					minutes[m.at] = &MapColumn{At: m.at.Time(), Counts: [][]uint32{make([]uint32, 1+metrics)}}
				}
				for i, n := range m.counts {
					increase(&minutes[m.at].Counts[0][1+i], int(n))
				}
			}
		}
		for m, name := range Metrics {
			h := r.Partitions[name]
			r.Partitions[name] = Heavy{Total: h.Total + heaviest[m].Total, Entries: append(h.Entries, heaviest[m].Entries...)}
		}
	}
	for _, h := range r.Partitions {
		h.sort()
	}
	r.Shapes = expensiveFirst(all.shapes)
	r.Map = Map{Metrics: Metrics, Starts: []Start{{}}, Minutes: []MapColumn{}, Quarters: []MapColumn{}}
	for _, column := range minutes {
		r.Map.Minutes = append(r.Map.Minutes, *column)
	}
	slices.SortFunc(r.Map.Minutes, func(a, b MapColumn) int { return a.At.Compare(b.At) })
	return r
}
