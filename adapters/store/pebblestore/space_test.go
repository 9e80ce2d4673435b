package pebblestore_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// full is a disk that can run out of space for data files.
type full struct {
	vfs.FS
	full    atomic.Bool
	noticed chan struct{} // if not nil, the fault takes effect when it is closed
}

func (f *full) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if f.full.Load() && strings.HasSuffix(name, ".sst") {
		if f.noticed != nil {
			<-f.noticed
		}
		return nil, syscall.ENOSPC
	}
	return f.FS.Create(name, c)
}

// TestFullDisk checks that a store ends when its disk is full, instead of
// endless retries, and that all confirmed entities are there when there is
// space again.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	disk := &full{FS: vfs.NewCrashableMem()}
	fatal := make(chan error, 1)
	s, err := pebblestore.Open(pebblestore.Options{
		Dir: "data", FS: disk,
		Logf: func(string, ...any) {},
		Fatal: func(err error) {
			select {
			case fatal <- err:
				disk.full.Store(false) // in this test Pebble continues; in production the process would have ended
			default:
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	put := []table.Mutation{{Key: key.Append(nil, "p", "r")}}
	if _, err := s.Commit(t.Context(), people, put); err != nil {
		t.Fatal(err)
	}
	crashed := disk.FS.(*vfs.MemFS).CrashClone(vfs.CrashCloneCfg{})
	disk.full.Store(true)
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := <-fatal; !vfs.IsNoSpaceError(err) {
		t.Errorf("fatal: %v", err)
	}
	s, err = pebblestore.Open(pebblestore.Options{Dir: "data", FS: crashed})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Get(t.Context(), people, put[0].Key, table.Strong); err != nil {
		t.Errorf("after the end: %v", err)
	}
}

// TestFullDiskInReservation fills the disk while a write waits for a data file
// to reserve Timestamps: the refused inserts leave only reservations in the
// log.
func TestFullDiskInReservation(t *testing.T) {
	t.Parallel()
	disk := &full{FS: vfs.NewMem(), noticed: make(chan struct{})}
	var now atomic.Int64
	fatal := make(chan error, 1)
	s, err := pebblestore.Open(pebblestore.Options{
		Dir: "data", FS: disk,
		Now:  func() edm.Ticks { return edm.Ticks(now.Add(2 * int64(table.Reservation))) },
		Logf: func(string, ...any) {},
		Fatal: func(err error) {
			select {
			case fatal <- err:
				disk.full.Store(false)
			default:
			}
		},
	}.Small().Stalled(sync.OnceFunc(func() { close(disk.noticed) })))
	if err != nil {
		t.Fatal(err)
	}
	if err := create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	insert := []table.Mutation{{Key: key.Append(nil, "p", "r"), Condition: table.Absent}}
	if _, err := s.Commit(t.Context(), people, insert); err != nil {
		t.Fatal(err)
	}
	disk.full.Store(true)
	for err = nil; err == nil || errors.As(err, new(*table.Refused)); {
		_, err = s.Commit(t.Context(), people, insert)
	}
	if err := <-fatal; !vfs.IsNoSpaceError(err) {
		t.Errorf("fatal: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}
