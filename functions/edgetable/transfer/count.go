package transfer

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/functions/edgetable/remote"
)

// splits is the number of ranges into which a table is divided, so that a long
// one does not keep the others waiting.
const splits = 64

// scan reads all ranges of a query at the same time, up to so many connections.
func scan(ctx context.Context, c *remote.Client, q remote.Query, connections int, do func(ctx context.Context, i int, q remote.Query) error, prepare func(ranges int)) error {
	ranges, err := Split(ctx, c, q.Table, q.Filter, splits)
	if err != nil {
		return err
	}
	prepare(len(ranges))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(connections)
	for i, r := range ranges {
		one := q
		one.Filter = And(r.Filter(), q.Filter)
		g.Go(func() error { return do(ctx, i, one) })
	}
	return g.Wait()
}

// Count returns the number of entities that match a query. It adds to progress
// as it goes.
func Count(ctx context.Context, c *remote.Client, q remote.Query, connections int, progress *atomic.Int64) (int64, error) {
	q.Select = []string{partitionKey}
	var total atomic.Int64
	err := scan(ctx, c, q, connections, func(ctx context.Context, _ int, q remote.Query) error {
		n := int64(0)
		for _, err := range c.Entities(ctx, q) {
			if err != nil {
				return err
			}
			n++
			progress.Add(1)
		}
		total.Add(n)
		return nil
	}, func(int) {})
	return total.Load(), err
}

// Partition is the size of a partition.
type Partition struct {
	Key   string
	Rows  int64
	Bytes int64
}

// Stat describes a table.
type Stat struct {
	Rows, Bytes, Partitions int64
	Largest                 []Partition // by rows
	Properties              []Property  // by name
}

// Property says how many entities have a property, by its type.
type Property struct {
	Name  string
	Types map[edm.Type]int64
}

// largest is how many partitions a Stat names.
const largest = 10

// Measure reads a table and describes it. Bytes are by the service's formula for
// the size of an entity.
func Measure(ctx context.Context, c *remote.Client, q remote.Query, connections int, progress *atomic.Int64) (*Stat, error) {
	var parts []part
	err := scan(ctx, c, q, connections, func(ctx context.Context, i int, q remote.Query) error {
		return parts[i].measure(ctx, c, q, progress)
	}, func(n int) { parts = make([]part, n) })
	if err != nil {
		return nil, err
	}
	s, types := &Stat{}, map[string]map[edm.Type]int64{}
	var all []Partition
	var open Partition // may go on in the next range
	some := false
	for _, p := range parts {
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
	return s, nil
}

// part describes a range. Its first and its last partition are separate, because
// they may continue in the ranges beside it.
type part struct {
	edges       []Partition
	closed      int64 // partitions between the edges
	rows, bytes int64 // in them
	largest     []Partition
	types       map[string]map[edm.Type]int64
}

func (p *part) measure(ctx context.Context, c *remote.Client, q remote.Query, progress *atomic.Int64) error {
	p.types = map[string]map[edm.Type]int64{}
	for e, err := range c.Entities(ctx, q) {
		if err != nil {
			return err
		}
		progress.Add(1)
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

// close counts a partition that is complete.
func (p *part) close(one Partition) {
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
