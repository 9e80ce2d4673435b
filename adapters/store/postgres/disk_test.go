package postgres_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgetable/adapters/store/postgres"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/testdata/must"
	"edgetable/testdata/postgres/local"
	"edgetable/testdata/proc"
)

// TestFullDisk fills the disk that contains the database's files; the write-ahead log is
// on another disk. Writes must return ErrFull and have no effect, and reads must succeed.
// When the disk has space again, writes must succeed too.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir, err := local.Folder() // not t.TempDir(), because the operating system user of the database cannot enter that directory
	must.OK(t, err)
	t.Cleanup(func() { must.OK(t, os.RemoveAll(dir)) })
	disk, logs := filepath.Join(dir, "disk"), filepath.Join(dir, "logs")
	must.OK(t, os.Mkdir(disk, 0o755))
	must.OK(t, os.Mkdir(logs, 0o755))
	proc.Mount(t, disk, "80m")
	c := cluster(t, local.Options{Dir: disk, Log: filepath.Join(logs, "wal"), Settings: []string{"shared_buffers=16MB", "dynamic_shared_memory_type=posix"}})
	s := open(t, c, postgres.Options{Schema: newSchema(t, c), PurgeEvery: -1})
	create(t, s)
	large := edm.AppendProperty(nil, "Text", edm.String(strings.Repeat("x", 30000)))
	for i := range 8 { // random bytes, which the database cannot compress
		large = edm.AppendProperty(large, fmt.Sprint("Noise", i), edm.Binary(noise(60<<10)))
	}
	acked := 0
	for ; acked < 1000 && err == nil; acked++ {
		_, err = s.Commit(t.Context(), people, []table.Mutation{{Key: row("p", fmt.Sprintf("%04d", acked)), Nonce: 1, Properties: large}})
	}
	acked--
	if !errors.Is(err, table.ErrFull) {
		t.Fatalf("after %d writes: %v", acked, err)
	}
	count := func() (n int) {
		r := table.ScanRequest{Ranges: []key.Range{{}}, Rows: 20}
		for {
			page, err := s.Scan(t.Context(), people, r)
			must.OK(t, err)
			n += len(page.Rows)
			if page.Next == nil {
				return n
			}
			r.Ranges = key.From([]key.Range{{}}, page.Next)
		}
	}
	if n := count(); n != acked {
		t.Errorf("%d entities, and %d writes were acknowledged", n, acked)
	}
	_, err = s.Commit(t.Context(), people, []table.Mutation{
		{Key: row("q", "1"), Nonce: 1, Properties: large}, {Key: row("q", "2"), Nonce: 1, Properties: large},
	})
	if !errors.Is(err, table.ErrFull) {
		t.Errorf("a batch: %v", err)
	}
	proc.Resize(t, disk, "200m")
	must.OK(t, putOne(t.Context(), s, "after"))
	if n := count(); n != acked+1 {
		t.Errorf("%d entities after there was space, want %d", n, acked+1)
	}
}

func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return b
}
