package directory_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"edgetable/adapters/objects/directory"
	"edgetable/core/objects"
	"edgetable/testdata/must"
)

func names(t *testing.T, p directory.Place, prefix string) (list []string) {
	t.Helper()
	for o, err := range p.List(t.Context(), prefix) {
		must.OK(t, err)
		list = append(list, o.Name)
	}
	return list
}

// TestPlace checks that objects are files below a directory, which is created with the first object, and that empty
// folders are removed.
func TestPlace(t *testing.T) {
	t.Parallel()
	p := directory.Place{Dir: filepath.Join(t.TempDir(), "new")}
	if list := names(t, p, ""); list != nil {
		t.Errorf("%q", list)
	}
	if _, err := p.Get(t.Context(), "a/b"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	for _, text := range []string{"1", "2"} {
		must.OK(t, p.Put(t.Context(), "a/b", []byte(text)))
		if b, err := p.Get(t.Context(), "a/b"); err != nil || string(b) != text {
			t.Errorf("%q, %v", b, err)
		}
	}
	must.OK(t, p.Put(t.Context(), "a/c/d", nil))
	if list := names(t, p, "a/b"); !slices.Equal(list, []string{"a/b"}) {
		t.Errorf("%q", list)
	}
	if list := names(t, p, ""); !slices.Equal(list, []string{"a/b", "a/c/d"}) {
		t.Errorf("%q", list)
	}
	for _, name := range []string{"a/c/d", "a/c/d", "none/x"} {
		must.OK(t, p.Delete(t.Context(), name))
	}
	if _, err := os.Stat(filepath.Join(p.Dir, "a", "c")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("an empty folder stays")
	}
	must.OK(t, p.Delete(t.Context(), "a/b"))
	if list, err := os.ReadDir(p.Dir); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
}

// TestPutBesideDelete writes an object while the only other object in its folder is deleted.
func TestPutBesideDelete(t *testing.T) {
	t.Parallel()
	p := directory.Place{Dir: t.TempDir()}
	var g sync.WaitGroup
	for _, name := range []string{"a/1", "a/2"} {
		g.Go(func() {
			for range 300 {
				if err := errors.Join(p.Put(t.Context(), name, nil), p.Delete(t.Context(), name)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	g.Wait()
}

// TestReplace checks that a file is replaced atomically with its mode, and that a failure leaves no temporary file.
func TestReplace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "new", "file")
	for _, text := range []string{"long text", "short"} {
		must.OK(t, directory.Replace(path, []byte(text), 0o640))
		info, err := os.Stat(path)
		must.OK(t, err)
		if b, err := os.ReadFile(path); err != nil || string(b) != text || info.Mode() != 0o640 {
			t.Errorf("%q, %v, %v", b, info.Mode(), err)
		}
	}
	must.OK(t, os.MkdirAll(filepath.Join(dir, "full", "file", "x"), 0o700))
	if err := directory.Replace(filepath.Join(dir, "full", "file"), nil, 0o600); err == nil {
		t.Error("a directory was replaced")
	}
	if list, err := os.ReadDir(filepath.Join(dir, "full")); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}

// TestListAfter checks the function ListAfter, which lists only the names after a given name. The result must
// contain the same later names as a full list. ListAfter must not read folders that sort before the name.
func TestListAfter(t *testing.T) {
	t.Parallel()
	p := directory.Place{Dir: t.TempDir()}
	for _, name := range []string{"log/a/1", "log/a/2", "log/a-b/1", "log/b/1", "log/b/2/x", "log/c", "other/z"} {
		must.OK(t, p.Put(t.Context(), name, nil))
	}
	all := names(t, p, "log/")
	for _, after := range append(all, "", "log/a/", "log/b", "log/b/", "log/b/2/", "log/zz", "a", "z") {
		var got, want []string
		for o, err := range objects.ListAfter(t.Context(), p, "log/", after) {
			must.OK(t, err)
			got = append(got, o.Name)
		}
		for _, name := range all {
			if name > after {
				want = append(want, name)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("after %q: %q, want %q", after, got, want)
		}
	}
	must.OK(t, os.Chmod(filepath.Join(p.Dir, "log", "a"), 0))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(p.Dir, "log", "a"), 0o700) })
	for _, err := range objects.ListAfter(t.Context(), p, "log/", "log/b/") {
		must.OK(t, err)
	}
}

// TestSameError checks that an error names the object and not the temporary file, so that repeated attempts give the
// same error.
func TestSameError(t *testing.T) {
	t.Parallel()
	p := directory.Place{Dir: t.TempDir()}
	name := strings.Repeat("n", 250) // the name of the temporary file is longer than the file system permits
	first, second := p.Put(t.Context(), name, nil), p.Put(t.Context(), name, nil)
	if first == nil || second == nil || first.Error() != second.Error() {
		t.Errorf("%v, then %v", first, second)
	}
}
