package pebblestore_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

// openOnSmallDisk opens a store on a disk of size bytes. The reserve file uses a sixteenth of the disk.
func openOnSmallDisk(t *testing.T, size int64) (*quota, *pebblestore.Store, *lines) {
	t.Helper()
	disk, logged := newQuota(), new(lines)
	must.OK(t, disk.MkdirAll("data", 0o700))
	disk.setLimit(size)
	s, err := pebblestore.Open(pebblestore.Options{
		Dir: "data", FS: disk, DiskReserve: 256 << 20, Logf: logged.printf,
		Fatal: func(err error) { t.Errorf("fatal: %v", err) },
	})
	must.OK(t, err)
	return disk, s, logged
}

// TestFullByItself fills a small disk again and again, so fast that the regular measurement of the free space comes too
// late. Each time that writes are refused, scans and deletes must work, because the reserve file has space for the
// accepted writes.
func TestFullByItself(t *testing.T) {
	t.Parallel()
	disk, s, _ := openOnSmallDisk(t, 64<<20)
	must.OK(t, create(t.Context(), s))
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	var next atomic.Int64
	deleted := 0
	for round := range rounds {
		var writers sync.WaitGroup
		for w := range 3 {
			writers.Go(func() {
				random := rand.New(rand.NewPCG(uint64(round), uint64(w)))
				for range 100_000 {
					if _, err := s.Commit(t.Context(), people, []table.Mutation{row4K(int(next.Add(1)), random)}); err != nil {
						if !errors.Is(err, table.ErrFull) {
							t.Error(err)
						}
						return
					}
				}
				t.Error("the disk is not full")
			})
		}
		writers.Wait()
		for range 100 {
			s.Measure()
			page, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: []key.Range{{}}, Rows: 10})
			if err != nil || len(page.Rows) == 0 {
				t.Fatalf("round %d, a scan: %d rows, %v, %d bytes free", round, len(page.Rows), err, s.Metrics().DiskFree)
			}
			deleted++
			m := row4K(deleted, nil)
			m.Kind = table.Delete
			if _, err := s.Commit(t.Context(), people, []table.Mutation{m}); err != nil && !errors.Is(err, table.ErrNoEntity) {
				t.Fatalf("round %d, delete %d: %v, %d bytes free", round, deleted, err, s.Metrics().DiskFree)
			}
		}
	}
	disk.makeSpace()
	waitForSpace(s)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestLargeCommitsOnASmallDisk fills a disk with commits that are larger than the reserve file, so fast that the
// regular measurement of the free space comes too late. Commits must be refused before a file operation waits for
// space, and reads and deletes must work.
func TestLargeCommitsOnASmallDisk(t *testing.T) {
	t.Parallel()
	disk, s, logged := openOnSmallDisk(t, 96<<20)
	must.OK(t, create(t.Context(), s))
	var writers sync.WaitGroup
	for w := range 8 {
		writers.Go(func() {
			random := rand.NewChaCha8([32]byte{byte(w)})
			for n := range 1000 {
				var m []table.Mutation
				for i := range 1 + w%4 { // 1 to 4 MiB
					m = append(m, filled(key.Append(nil, fmt.Sprint(w), fmt.Sprintf("%d-%d", n, i)), 1<<20, random))
				}
				if _, err := s.Commit(t.Context(), people, m); err != nil {
					if !errors.Is(err, table.ErrFull) {
						t.Error(err)
					}
					return
				}
			}
			t.Error("the disk is not full")
		})
	}
	writers.Wait()
	select {
	case <-disk.hit:
		t.Errorf("an operation found no space:\n%s", logged.all)
	default:
	}
	s.Measure()
	for w := range 8 {
		k := key.Append(nil, fmt.Sprint(w), "0-0")
		if _, err := s.Get(t.Context(), people, k, table.Strong); err != nil {
			t.Errorf("the first entity of writer %d: %v", w, err)
		}
		if _, err := s.Commit(t.Context(), people, []table.Mutation{{Key: k, Kind: table.Delete}}); err != nil {
			t.Errorf("its deletion: %v", err)
		}
	}
	if m := s.Metrics(); m.RefusedForSpace == 0 {
		t.Errorf("%+v", m)
	}
	must.OK(t, s.Close())
}

// filled returns a put of an entity with size random bytes, which cannot be compressed.
func filled(k []byte, size int, random *rand.ChaCha8) table.Mutation {
	b := make([]byte, size)
	_, _ = random.Read(b)
	return table.Mutation{Key: k, Properties: edm.AppendProperty(nil, "B", edm.Binary(b))}
}

// row4K returns a put of an entity of 4 KiB that cannot be compressed. The order of the keys differs from the order of
// i, so that compactions have much work.
func row4K(i int, random *rand.Rand) table.Mutation {
	m := table.Mutation{Key: key.Append(nil, fmt.Sprintf("p%02d", i*7919%50), fmt.Sprintf("%09d", i*7919%1_000_003)), Kind: table.Put}
	if random != nil {
		b := make([]byte, 4<<10)
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		m.Properties = edm.AppendProperty(nil, "B", edm.Binary(b))
	}
	return m
}
