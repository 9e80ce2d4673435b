package repository_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"edgetable/adapters/backup/repository"
	"edgetable/core/objects"
)

// watched is a backup location that calls get before each read of a part.
type watched struct {
	objects.Place
	get func(name string)
}

func (w watched) Get(ctx context.Context, name string) ([]byte, error) {
	if strings.HasPrefix(name, "objects/") {
		w.get(name)
	}
	return w.Place.Get(ctx, name)
}

// copyDir copies the directory of a running restore. The copy is like the directory after a kill of the
// restore.
func copyDir(t *testing.T, from, to string) {
	t.Helper()
	entries, err := os.ReadDir(from)
	if err == nil {
		err = os.Mkdir(to, 0o700)
	}
	for _, e := range entries {
		path := filepath.Join(to, e.Name())
		info, statErr := os.Stat(filepath.Join(from, e.Name())) // before ReadFile, so that incomplete content does not get the time of the complete file
		b, readErr := os.ReadFile(filepath.Join(from, e.Name()))
		if statErr != nil || readErr != nil {
			t.Fatal(statErr, readErr)
		}
		if err == nil {
			err = os.WriteFile(path, b, 0o600)
		}
		if err == nil {
			err = os.Chtimes(path, info.ModTime(), info.ModTime())
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestRestoreContinues copies the directory of a restore before each read of a part, as if the restore had been
// killed at this point. A second restore to each copy must write the whole backup.
func TestRestoreContinues(t *testing.T) {
	t.Parallel()
	w, place := newWorld(6), newShelf()
	for range 3 {
		w.change()
		// A restore reads this object last, after all other files are complete, even if the other files
		// are written slowly.
		w.files["marker.format"] = content{[]byte("x"), w.now}
		if _, err := w.create(t, t.Context(), place); err != nil {
			t.Fatal(err)
		}
	}
	r := repository.New(place)
	newest, err := r.NewestState(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	m := newest.Backup
	root := t.TempDir()
	first := filepath.Join(root, "first")
	var mu sync.Mutex
	kills, all := 0, 0
	whole := watched{place, func(string) {
		mu.Lock()
		defer mu.Unlock()
		copyDir(t, first, filepath.Join(root, fmt.Sprint("killed", kills)))
		kills++
	}}
	if err := repository.New(whole).Restore(t.Context(), m, first, nil, func(int64, int64) { all++ }); err != nil {
		t.Fatal(err)
	}
	fewest := kills
	for n := range kills {
		dir := filepath.Join(root, fmt.Sprint("killed", n))
		gets := 0
		continued := watched{place, func(string) {
			mu.Lock()
			gets++
			mu.Unlock()
		}}
		if err := repository.New(continued).Restore(t.Context(), m, dir, nil, func(int64, int64) {}); err != nil {
			t.Fatalf("killed at %d: %v", n, err)
		}
		w.same(t, m, dir)
		fewest = min(fewest, gets)
	}
	if fewest >= kills {
		t.Errorf("each run reads all of %d parts again", kills)
	}
	// Restore must not change a directory that contains the whole backup or other files.
	if err := r.Restore(t.Context(), m, first, nil, func(int64, int64) {}); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("a complete restore: %v", err)
	}
	w.same(t, m, first)
	older, err := r.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	part := filepath.Join(root, "part")
	if err := os.Mkdir(part, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(part, "restore.unfinished"), []byte(m.ID+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.Restore(t.Context(), older.Complete[0], part, nil, func(int64, int64) {}); err == nil || !strings.Contains(err.Error(), "--backup "+m.ID) {
		t.Errorf("another backup: %v", err)
	}
	server := filepath.Join(part, "000999.log")
	for _, path := range []string{filepath.Join(part, "LOCK"), server} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Restore(t.Context(), m, part, nil, func(int64, int64) {}); err == nil || !strings.Contains(err.Error(), "it holds 000999.log") {
		t.Errorf("a directory that a server has used: %v", err)
	}
	if err := os.Remove(server); err != nil {
		t.Fatal(err)
	}
	if err := r.Restore(t.Context(), m, part, nil, func(int64, int64) {}); err != nil {
		t.Errorf("a directory that a command has tried to open: %v", err)
	}
	if err := os.Remove(filepath.Join(part, "LOCK")); err != nil {
		t.Error(err)
	}
	w.same(t, m, part)
}
