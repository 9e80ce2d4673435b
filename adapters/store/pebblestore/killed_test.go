package pebblestore_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

// killedFiles returns the files of a killed process whose store had confirmed n entities. The
// newest entities are only in the log.
func killedFiles(t *testing.T, n int, small bool) *vfs.MemFS {
	t.Helper()
	disk := vfs.NewCrashableMem()
	o := pebblestore.Options{Dir: "data", FS: disk, Logf: t.Logf, Fatal: func(err error) { t.Errorf("fatal: %v", err) }}
	if small {
		o = o.Small()
	}
	s, err := pebblestore.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if _, err := s.Commit(t.Context(), people, []table.Mutation{numbered(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Mark(); err != nil {
		t.Fatal(err)
	}
	files := disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return files
}

// largestLive returns the path of the largest data file in use.
func largestLive(t *testing.T, disk vfs.FS) string {
	t.Helper()
	live, err := pebblestore.Options{Dir: "data", FS: disk}.Small().LiveFiles()
	must.OK(t, err)
	return slices.MaxFunc(live, func(a, b string) int { return cmp.Compare(len(content(t, disk, a)), len(content(t, disk, b))) })
}

// numbered returns the put of entity i. Each partition has 10 entities.
func numbered(i int) table.Mutation {
	text := strings.Repeat(fmt.Sprint(i, " "), 40)
	return table.Mutation{
		Key:        key.Append(nil, fmt.Sprintf("p%04d", i/10), fmt.Sprintf("r%d", i%10)),
		Properties: edm.AppendProperty(nil, "Text", edm.String(text)),
	}
}

// count returns how many of the entities numbered(0) to numbered(n-1) a store has. It fails the
// test if an entity has another content.
func count(t *testing.T, s *pebblestore.Store, n int) (found int) {
	t.Helper()
	for i := range n {
		m := numbered(i)
		row, err := s.Get(context.Background(), people, m.Key, table.Strong)
		if errors.Is(err, table.ErrNoEntity) {
			continue
		}
		if err != nil {
			t.Fatalf("entity %d: %v", i, err)
		}
		if !bytes.Equal(row.Properties, m.Properties) {
			t.Fatalf("entity %d differs from the written one", i)
		}
		found++
	}
	return found
}

func reopen(t *testing.T, disk vfs.FS, accept bool) (*pebblestore.Store, error) {
	return pebblestore.Open(pebblestore.Options{
		Dir: "data", FS: disk, AcceptDamage: accept,
		Logf: func(string, ...any) {}, Fatal: func(err error) { t.Errorf("fatal: %v", err) },
	})
}

// copyOf returns a copy of the files. A test may change the copy.
func copyOf(fs *vfs.MemFS) *vfs.MemFS {
	return fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))})
}

func names(t *testing.T, fs vfs.FS, suffix string) (list []string) {
	t.Helper()
	all, err := fs.List("data")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		if strings.HasSuffix(name, suffix) {
			list = append(list, fs.PathJoin("data", name))
		}
	}
	slices.Sort(list)
	return list
}

func content(t *testing.T, fs vfs.FS, path string) []byte {
	t.Helper()
	f, err := fs.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return b
}

func rewrite(t *testing.T, fs vfs.FS, path string, b []byte) {
	t.Helper()
	f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(b)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
	syncDir(t, fs)
}

func syncDir(t *testing.T, fs vfs.FS) {
	t.Helper()
	d, err := fs.OpenDir("data")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		t.Fatal(err)
	}
}
