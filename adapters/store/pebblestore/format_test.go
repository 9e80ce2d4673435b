package pebblestore_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/key"
	"edgetable/core/table"
)

// unpack returns the files of an archive, which is the data directory of a killed server of some
// release. All archives contain the same entities.
func unpack(t *testing.T, archive string) *vfs.MemFS {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	disk := vfs.NewCrashableMem()
	if err := disk.MkdirAll("data", 0o700); err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return disk
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		rewrite(t, disk, disk.PathJoin("data", h.Name), b)
	}
}

// TestFormats opens a directory of each format that a release has written. It checks that Open
// upgrades the directory to the current format, so that older releases refuse it.
func TestFormats(t *testing.T) {
	t.Parallel()
	for n := 1; n <= pebblestore.FormatVersion; n++ {
		disk := unpack(t, fmt.Sprintf("testdata/format%d.tar.gz", n))
		report, err := check(t, copyOf(disk), "saved")
		if err != nil || len(report.Problems) > 0 || report.Tables != 1 || report.Entities != 25 {
			t.Errorf("format %d: %+v, %v", n, report, err)
		}
		for range 2 { // in the second iteration, the directory already has the current format
			s, err := reopen(t, disk, false)
			if err != nil {
				t.Fatalf("format %d: %v", n, err)
			}
			people := table.RecordKey{Account: "devstoreaccount1", Table: "people"}
			for i := range 30 {
				row, err := s.Get(t.Context(), people, key.Append(nil, "p", fmt.Sprintf("%02d", i)), table.Strong)
				text, _ := row.Properties.Lookup("Text")
				switch {
				case i < 5 && !errors.Is(err, table.ErrNoEntity),
					i >= 5 && err != nil,
					i >= 10 && i < 20 && text.Text() != fmt.Sprint("second ", i),
					(i >= 5 && i < 10 || i >= 20) && text.Text() != fmt.Sprint("first ", i):
					t.Errorf("format %d: entity %d is %q, %v", n, i, text.Text(), err)
				}
			}
			if _, err := s.ReadRecord(t.Context(), table.RecordKey{Account: "devstoreaccount1", Table: "gone"}, table.Strong); !errors.Is(err, table.ErrNoRecord) {
				t.Errorf("format %d: the dropped table: %v", n, err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		if v := storedFormat(t, disk); !slices.Equal(v, []byte{0, 0, 0, pebblestore.FormatVersion}) {
			t.Errorf("format %d became %v", n, v)
		}
		// A release with a newer format first writes the newer format version to the file TABLES. With
		// such a file, this release must refuse the directory before it changes anything.
		text := content(t, disk, "data/TABLES")
		next := copyOf(disk)
		rewrite(t, next, "data/TABLES", append(pebblestore.FormatLine(pebblestore.FormatVersion+1), text...))
		before := fingerprint(t, next)
		if _, err := reopen(t, next, false); !errors.Is(err, pebblestore.ErrNewer) || fingerprint(t, next) != before {
			t.Errorf("a directory of the next format: %v", err)
		}
		if _, err := check(t, next, ""); !errors.Is(err, pebblestore.ErrNewer) {
			t.Errorf("check of a directory of the next format: %v", err)
		}
	}
}

// storedFormat returns the format version in the database. Older releases check this version.
func storedFormat(t *testing.T, disk vfs.FS) []byte {
	t.Helper()
	db, err := pebble.Open("data", &pebble.Options{FS: disk, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	v, closer, err := db.Get([]byte("\x00format"))
	if err != nil {
		t.Fatal(err)
	}
	defer closer.Close()
	return slices.Clone(v)
}
