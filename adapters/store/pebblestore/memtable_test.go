package pebblestore_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

// logs is a file system that counts the logs that a store creates. A store creates one log for each memtable.
type logs struct {
	vfs.FS
	begun atomic.Int64
}

func (l *logs) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if strings.HasSuffix(name, ".log") {
		l.begun.Add(1)
	}
	return l.FS.Create(name, c)
}

func (l *logs) ReuseForWrite(old, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if strings.HasSuffix(name, ".log") {
		l.begun.Add(1)
	}
	return l.FS.ReuseForWrite(old, name, c)
}

// TestLargeBatchesShareAMemtable checks that several of the largest batches fit into one memtable, with the cache
// size of a server in a container of 256 MiB. If a batch is larger than half of a memtable, Pebble ends the current
// memtable, and flushes both the memtable and the batch. Such flushes reduced the rate of writes by 45 %.
func TestLargeBatchesShareAMemtable(t *testing.T) {
	t.Parallel()
	counted := &logs{FS: vfs.NewMem()}
	s, err := pebblestore.Open(pebblestore.Options{Dir: "data", FS: counted, CacheSize: 192 << 20 / 5})
	must.OK(t, err)
	defer s.Close()
	must.OK(t, create(t.Context(), s))
	const batches = 10
	before, random := counted.begun.Load(), rand.NewChaCha8([32]byte{})
	for n := range batches {
		var m []table.Mutation
		for row := range 4 {
			m = append(m, filled(key.Append(nil, "p", fmt.Sprint(n, row)), 1<<20-100, random))
		}
		_, err := s.Commit(t.Context(), people, m)
		must.OK(t, err)
	}
	if begun := counted.begun.Load() - before; begun > batches*2/3 {
		t.Errorf("%d batches of 4 MiB began %d memtables", batches, begun)
	}
}
