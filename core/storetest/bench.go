package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/core/table"
)

// Bench measures how many entities a store reads or writes per second. Entities have 1 KiB, and partitions have 1000
// entities. Each benchmark has its own data.
func Bench(b *testing.B, h Harness) {
	for _, m := range []struct {
		name string
		run  func(*bench)
	}{
		{"Get", (*bench).gets},
		{"GetParallel", (*bench).getsParallel},
		{"Insert", func(b *bench) { b.writes(1, fresh) }},
		{"Upsert", func(b *bench) { b.writes(1, again) }},
		{"UpsertParallel", (*bench).upsertsParallel},
		{"Merge", func(b *bench) { b.writes(1, merge) }},
		{"Delete", (*bench).benchDeletes},
		{"Batch100", func(b *bench) { b.writes(table.MaxBatchOperations, fresh) }},
		{"Page1000", func(b *bench) { b.pages(nil) }},
		{"FilterPage", func(b *bench) { b.pages(tenth(b)) }},
	} {
		b.Run(m.name, func(b *testing.B) {
			p := h(b, func() edm.Ticks { return edm.TicksOf(time.Now()) })
			n := &bench{B: b, store: p.Store, has: p.Strengths, ctx: b.Context(), name: tableKey("bench")}
			if _, err := n.store.WriteRecord(n.ctx, table.Record{Key: n.name, Incarnation: incarnation()}); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			m.run(n)
			b.ReportMetric(float64(n.entities.Load())/b.Elapsed().Seconds(), "entities/s")
		})
	}
}

type bench struct {
	*testing.B
	store    table.Store
	has      Strengths
	ctx      context.Context
	name     table.RecordKey
	entities atomic.Int64 // number of entities that the benchmark read or wrote
}

const (
	benchPartition = 1000
	benchRows      = 10 * benchPartition // number of rows in the table before the benchmark starts
)

var kilobyte = edm.AppendProperty(
	edm.AppendProperty(edm.AppendProperty(nil, "Age", edm.Int32(23)), "Name", edm.String("Miss Marple")),
	"Payload", edm.Binary(bytes.Repeat([]byte{'x'}, 960)))

// entity returns a put of the entity with the number n. Its property N is the last digit of n.
func entity(n int) table.Mutation {
	return table.Mutation{
		Key:        at(fmt.Sprintf("partition-%06d", n/benchPartition), fmt.Sprintf("row-%09d", n)),
		Nonce:      uint64(n),
		Properties: edm.AppendProperty(kilobyte[:len(kilobyte):len(kilobyte)], "N", edm.Int32(int32(n%10))),
	}
}

func (b *bench) commit(m []table.Mutation) {
	_, err := b.store.Commit(b.ctx, b.name, m)
	if err != nil {
		if errors.Is(err, table.ErrUnsupported) {
			b.Skip("the store does not offer this write")
		}
		b.Fatal(err)
	}
	b.entities.Add(int64(len(m)))
}

// fill writes the first rows of the table, and then resets b.entities.
func (b *bench) fill(rows int) {
	b.Helper()
	size := 1
	if b.has.AtomicCommit {
		size = table.MaxBatchOperations
	}
	for n := 0; n < rows; n += size {
		m := make([]table.Mutation, size)
		for i := range m {
			m[i] = entity(n + i)
		}
		b.commit(m)
	}
	b.entities.Store(0)
}

// spread maps 0, 1, 2 … to the numbers of all rows in a scattered order. The map reaches every row, because 7919 and
// the number of rows have no common factor.
func spread(n int) int { return n * 7919 % benchRows }

func (b *bench) get(n int) {
	if _, err := b.store.Get(b.ctx, b.name, entity(spread(n)).Key, table.Strong); err != nil {
		b.Error(err)
	}
	b.entities.Add(1)
}

func (b *bench) gets() {
	b.fill(benchRows)
	for n := 0; b.Loop(); n++ {
		b.get(n)
	}
}

func (b *bench) getsParallel() {
	b.fill(benchRows)
	b.parallel(b.get)
}

// parallel runs a benchmark with 16 clients per processor, because most clients wait for the store.
func (b *bench) parallel(do func(n int)) {
	b.SetParallelism(16)
	b.ResetTimer()
	var n atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			do(int(n.Add(1)))
		}
	})
	b.StopTimer()
}

// write is a function that returns the mutation number n of a benchmark.
type write func(n int) table.Mutation

func fresh(n int) table.Mutation { return absent(entity(n)) }

func again(n int) table.Mutation { return entity(spread(n)) }

func merge(n int) table.Mutation {
	m := entity(spread(n))
	m.Kind = table.Merge
	m.Properties = edm.AppendProperty(nil, "Age", edm.Int32(int32(n)))
	return m
}

func (b *bench) writes(size int, w write) {
	if w(0).Condition != table.Absent {
		b.fill(benchRows)
	}
	m := make([]table.Mutation, size)
	for n := 0; b.Loop(); n += size {
		for i := range m {
			m[i] = w(n + i)
		}
		b.commit(m)
	}
}

func (b *bench) upsertsParallel() {
	b.fill(benchRows)
	b.parallel(func(n int) {
		if _, err := b.store.Commit(b.ctx, b.name, []table.Mutation{again(n)}); err != nil && !errors.Is(err, table.ErrBusy) {
			b.Error(err)
		} else if err == nil {
			b.entities.Add(1)
		}
	})
}

// benchDeletes measures a put and a delete together. A benchmark of only deletes would need a large table, and a slow
// store takes too long to fill it.
func (b *bench) benchDeletes() {
	for n := 0; b.Loop(); n++ {
		m := entity(n)
		b.commit([]table.Mutation{m})
		b.commit([]table.Mutation{{Key: m.Key, Kind: table.Delete, Condition: table.Present}})
	}
}

// tenth returns a filter that matches one of ten entities.
func tenth(b *bench) *odata.Filter {
	f, err := odata.Parse("N eq 7 and Name eq 'Miss Marple'")
	if err != nil {
		b.Fatal(err)
	}
	return f
}

// pages reads the table in pages of 1000 rows, and counts the entities that the store examines.
func (b *bench) pages(f *odata.Filter) {
	b.fill(benchRows)
	r := table.ScanRequest{Ranges: []key.Range{{}}, Filter: f, Rows: table.MaxPageRows, ScanBytes: 1 << 20}
	var scanned int64
	for b.Loop() {
		page, err := b.store.Scan(b.ctx, b.name, r)
		if err != nil {
			b.Fatal(err)
		}
		if f == nil {
			b.entities.Add(int64(len(page.Rows)))
		} else {
			b.entities.Add(10 * int64(len(page.Rows)))
		}
		scanned += int64(page.Scanned)
		if r.Ranges = key.From(r.Ranges, page.Next); page.Next == nil || len(r.Ranges) == 0 {
			r.Ranges = []key.Range{{}}
		}
	}
	b.SetBytes(scanned / int64(max(b.N, 1)))
}
