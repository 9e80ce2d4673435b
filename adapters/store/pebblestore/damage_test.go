package pebblestore_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/key"
	"edgetable/core/table"
)

// TestFlippedBytes flips four bytes of the newest log at hundreds of offsets, one after the other.
// It checks that Open finds all confirmed entities or reports damage. A salvage must save all
// commits except those at the offset.
func TestFlippedBytes(t *testing.T) {
	t.Parallel()
	const entities = 1000
	disk := killedFiles(t, entities, false)
	logs := names(t, disk, ".log")
	path := logs[len(logs)-1]
	whole := content(t, disk, path)
	random := rand.New(rand.NewPCG(4, 4))
	starts, refused := 300, 0
	if testing.Short() {
		starts = 30
	}
	for range starts {
		at := random.IntN(len(whole) - 4)
		damaged := bytes.Clone(whole)
		for i := range 4 {
			damaged[at+i] ^= byte(1 + random.IntN(255))
		}
		place := copyOf(disk)
		rewrite(t, place, path, damaged)
		s, err := reopen(t, place, false)
		if err == nil {
			if n := count(t, s, entities); n != entities {
				t.Fatalf("bytes flipped at %d of %d: %d of %d entities, and no error", at, len(whole), n, entities)
			}
			s.Close()
			continue
		}
		if !errors.Is(err, pebblestore.ErrLost) {
			t.Fatalf("bytes flipped at %d: %v", at, err)
		}
		refused++
		if s, err = reopen(t, place, true); err != nil {
			t.Fatalf("bytes flipped at %d, accepted: %v", at, err)
		}
		if n := count(t, s, entities); n < entities-200 {
			t.Errorf("bytes flipped at %d: only %d of %d entities could be saved", at, n, entities)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if refused < starts*5/6 {
		t.Errorf("%d of %d starts were refused", refused, starts)
	}
}

// TestMissingFiles removes one file at a time. It checks that an error reports each lost entity.
func TestMissingFiles(t *testing.T) {
	t.Parallel()
	const entities = 2000
	disk := killedFiles(t, entities, true)
	refused := 0
	for _, path := range names(t, disk, "") {
		place := copyOf(disk)
		if err := place.Remove(path); err != nil {
			t.Fatal(err)
		}
		s, err := reopen(t, place, false)
		if err != nil {
			refused++
			if strings.HasSuffix(path, ".log") {
				if !errors.Is(err, pebblestore.ErrLost) || !strings.Contains(err.Error(), place.PathBase(path)) {
					t.Errorf("without %s: %v", path, err)
				}
				if s, err = reopen(t, place, true); err != nil {
					t.Errorf("without %s, accepted: %v", path, err)
				} else {
					s.Close()
				}
			}
			continue
		}
		if n := count(t, s, entities); n != entities {
			t.Errorf("without %s: %d of %d entities, and no error", path, n, entities)
		}
		s.Close()
	}
	if refused < 5 {
		t.Errorf("only %d starts were refused", refused)
	}
}

// TestDamagedAnywhere flips bytes in any file. It checks that Open or Get reports each lost entity.
func TestDamagedAnywhere(t *testing.T) {
	t.Parallel()
	const entities = 1500
	disk := killedFiles(t, entities, true)
	random := rand.New(rand.NewPCG(8, 8))
	paths := names(t, disk, "")
	damages := 200
	if testing.Short() {
		damages = 20
	}
	for range damages {
		path := paths[random.IntN(len(paths))]
		b := content(t, disk, path)
		if len(b) < 8 {
			continue
		}
		at := random.IntN(len(b) - 4)
		for i := range 4 {
			b[at+i] ^= byte(1 + random.IntN(255))
		}
		place := copyOf(disk)
		rewrite(t, place, path, b)
		s, err := reopen(t, place, false)
		if err != nil {
			continue // nothing is lost without notice, because Open has reported the damage
		}
		for i := 0; i < entities; i++ {
			m := numbered(i)
			row, err := s.Get(t.Context(), people, m.Key, table.Strong)
			if err != nil && !errors.Is(err, table.ErrNoEntity) {
				i += 20 // skip some reads, because a failed read is slow: Pebble spends milliseconds on a search for a single flipped bit
				continue
			}
			if errors.Is(err, table.ErrNoEntity) || err == nil && !bytes.Equal(row.Properties, m.Properties) {
				t.Fatalf("%s damaged at %d of %d: entity %d is lost without a report of damage: %v", path, at, len(b), i, err)
			}
		}
		s.Close()
	}
}

// TestDamagedBlock checks that a damaged block of a data file fails only the requests that need this
// block, and is reported once. It also checks that the process continues, even when compactions read
// the block.
func TestDamagedBlock(t *testing.T) {
	t.Parallel()
	const entities = 3000
	disk := killedFiles(t, entities, true)
	largest := largestLive(t, disk)
	b := content(t, disk, largest)
	b[len(b)/2] ^= 0x10 // the damaged block is not the first one, which may contain table records
	rewrite(t, disk, largest, b)

	var mu sync.Mutex
	var lines []string
	o := pebblestore.Options{
		Dir: "data", FS: disk,
		Fatal: func(err error) { t.Errorf("fatal: %v", err) },
		Logf: func(f string, a ...any) {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, fmt.Sprintf(f, a...))
		},
	}
	s, err := pebblestore.Open(o.Small())
	if err != nil {
		t.Fatal(err)
	}
	failed := 0
	for range 3 {
		for i := range entities {
			row, err := s.Get(t.Context(), people, numbered(i).Key, table.Strong)
			switch {
			case errors.Is(err, table.ErrNoEntity), err == nil && !bytes.Equal(row.Properties, numbered(i).Properties):
				t.Fatalf("entity %d is lost without an error", i)
			case err != nil:
				failed++
			}
		}
	}
	if failed == 0 || failed > 3*300 {
		t.Errorf("%d of %d reads failed", failed, 3*entities)
	}
	for i := range entities { // inserts that cause compactions
		m := numbered(i)
		m.Key = key.Append(nil, fmt.Sprintf("q%04d", i/10), fmt.Sprint(i))
		if _, err := s.Commit(t.Context(), people, []table.Mutation{m}); err != nil {
			t.Fatal(err)
		}
	}
	if s.Metrics().Damage < int64(failed) {
		t.Errorf("Metrics count %d of %d damaged reads", s.Metrics().Damage, failed)
	}
	s.Close()
	mu.Lock()
	defer mu.Unlock()
	told := slices.DeleteFunc(lines, func(l string) bool { return !strings.Contains(l, "is damaged") })
	if len(told) != 1 || !strings.Contains(told[0], largest) {
		t.Errorf("%d lines about damage, first %.300q", len(told), told)
	}
}

// TestAcceptTornLog checks that a start with Options.AcceptDamage does not change a log with an
// incomplete record at its end, because such a record is no damage.
func TestAcceptTornLog(t *testing.T) {
	t.Parallel()
	const entities = 300
	disk := killedFiles(t, entities, false)
	paths := names(t, disk, ".log")
	path := paths[len(paths)-1]
	b := content(t, disk, path)
	rewrite(t, disk, path, append(b, 1, 2, 3, 4, 200, 0, 1)) // begins a record without completing it
	s, err := reopen(t, disk, true)
	if err != nil {
		t.Fatal(err)
	}
	if n := count(t, s, entities); n != entities {
		t.Errorf("%d of %d entities", n, entities)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left := names(t, disk, ".damaged"); len(left) > 0 {
		t.Errorf("the start has replaced %v", left)
	}
}
