package transfer

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"edgetable/adapters/client/remote"
	"edgetable/core/edm"
	"edgetable/core/payload"
	"edgetable/core/table"
	"edgetable/functions/edgetable/transfer/rows"
	"edgetable/functions/edgetable/transfer/scan"
)

// Count returns the number of entities that match a query. If the service cannot count entities, Count reads the keys
// of all matching entities.
func Count(ctx context.Context, c *remote.Client, q remote.Query, workers int, progress *scan.Progress) (int64, error) {
	var total atomic.Int64
	if ok, err := c.Count(ctx, q, func(n int64) {
		total.Add(n)
		progress.Rows.Add(n)
	}); ok || err != nil {
		return total.Load(), err
	}
	q.Select = []string{rows.PartitionKey, rows.RowKey}
	_, err := scan.All(ctx, c, q, workers, progress, func(ctx context.Context, p *scan.Task) error {
		n := int64(0)
		for _, err := range p.Entities(ctx, c, q) {
			if err != nil {
				return err
			}
			n++
			progress.Rows.Add(1)
		}
		total.Add(n)
		return nil
	})
	return total.Load(), err
}

// Partition is the size of one partition.
type Partition struct {
	Key   string
	Rows  int64
	Bytes int64
}

// Stat holds statistics of a table.
type Stat struct {
	Rows, Bytes, Partitions int64
	Largest                 []Partition // largest partitions, in descending order of their number of rows
	Properties              []Property  // properties, sorted by name
}

// Property contains the number of entities that have a property, for each type of its value.
type Property struct {
	Name  string
	Types map[edm.Type]int64
}

// largest is the maximum length of Stat.Largest.
const largest = 10

// Measure reads a table and returns its statistics. Their field Bytes is the sum of the entity sizes by the service's
// formula.
func Measure(ctx context.Context, c *remote.Client, q remote.Query, workers int, progress *scan.Progress) (*Stat, error) {
	measures, err := scan.ReadRanges(ctx, c, q, workers, progress, func(list iter.Seq2[payload.Received, error]) (*measure, error) {
		m := &measure{}
		return m, m.read(list, progress)
	})
	if err != nil {
		return nil, err
	}
	return sum(measures), nil
}

func sum(measures []*measure) *Stat {
	s, types := &Stat{}, map[string]map[edm.Type]int64{}
	var all []Partition
	var open Partition // last partition so far; the next range may contain more of its rows
	some := false
	for _, p := range measures {
		for name, counts := range p.types {
			if types[name] == nil {
				types[name] = counts
				continue
			}
			for t, n := range counts {
				types[name][t] += n
			}
		}
		s.Partitions += p.closed
		all = append(all, p.largest...)
		for _, edge := range p.edges {
			s.Rows += edge.Rows
			s.Bytes += edge.Bytes
			if some && edge.Key == open.Key {
				open.Rows += edge.Rows
				open.Bytes += edge.Bytes
				continue
			}
			if some {
				s.Partitions++
				all = append(all, open)
			}
			open, some = edge, true
		}
		s.Rows += p.rows
		s.Bytes += p.bytes
	}
	if some {
		s.Partitions++
		all = append(all, open)
	}
	s.Largest = keepLargest(all)
	for _, name := range slices.Sorted(maps.Keys(types)) {
		s.Properties = append(s.Properties, Property{name, types[name]})
	}
	return s
}

// measure is the statistics of one range of a table. The first and the last partition are in edges, because the
// neighboring ranges may contain more of their rows.
type measure struct {
	edges       []Partition
	closed      int64 // number of partitions between the first and the last one
	rows, bytes int64 // totals of the closed partitions
	largest     []Partition
	types       map[string]map[edm.Type]int64
}

func (p *measure) read(list iter.Seq2[payload.Received, error], progress *scan.Progress) error {
	p.types = map[string]map[edm.Type]int64{}
	for e, err := range list {
		if err != nil {
			return err
		}
		progress.Rows.Add(1)
		n := len(p.edges)
		if n == 0 || p.edges[n-1].Key != e.PartitionKey {
			if n == 2 {
				p.close(p.edges[1])
				p.edges = p.edges[:1]
			}
			p.edges = append(p.edges, Partition{Key: strings.Clone(e.PartitionKey)})
			n = len(p.edges)
		}
		p.edges[n-1].Rows++
		p.edges[n-1].Bytes += int64(table.EntitySize(e.PartitionKey, e.RowKey, e.Properties))
		for name, v := range e.Properties.All() {
			counts := p.types[name]
			if counts == nil {
				counts = map[edm.Type]int64{}
				p.types[strings.Clone(name)] = counts
			}
			counts[v.Type()]++
		}
	}
	return nil
}

// close adds a partition to the totals of the range. All rows of the partition must have been read.
func (p *measure) close(one Partition) {
	p.closed++
	p.rows += one.Rows
	p.bytes += one.Bytes
	if p.largest = append(p.largest, one); len(p.largest) > 10*largest {
		p.largest = keepLargest(p.largest)
	}
}

func keepLargest(list []Partition) []Partition {
	slices.SortFunc(list, func(a, b Partition) int {
		return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(b.Bytes, a.Bytes), strings.Compare(a.Key, b.Key))
	})
	return list[:min(len(list), largest)]
}
