package pebblestore_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/core/storetest"
	"edgetable/core/table"
)

func person(i int) table.Mutation {
	p := edm.AppendProperty(nil, "Name", edm.String(fmt.Sprintf("Person number %d", i)))
	p = edm.AppendProperty(p, "Age", edm.Int32(int32(i%100)))
	p = edm.AppendProperty(p, "Id", edm.Int64(int64(i)))
	filler := make([]byte, 0, 1024)
	for n := uint64(i) + 1; len(filler) < 450; n = n*6364136223846793005 + 1442695040888963407 {
		filler = binary.BigEndian.AppendUint64(filler, n)
	}
	p = edm.AppendProperty(p, "Photo", edm.Binary(filler))
	p = edm.AppendProperty(p, "Comment", edm.String(strings.Repeat("The quick brown fox. ", 1+(960-len(p))/21)))
	return table.Mutation{
		Key:        key.Append(nil, fmt.Sprintf("p%04d", i/1000), fmt.Sprintf("r%09d", i)),
		Condition:  table.Absent,
		Properties: p,
	}
}

func BenchmarkStore(b *testing.B) {
	b.Run("Directory", func(b *testing.B) { storetest.Bench(b, harness(false)) })
	b.Run("Memory", func(b *testing.B) { storetest.Bench(b, harness(true)) })
}

func spread(b *testing.B, n int, do func(i int) error) {
	b.ResetTimer()
	var wait sync.WaitGroup
	for g := range n {
		wait.Go(func() {
			for i := g; i < b.N; i += n {
				if err := do(i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "op/s")
}

// BenchmarkInsert measures inserts, and for comparison synced writes directly to Pebble.
func BenchmarkInsert(b *testing.B) {
	for _, n := range []int{1, 16, 64} {
		for _, raw := range []bool{true, false} {
			b.Run(fmt.Sprintf("goroutines=%d/raw=%t", n, raw), func(b *testing.B) {
				s := open(b, pebblestore.Options{Dir: b.TempDir()})
				if err := create(b.Context(), s); err != nil {
					b.Fatal(err)
				}
				value := person(0).Properties
				if raw {
					spread(b, n, func(i int) error {
						k := key.Append(nil, fmt.Sprintf("p%04d", i/1000), fmt.Sprintf("r%09d", i))
						return s.DB().Set(append([]byte{9}, k...), value, pebble.Sync)
					})
					return
				}
				spread(b, n, func(i int) error {
					m := [1]table.Mutation{{
						Key:        key.Append(nil, fmt.Sprintf("p%04d", i/1000), fmt.Sprintf("r%09d", i)),
						Condition:  table.Absent,
						Properties: value,
					}}
					_, err := s.Commit(b.Context(), people, m[:])
					return err
				})
			})
		}
	}
}

// rows is the number of entities in the table that the benchmarks read. Each entity has 1 KiB.
const rows = 1_000_000

// dataset opens a store with the table that the benchmarks read. If the table does not exist yet,
// dataset builds it in the directory that EDGETABLE_BENCH_DATA names, or else in a temporary
// directory.
func dataset(b *testing.B, cache int64) *pebblestore.Store {
	dir := os.Getenv("EDGETABLE_BENCH_DATA")
	if dir == "" {
		dataDir.Do(func() { built, buildErr = os.MkdirTemp("", "edgetable-bench") })
		if buildErr != nil {
			b.Fatal(buildErr)
		}
		dir = built
	}
	dir = filepath.Join(dir, "data")
	s := open(b, pebblestore.Options{Dir: dir, CacheSize: cache})
	if err := create(b.Context(), s); err != nil {
		b.Fatal(err)
	}
	if _, err := s.Get(b.Context(), people, person(rows-1).Key, table.Strong); err == nil {
		return s
	}
	for i := 0; i < rows; i += 100 {
		var m [100]table.Mutation
		for j := range m {
			m[j] = person(i + j)
			m[j].Condition = table.Always
		}
		if _, err := s.Commit(b.Context(), people, m[:]); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.DB().Compact(b.Context(), []byte{0}, []byte{0xFF}, true); err != nil {
		b.Fatal(err)
	}
	return s
}

var (
	dataDir  sync.Once
	built    string
	buildErr error
)

// BenchmarkFilterScan scans a table of a million entities of 1 KiB with a filter that one entity in
// 100 passes. In one case the block cache is as large as the table, in the other case an eighth of
// this size. One op is a scan of the whole table in pages.
func BenchmarkFilterScan(b *testing.B) {
	for _, c := range []struct {
		name  string
		cache int64
	}{{"cache=all", 1600 << 20}, {"cache=128MiB", 128 << 20}} {
		b.Run(c.name, func(b *testing.B) {
			s := dataset(b, c.cache)
			filter, err := odata.Parse("Age eq 7")
			if err != nil {
				b.Fatal(err)
			}
			scan(b, s, filter) // fills the block cache before the measurement
			for b.Loop() {
				scan(b, s, filter)
			}
			b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// scan reads the whole table in pages, and checks that one entity in 100 passes the filter.
func scan(b *testing.B, s *pebblestore.Store, f *odata.Filter) {
	seen := 0
	r := table.ScanRequest{Ranges: []key.Range{{}}, Filter: f, Rows: 1000}
	for {
		p, err := s.Scan(b.Context(), people, r)
		if err != nil {
			b.Fatal(err)
		}
		seen += len(p.Rows)
		if p.Next == nil {
			break
		}
		r.Ranges[0].Start = p.Next
	}
	if seen != rows/100 {
		b.Fatalf("%d rows passed, want %d", seen, rows/100)
	}
}

// BenchmarkPage reads pages of 100 entities from random positions, to show that the size of the
// table does not matter.
func BenchmarkPage(b *testing.B) {
	s := dataset(b, 1600<<20)
	filter, err := odata.Parse("Age eq 7")
	if err != nil {
		b.Fatal(err)
	}
	scan(b, s, filter) // fills the block cache before the measurement
	random := rand.New(rand.NewPCG(1, 1))
	for b.Loop() {
		start := person(random.IntN(rows - 100)).Key
		r := table.ScanRequest{Ranges: []key.Range{{Start: start}}, Rows: 100}
		p, err := s.Scan(b.Context(), people, r)
		if err != nil || len(p.Rows) != 100 {
			b.Fatal(len(p.Rows), err)
		}
	}
}

// BenchmarkGet reads random entities that are in the block cache. In one case these are 100
// entities, which fit into the processor's caches, in the other case 10,000. The benchmark also
// reads an entity that does not exist.
func BenchmarkGet(b *testing.B) {
	s := dataset(b, 1600<<20)
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("entities=%d", n), func(b *testing.B) {
			keys := make([][]byte, n)
			for i := range keys {
				keys[i] = person(i * 97).Key
				if _, err := s.Get(b.Context(), people, keys[i], table.Strong); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := s.Get(b.Context(), people, keys[i%n], table.Strong); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	absent := key.Append(nil, "p0500", "none")
	b.Run("absent", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.Get(b.Context(), people, absent, table.Strong); err == nil {
				b.Fatal("found")
			}
		}
	})
}
