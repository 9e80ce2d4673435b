package target_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"edgetable/adapters/backup/repository/target"
)

// namesIn returns the sorted names of the files in a directory, or nil if there is no directory.
func namesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	list := map[string]bool{}
	for _, e := range entries {
		list[e.Name()] = true
	}
	return slices.Sorted(maps.Keys(list))
}

// TestDirectory checks what a restore that fails, and then one that succeeds, leave in the directory.
func TestDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "parent", "store")
	file := target.File{Name: "a", Size: 3, Modified: time.Unix(1, 5000).UnixNano()}
	marker := target.File{Name: "marker.format"}
	files := []target.File{file, marker}
	for _, succeeds := range []bool{false, true} {
		d, err := target.Open(dir, "one", files)
		if err != nil {
			t.Fatal(err)
		}
		if !target.Interrupted(dir) {
			t.Error("the directory of a running restore has no note")
		}
		if _, err := target.Open(dir, "one", files); err == nil || !strings.Contains(err.Error(), "is running") {
			t.Errorf("two restores at a time: %v", err)
		}
		if err := d.Write("a", []byte("o"), 2); err != nil {
			t.Fatal(err)
		}
		if err := d.Write("a", []byte("fo"), 0); err != nil {
			t.Fatal(err)
		}
		if d.Has(file) {
			t.Error("a restore that began anew trusts a file")
		}
		if succeeds {
			for _, f := range files {
				if err := d.Write(f.Name, nil, 0); err != nil {
					t.Fatal(err)
				}
				if err := d.Finish(f); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := d.End(succeeds); err != nil {
			t.Fatal(err)
		}
		if got := namesIn(t, dir); succeeds && !slices.Equal(got, []string{"a", "marker.format"}) || !succeeds && got != nil {
			t.Errorf("after a restore, success %v, the directory has %q", succeeds, got)
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, "a"))
	info, statErr := os.Stat(filepath.Join(dir, "a"))
	if err != nil || statErr != nil || string(b) != "foo" || info.ModTime().UnixNano() != file.Modified {
		t.Errorf("the file has %q, %v, %v", b, err, statErr)
	}
	if target.Interrupted(dir) {
		t.Error("the directory of a complete restore has a note")
	}
}
