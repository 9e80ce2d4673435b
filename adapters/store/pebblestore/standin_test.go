package pebblestore_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/key"
	"edgetable/core/table"
)

// TestStartOnFullDisk fills the disk at each operation of a start that replays a
// log. The store serves reads at once, and writes when there is space; or it can be
// closed before, which changes nothing.
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
	if err := f.store.Mark(); err != nil { // the list of logs knows the last commit
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
	stoodIn := 0
	for at := 1; at <= places && !t.Failed(); at++ {
		q := killed()
		q.left = at
		f := &filler{t: t, disk: q, acked: acked}
		s, err := pebblestore.Open(f.options(q))
		if err != nil {
			t.Fatalf("full at operation %d: %v", at, err)
		}
		f.check(s, acked, false)
		page, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: []key.Range{{}}})
		if err != nil || len(page.Rows) != 2*len(acked) {
			t.Errorf("full at operation %d: a scan has %d rows: %v", at, len(page.Rows), err)
		}
		if list, err := s.ListRecords(t.Context(), people.Account, "", 10, table.Strong); err != nil || len(list) != 1 {
			t.Errorf("full at operation %d: %d tables: %v", at, len(list), err)
		}
		if s.StandsIn() {
			stoodIn++
			if err := f.commit(s, 0, acked[0]+1); !errors.Is(err, table.ErrFull) {
				t.Errorf("full at operation %d: a commit: %v", at, err)
			}
			if err := s.Drop(t.Context(), people, ""); !errors.Is(err, table.ErrFull) {
				t.Errorf("full at operation %d: a drop: %v", at, err)
			}
			if err := s.Checkpoint(t.Context(), "copy"); !errors.Is(err, table.ErrFull) {
				t.Errorf("full at operation %d: a checkpoint: %v", at, err)
			}
			if _, err := s.Identity(); !errors.Is(err, table.ErrFull) {
				t.Errorf("full at operation %d: the identity: %v", at, err)
			}
		}
		f.crash(rand.New(rand.NewPCG(uint64(at), 4)))
		if at%3 == 0 {
			if err := s.Close(); err != nil {
				t.Errorf("full at operation %d: Close: %v", at, err)
			}
			f.crash(rand.New(rand.NewPCG(uint64(at), 5)))
			q.makeSpace()
			continue
		}
		q.makeSpace()
		f.goOn(s, acked)
	}
	if stoodIn == 0 {
		t.Errorf("none of %d starts had to wait", places)
	}
}
