package repository_test

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"edgetable/adapters/backup/repository"
	"edgetable/adapters/objects/directory"
	"edgetable/core/objects"
)

// big adds a file with random content that is stored in several parts.
func (w *world) big(name string, size int) {
	b := make([]byte, size)
	rand.NewChaCha8([32]byte{byte(w.rand.Uint32())}).Read(b)
	w.files[name] = content{b, w.now}
}

// TestParts backs up files of several parts to a directory, and restores them from there.
func TestParts(t *testing.T) {
	t.Parallel()
	for _, w := range []*world{newWorld(1), newWorld(2).encrypted(t)} {
		w.big("100000.sst", 2<<23+1)
		w.big("100001.sst", 1<<23)
		place := directory.Place{Dir: filepath.Join(t.TempDir(), "new", "place")}
		if _, err := w.create(t, t.Context(), place); err != nil {
			t.Fatal(err)
		}
		w.check(t, place)
		w.restored(t, place)
	}
}

// counting counts the objects that are written. Its backup location refuses all writes after some number of saved
// manifests.
type counting struct {
	mu      sync.Mutex
	objects int
	saves   int // number of writes of the unfinished manifest
}

func (c *counting) place(s *shelf, stopAfterSaves int) objects.Place {
	return putter{s, func(name string) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		switch {
		case c.saves > stopAfterSaves:
			return errKilled
		case strings.HasPrefix(name, "objects/"):
			c.objects++
		case strings.HasPrefix(name, "unfinished/"):
			c.saves++
		}
		return nil
	}}
}

// TestContinue interrupts a long run. The next run must not write stored objects again, both with and without
// encryption.
func TestContinue(t *testing.T) {
	t.Parallel()
	for _, w := range []*world{newWorld(1), newWorld(2).encrypted(t)} {
		for _, name := range []string{"100000.sst", "100001.sst", "100002.sst", "100003.sst", "100004.sst"} {
			w.big(name, 2<<23)
		}
		place := newShelf()
		var first, second counting
		if _, err := w.create(t, t.Context(), first.place(place, 1)); !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		if _, err := w.create(t, t.Context(), second.place(place, 100)); err != nil {
			t.Fatal(err)
		}
		w.check(t, place)
		if first.objects < 8 || second.objects > 8 { // the backup has 10 large objects and some small objects
			t.Errorf("%d objects, then %d", first.objects, second.objects)
		}
		w.clean(t, place)
	}
}

// TestRemoved removes a backup while its run is in progress. The backup must not be listed, because its objects are
// removed.
func TestRemoved(t *testing.T) {
	t.Parallel()
	w, place := newWorld(1), newShelf()
	removed := sync.OnceValue(func() error {
		_, err := repository.New(place).Prune(t.Context(), repository.Pruning{Remove: w.begun, Now: w.now})
		return err
	})
	_, err := w.create(t, t.Context(), putter{place, func(name string) error {
		if !strings.HasPrefix(name, "objects/") {
			return nil
		}
		return removed()
	}})
	if err == nil || removed() != nil {
		t.Errorf("the backup ended with %v, its removal with %v", err, removed())
	}
	if n := place.count("backups/"); n != 0 {
		t.Errorf("%d backups are listed", n)
	}
}

// TestAbandon checks that abandoned runs leave no objects, however many runs failed. Complete backups, and a run that
// another process continues, must keep their objects.
func TestAbandon(t *testing.T) {
	t.Parallel()
	w, place := newWorld(1), newShelf()
	if _, err := w.create(t, t.Context(), place); err != nil {
		t.Fatal(err)
	}
	complete := place.count("objects/")
	failed := errors.New("the last object cannot be stored")
	fail := func() {
		t.Helper()
		w.change()
		w.files["999999.sst"] = content{[]byte("new each time: " + w.now.String()), w.now}
		before := place.count("objects/")
		_, err := w.create(t, t.Context(), putter{place, func(string) error {
			if place.count("objects/") > before {
				return failed
			}
			return nil
		}})
		if !errors.Is(err, failed) || place.count("objects/") == before {
			t.Fatalf("the run stored nothing before it failed: %v", err)
		}
	}
	for range 3 {
		fail()
		if err := repository.New(place).Abandon(t.Context(), w.begun...); err != nil {
			t.Fatal(err)
		}
		w.begun = nil
		if n := place.count("objects/"); n != complete {
			t.Fatalf("the place has %d objects, its backup %d", n, complete)
		}
	}
	fail()
	other, left := w.begun, place.count("objects/")
	w.begun = nil
	fail()
	if err := repository.New(place).Abandon(t.Context(), w.begun...); err != nil || place.count("objects/") < left || place.count("unfinished/") != 1 {
		t.Fatalf("beside a run that continues there are %d objects of %d: %v", place.count("objects/"), left, err)
	}
	w.begun = other
	if _, err := w.create(t, t.Context(), place); err != nil {
		t.Fatal(err)
	}
	w.check(t, place)
	w.clean(t, place)
}
