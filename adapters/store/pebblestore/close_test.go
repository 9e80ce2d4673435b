package pebblestore_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/table"
)

// TestCloseDuringFlush closes stores just after a Checkpoint with a canceled context. It checks
// that no flush calls Pebble after Close, because Pebble would then end the process.
func TestCloseDuringFlush(t *testing.T) {
	t.Parallel()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 50 {
		s, err := pebblestore.Open((&filler{t: t}).options(newQuota()))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Checkpoint(gone, "copy"); !errors.Is(err, context.Canceled) && err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCloseOnFullDisk fills the disk at each file operation of a backup and then closes the store.
// It checks that the process does not end and that no data is lost.
func TestCloseOnFullDisk(t *testing.T) {
	t.Parallel()
	waited := 0
	for at, full := 1, true; full; at++ {
		f := &filler{t: t, disk: newQuota()}
		s, err := pebblestore.Open(f.options(f.disk))
		if err != nil {
			t.Fatal(err)
		}
		if err := create(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		f.store = s
		f.start(5)
		f.wait.Wait()
		f.disk.fillAfter(at)
		full = false
		if err := s.Checkpoint(t.Context(), "copy"); err != nil {
			if full = true; errors.Is(err, table.ErrFull) {
				waited++
			}
		}
		if err := s.Close(); err != nil {
			t.Errorf("full at operation %d: Close: %v", at, err)
		}
		f.crash(rand.New(rand.NewPCG(uint64(at), 1)))
	}
	if waited == 0 {
		t.Error("no backup had to wait")
	}
}
