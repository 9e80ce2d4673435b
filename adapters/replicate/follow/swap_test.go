package follow

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/objects/directory"
	"edgetable/adapters/store/pebblestore"
	"edgetable/adapters/store/pebblestore/datadir"
	"edgetable/core/commitlog"
	"edgetable/core/edm"
	"edgetable/testdata/must"
)

// embedded is the kind of the embedded store, for [Kind.FinishSwap] and [Build].
var embedded = &Kind{HasStore: datadir.HasStore, CheckNew: pebblestore.CheckForeign, IsNoSpace: vfs.IsNoSpaceError, OwnsFile: datadir.IsStoreFile, Lock: datadir.Lock}

// fill makes a store in a directory. The last commit of the store has the given number.
func fill(t *testing.T, dir string, number int) {
	t.Helper()
	s, err := pebblestore.Open(pebblestore.Options{Dir: dir})
	must.OK(t, err)
	must.OK(t, s.Replay(t.Context(), commitlog.Position{Timeline: "0123456789abcdef", Number: edm.Ticks(1000 + number)}, nil))
	must.OK(t, s.Close())
}

// numberOf returns the number of the last commit of the store in a directory; 0 if there is no complete store.
func numberOf(t *testing.T, dir string) int {
	t.Helper()
	complete, err := embedded.FinishSwap(dir)
	must.OK(t, err)
	if Rebuilding(dir) == complete {
		t.Errorf("complete: %v, and the note says the opposite", complete)
	}
	if !complete {
		return 0
	}
	s, err := pebblestore.Open(pebblestore.Options{Dir: dir})
	must.OK(t, err)
	p, follows, err := s.Position()
	must.OK(t, err)
	must.OK(t, s.Close())
	if !follows {
		t.Error("it does not follow")
	}
	return int(p.Number - 1000)
}

// TestBuildInForeignDirectory checks that a secondary leaves a directory of another program, or with the log of a damaged
// store, alone. A swap would remove the files that have names like those of a store. Files that may precede the first start
// of a server are no obstacle.
func TestBuildInForeignDirectory(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]error{"archive": pebblestore.ErrForeign, "000004.log": pebblestore.ErrDamaged, "accounts": nil, "lost+found": nil, "admin.sock": nil} {
		dir := t.TempDir()
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte("text"), 0o600))
		f, err := Build(Options{Dir: dir, Kind: *embedded, Of: "place"}, func() (Source, error) { return Source{}, nil })
		if !errors.Is(err, want) || want == nil && f == nil {
			t.Errorf("%s: %v, %v", name, f, err)
		}
		if list, err := os.ReadDir(dir); err != nil || want != nil && len(list) != 1 {
			t.Errorf("%s: the directory contains %v, %v", name, list, err)
		}
	}
}

// TestSwap checks that one rename replaces a store by another one. After a kill at each step, the directory must
// have either the whole old store or the whole new one. Files that are not part of a store must stay unchanged.
func TestSwap(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		kill func(t *testing.T, dir string) // leaves the files of a process that was killed while it replaced the store
		want int
	}{
		{"it is being built", func(*testing.T, string) {}, 1},
		{"before the rename", func(t *testing.T, dir string) {
			must.OK(t, directory.Replace(filepath.Join(dir, rebuildNote), []byte(decided), 0o600))
		}, 1},
		{"after the rename", func(t *testing.T, dir string) { must.OK(t, commitSwap(dir)) }, 2},
		{"while the old files go", func(t *testing.T, dir string) {
			must.OK(t, commitSwap(dir))
			old, err := filepath.Glob(filepath.Join(dir, "*.log"))
			must.OK(t, err)
			for _, name := range old {
				must.OK(t, os.Remove(name))
			}
		}, 2},
		{"while the new files come", func(t *testing.T, dir string) {
			must.OK(t, commitSwap(dir))
			must.OK(t, embedded.removeStore(dir))
			must.OK(t, os.Mkdir(filepath.Join(dir, readyFolder, movingDir), 0o700))
			made, err := os.ReadDir(filepath.Join(dir, readyFolder))
			must.OK(t, err)
			for _, e := range made[:len(made)/2] {
				if embedded.OwnsFile(e.Name()) {
					must.OK(t, os.Rename(filepath.Join(dir, readyFolder, e.Name()), filepath.Join(dir, e.Name())))
				}
			}
		}, 2},
		{"before the note goes", func(t *testing.T, dir string) {
			must.OK(t, commitSwap(dir))
			must.OK(t, embedded.move(filepath.Join(dir, readyFolder), dir))
			must.OK(t, directory.Replace(filepath.Join(dir, rebuildNote), []byte(decided), 0o600))
			must.OK(t, os.RemoveAll(filepath.Join(dir, readyFolder)))
		}, 2},
		{"a program from before has begun a move", func(t *testing.T, dir string) {
			must.OK(t, directory.Replace(filepath.Join(dir, rebuildNote), []byte("s3://bucket/place\n"), 0o600))
			must.OK(t, embedded.removeStore(dir))
		}, 0},
		{"after what a program from before has left", func(t *testing.T, dir string) {
			must.OK(t, directory.Replace(filepath.Join(dir, rebuildNote), []byte("s3://bucket/place\n"), 0o600))
			must.OK(t, embedded.removeStore(dir))
			must.OK(t, commitSwap(dir))
		}, 2},
		{"with what an earlier swap has left", func(t *testing.T, dir string) {
			must.OK(t, os.MkdirAll(filepath.Join(dir, readyFolder, "some"), 0o700))
			must.OK(t, commitSwap(dir))
		}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			must.OK(t, os.WriteFile(filepath.Join(dir, "accounts"), []byte("text"), 0o600))
			fill(t, dir, 1)
			fill(t, filepath.Join(dir, newFolder), 2)
			tt.kill(t, dir)
			for range 2 {
				if got := numberOf(t, dir); got != tt.want {
					t.Errorf("the store is number %d, want %d", got, tt.want)
				}
			}
			if b, err := os.ReadFile(filepath.Join(dir, "accounts")); err != nil || string(b) != "text" {
				t.Errorf("the accounts are %q, %v", b, err)
			}
			if _, err := os.Stat(filepath.Join(dir, readyFolder)); err == nil {
				t.Error("a folder stays")
			}
		})
	}
}
