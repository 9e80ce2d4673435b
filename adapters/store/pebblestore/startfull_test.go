package pebblestore_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/table"
)

// TestStartOnFullDisk makes the disk full at each file operation of a start that replays a log. It
// checks that the start waits for space or can be interrupted, and that no data is lost.
func TestStartOnFullDisk(t *testing.T) {
	t.Parallel()
	disk := newQuota()
	f := &filler{t: t, disk: disk}
	f.store = open(t, f.options(disk))
	if err := create(t.Context(), f.store); err != nil {
		t.Fatal(err)
	}
	f.start(60)
	f.wait.Wait()
	if err := f.store.Mark(); err != nil { // Mark also writes the last synced commit to the file LOGS
		t.Fatal(err)
	}
	killed := func() *quota {
		q := newQuota()
		q.MemFS = disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: rand.New(rand.NewPCG(1, 1))})
		return q
	}
	acked := f.confirmed()

	all := killed()
	s, err := pebblestore.Open(f.options(all))
	if err != nil {
		t.Fatal(err)
	}
	places := all.operations()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if places < 10 {
		t.Fatalf("a start has only %d operations that need space", places)
	}
	waited := 0
	for at := 1; at <= places && !t.Failed(); at++ {
		q := killed()
		q.left = at
		f := &filler{t: t, disk: q, acked: acked}
		interrupt, opened := make(chan struct{}), make(chan error, 1)
		var s *pebblestore.Store
		go func() {
			o := f.options(q)
			o.Interrupt = interrupt
			var err error
			s, err = pebblestore.Open(o)
			opened <- err
		}()
		select {
		case err = <-opened: // the start has ended before the operation that would fill the disk
		case <-q.hit:
			if f.crash(rand.New(rand.NewPCG(uint64(at), 4))); at%3 == 0 {
				close(interrupt)
				if err = <-opened; errors.Is(err, table.ErrFull) {
					waited++
					f.crash(rand.New(rand.NewPCG(uint64(at), 5)))
					q.makeSpace()
					continue
				}
			}
			q.makeSpace()
			if at%3 != 0 {
				err = <-opened
			}
		}
		if err != nil {
			t.Fatalf("full at operation %d: %v", at, err)
		}
		q.makeSpace()
		f.goOn(s, acked)
	}
	if waited == 0 {
		t.Errorf("none of %d starts had to wait", places)
	}
}
