package pebblestore_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore"
)

// manifestOf returns the path of the only MANIFEST of a directory.
func manifestOf(t *testing.T, disk vfs.FS) string {
	t.Helper()
	all, err := disk.List("data")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	for _, name := range slices.Backward(all) {
		if strings.HasPrefix(name, "MANIFEST-") {
			return disk.PathJoin("data", name)
		}
	}
	t.Fatal("there is no MANIFEST")
	return ""
}

// TestOneWitness checks that a salvage loses no entity because of a single wrong source. A source
// is the MANIFEST, the name of a file, or the log number in a file.
func TestOneWitness(t *testing.T) {
	t.Parallel()
	const entities = 1500
	disk, another, younger := killedFiles(t, entities, true), killedFiles(t, 400, true), killedFiles(t, 30, true)
	files, logs := names(t, disk, ".sst"), names(t, disk, ".log")
	manifest := manifestOf(t, disk)
	move := func(t *testing.T, place vfs.FS, from, to string) {
		t.Helper()
		b := content(t, place, from)
		if err := place.Remove(from); err != nil {
			t.Fatal(err)
		}
		rewrite(t, place, place.PathJoin("data", to), b)
	}
	for name, spoil := range map[string]func(t *testing.T, place vfs.FS){
		"the MANIFEST of another store": func(t *testing.T, place vfs.FS) {
			rewrite(t, place, manifest, content(t, another, manifestOf(t, another)))
		},
		"the MANIFEST of a store with few files": func(t *testing.T, place vfs.FS) {
			rewrite(t, place, manifest, content(t, younger, manifestOf(t, younger)))
		},
		"a data file has another number": func(t *testing.T, place vfs.FS) { move(t, place, files[0], "000782.sst") },
		"a data file has a low number":   func(t *testing.T, place vfs.FS) { move(t, place, files[0], "000001.sst") },
		"a data file has large letters":  func(t *testing.T, place vfs.FS) { move(t, place, files[0], "000005.SST") },
		"a data file has a copy's name":  func(t *testing.T, place vfs.FS) { move(t, place, files[0], "copy of a file") },
		"all data files have new names": func(t *testing.T, place vfs.FS) {
			for i, f := range files {
				move(t, place, f, fmt.Sprintf("9%05d.sst", i))
			}
		},
		"two data files have changed name": func(t *testing.T, place vfs.FS) { swap(t, place, files[0], files[len(files)-1]) },
		"the log has another number":       func(t *testing.T, place vfs.FS) { move(t, place, logs[len(logs)-1], "000900.log") },
		"the log has a low number":         func(t *testing.T, place vfs.FS) { move(t, place, logs[len(logs)-1], "000001.log") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			place := copyOf(disk)
			spoil(t, place)
			report, err := check(t, place, "saved")
			if err != nil {
				t.Fatal(err)
			}
			if len(report.Problems) == 0 {
				t.Error("no problem is told")
			}
			saved, err := pebblestore.Open(pebblestore.Options{Dir: "saved", FS: place})
			if err != nil {
				t.Fatal(err)
			}
			defer saved.Close()
			if found := count(t, saved, entities); found != entities {
				t.Errorf("%d of %d entities are saved: %q", found, entities, report.Problems)
			}
		})
	}
}

func swap(t *testing.T, place vfs.FS, a, b string) {
	t.Helper()
	first, second := content(t, place, a), content(t, place, b)
	rewrite(t, place, a, second)
	rewrite(t, place, b, first)
}
