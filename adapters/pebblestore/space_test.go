package pebblestore_test

import (
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/pebblestore"
	"edgetable/core/key"
	"edgetable/core/table"
)

// full is a disk that can run out of space for data files.
type full struct {
	vfs.FS
	full atomic.Bool
}

func (f *full) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if f.full.Load() && strings.HasSuffix(name, ".sst") {
		return nil, syscall.ENOSPC
	}
	return f.FS.Create(name, c)
}

// A store whose disk is full ends instead of trying again for ever, and what it
// confirmed is there when there is space again.
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
				disk.full.Store(false) // where a process would have ended, Pebble goes on
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
