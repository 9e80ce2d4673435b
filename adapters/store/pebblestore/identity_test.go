package pebblestore_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore"
	"edgetable/adapters/store/pebblestore/internal/datafile"
	"edgetable/adapters/store/pebblestore/offline"
	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

func readFile(t *testing.T, fs vfs.FS, path string) []byte {
	t.Helper()
	f, err := fs.Open(path)
	must.OK(t, err)
	b, err := io.ReadAll(f)
	must.OK(t, errors.Join(err, f.Close()))
	return b
}

func writeFile(t *testing.T, fs vfs.FS, path string, b []byte) {
	t.Helper()
	f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	must.OK(t, err)
	_, err = f.Write(b)
	must.OK(t, errors.Join(err, f.Sync(), f.Close()))
}

func identityService(s *pebblestore.Store) *table.Service {
	return table.New(s, table.Options{Now: func() edm.Ticks { return edm.TicksOf(time.Now()) }, Rand: rand.Uint64})
}

// made creates a store with one table. It returns the store's identity and the content of the file TABLES.
func made(t *testing.T, name string) (fs *vfs.MemFS, o pebblestore.Options, identity string, copied []byte) {
	t.Helper()
	fs = vfs.NewMem()
	o = pebblestore.Options{Dir: "data", FS: fs, Logf: func(string, ...any) {}}
	s, err := pebblestore.Open(o)
	must.OK(t, err)
	must.OK(t, identityService(s).CreateTable(t.Context(), table.Name{Account: "acme", Table: name}))
	identity, err = s.Identity()
	must.OK(t, errors.Join(err, s.Close()))
	return fs, o, identity, readFile(t, fs, filepath.Join("data", "TABLES"))
}

// TestIdentityInFiles checks that the file TABLES and each data file contain the identity of the store.
func TestIdentityInFiles(t *testing.T) {
	t.Parallel()
	fs, _, identity, copied := made(t, "People")
	if !bytes.Contains(copied, []byte("store "+identity)) {
		t.Errorf("TABLES: %q", copied)
	}
	names, err := fs.List("data")
	must.OK(t, err)
	files := 0
	for _, name := range names {
		if !strings.HasSuffix(name, ".sst") {
			continue
		}
		files++
		f, err := datafile.Read(fs, filepath.Join("data", name))
		if must.OK(t, err); f.Store != identity {
			t.Errorf("%s is of %q, want %q", name, f.Store, identity)
		}
	}
	if files == 0 {
		t.Error("there are no data files")
	}
}

// TestCopyOfOtherStore checks that a start ignores a file TABLES of another store, and replaces it: no record is lost.
// If an earlier version wrote the file, it contains no identity. The start must accept such a file and add the
// identity.
func TestCopyOfOtherStore(t *testing.T) {
	t.Parallel()
	fs, o, _, own := made(t, "People")
	_, _, _, other := made(t, "People")
	path := filepath.Join("data", "TABLES")
	unnamed := bytes.Join(bytes.SplitAfter(own, []byte("\n"))[:1], nil)
	for _, line := range bytes.SplitAfter(own, []byte("\n"))[1:] {
		if !bytes.HasPrefix(line, []byte("store ")) {
			unnamed = append(unnamed, line...)
		}
	}
	for name, b := range map[string][]byte{"of another store": other, "of an earlier version": unnamed} {
		writeFile(t, fs, path, b)
		said := ""
		o.Logf = func(format string, _ ...any) { said += format }
		s, err := pebblestore.Open(o)
		must.OK(t, err)
		if _, err := s.ReadRecord(t.Context(), table.Name{Account: "acme", Table: "People"}.Key(), table.Strong); err != nil {
			t.Errorf("%s: the table is lost: %v", name, err)
		}
		must.OK(t, s.Close())
		if strings.Contains(said, "to another store") != (name == "of another store") {
			t.Errorf("%s: it says %q", name, said)
		}
		if got := readFile(t, fs, path); !bytes.Equal(got, own) {
			t.Errorf("%s: TABLES is %q, want %q", name, got, own)
		}
	}
}

// TestIdentityLost checks that a database that has lost its identity gets the identity in the file TABLES. The store
// can then still use its backup location.
func TestIdentityLost(t *testing.T) {
	t.Parallel()
	fs, o, identity, _ := made(t, "People")
	db, err := pebble.Open("data", &pebble.Options{FS: fs, FormatMajorVersion: pebble.FormatTableFormatV6})
	must.OK(t, err)
	must.OK(t, errors.Join(db.Delete([]byte("\x00identity"), pebble.Sync), db.Close()))
	s, err := pebblestore.Open(o)
	must.OK(t, err)
	got, err := s.Identity()
	if must.OK(t, errors.Join(err, s.Close())); got != identity {
		t.Errorf("%q, want %q", got, identity)
	}
}

// TestSalvageOfOtherStore checks a salvage of a directory in which one file is from another store: a data file or the
// file TABLES. The salvage must ignore this file and keep the identity of the store.
func TestSalvageOfOtherStore(t *testing.T) {
	t.Parallel()
	for _, foreign := range []string{"a data file", "TABLES"} {
		fs, o, identity, _ := made(t, "People")
		other, _, _, _ := made(t, "Others")
		names, err := other.List("data")
		must.OK(t, err)
		for _, name := range names {
			switch {
			case foreign == "TABLES" && name == "TABLES":
				writeFile(t, fs, "data/TABLES", readFile(t, other, "data/TABLES"))
			case foreign == "a data file" && strings.HasSuffix(name, ".sst"):
				writeFile(t, fs, "data/000999.sst", readFile(t, other, "data/"+name))
			}
		}
		if foreign == "a data file" { // without a MANIFEST, the salvage reads all data files
			must.OK(t, errors.Join(removeAll(fs, "MANIFEST-")...))
		}
		report, err := offline.Check(o, "saved", nil)
		must.OK(t, err)
		if said := strings.Join(report.Problems, "\n"); !strings.Contains(said, "belongs to another store") {
			t.Errorf("%s: %q", foreign, said)
		}
		s, err := pebblestore.Open(pebblestore.Options{Dir: "saved", FS: fs, Logf: t.Logf})
		must.OK(t, err)
		got, err := s.Identity()
		if must.OK(t, err); got != identity {
			t.Errorf("%s: the identity is %q, want %q", foreign, got, identity)
		}
		list, err := s.ListRecords(t.Context(), "acme", "", 10, table.Strong)
		if must.OK(t, err); len(list) != 1 {
			t.Errorf("%s: %d tables", foreign, len(list))
		}
		must.OK(t, s.Close())
		if b := readFile(t, fs, "saved/TABLES"); !bytes.Contains(b, []byte("store "+identity)) {
			t.Errorf("%s: TABLES is %q", foreign, b)
		}
	}
}

func removeAll(fs vfs.FS, prefix string) (failed []error) {
	names, err := fs.List("data")
	failed = append(failed, err)
	for _, name := range names {
		if strings.HasPrefix(name, prefix) {
			failed = append(failed, fs.Remove("data/"+name))
		}
	}
	return failed
}
