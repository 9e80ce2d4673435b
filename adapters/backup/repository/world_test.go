package repository_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"filippo.io/age"

	"edgetable/adapters/backup/repository"
	"edgetable/core/objects"
)

// world is a data directory that changes, and the expected contents of its backups.
type world struct {
	rand     *rand.Rand
	files    map[string]content
	number   int
	now      time.Time
	keys     []string
	with     []age.Identity
	begun    []string                      // ids of the backup runs that began after the last complete backup
	expected map[string]map[string]content // expected files of each backup
}

type content struct {
	bytes    []byte
	modified time.Time
}

func newWorld(seed uint64) *world {
	w := &world{
		rand: rand.New(rand.NewPCG(seed, 0)), files: map[string]content{},
		now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), expected: map[string]map[string]content{},
	}
	w.change()
	return w
}

// encrypted gives w a new key, so that all later backups of w are encrypted. It returns w.
func (w *world) encrypted(t *testing.T) *world {
	key, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	w.keys, w.with = []string{key.Recipient().String()}, []age.Identity{key}
	return w
}

// change writes and removes some files, as flushes and compactions do. There are only four possible contents, so
// files with equal content are frequent.
func (w *world) change() {
	w.now = w.now.Add(time.Hour)
	names := slices.Sorted(maps.Keys(w.files))
	for _, name := range names {
		if w.rand.IntN(3) == 0 {
			delete(w.files, name)
		}
	}
	for range 1 + w.rand.IntN(3) {
		w.number++
		w.files[fmt.Sprintf("%06d.sst", w.number)] = content{bytes.Repeat([]byte{byte(w.rand.IntN(4))}, 100), w.now}
	}
	w.files["marker.manifest.000001"] = content{nil, w.now}
}

// create makes a backup of the current files.
func (w *world) create(t *testing.T, ctx context.Context, place objects.Place) (*repository.Manifest, error) {
	staged := filepath.Join(t.TempDir(), "staged")
	var id string
	m, err := repository.New(place).Create(ctx, repository.Source{
		Store: "this", From: "here", Program: "test", Keys: w.keys, Interrupted: slices.Clone(w.begun),
		Snapshot: func(context.Context) (string, *repository.LogSpan, error) { return staged, nil, stage(staged, w.files) },
		Check:    func(string) error { return nil },
		Begin: func(run string) error {
			id = run
			w.expected[id] = maps.Clone(w.files)
			w.begun = append(w.begun, id)
			return nil
		},
		Progress: func(int64, int64) {},
		Now:      func() time.Time { return w.now },
	})
	if err == nil {
		w.begun = nil
	}
	return m, err
}

func stage(dir string, files map[string]content) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	for name, c := range files {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, c.bytes, 0o600); err != nil {
			return err
		}
		if err := os.Chtimes(path, c.modified, c.modified); err != nil {
			return err
		}
	}
	return nil
}

// check verifies that each listed backup is complete.
func (w *world) check(t *testing.T, place objects.Place) *repository.Backups {
	t.Helper()
	r := repository.New(place)
	all, err := r.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Damaged) > 0 {
		t.Fatalf("damaged: %v", all.Damaged)
	}
	report, err := r.Verify(t.Context(), all.Complete, w.with, func(int64, int64) {})
	if err != nil || len(report.Problems) > 0 {
		t.Fatalf("verify: %v, %+v", err, report)
	}
	return all
}

// restored verifies that a restore of the newest backup returns the files as they were at the time of the
// backup.
func (w *world) restored(t *testing.T, place objects.Place) {
	t.Helper()
	r := repository.New(place)
	newest, err := r.NewestState(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	m := newest.Backup
	dir := filepath.Join(t.TempDir(), "restored")
	if err := r.Restore(t.Context(), m, dir, w.with, func(int64, int64) {}); err != nil {
		t.Fatal(err)
	}
	w.same(t, m, dir)
	os.RemoveAll(dir)
}

// same verifies that a directory has exactly the files of a backup.
func (w *world) same(t *testing.T, m *repository.Manifest, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := w.expected[m.ID]
	if len(entries) != len(want) {
		t.Fatalf("%s has %d files, want %d", m.ID, len(entries), len(want))
	}
	for name, c := range want {
		path := filepath.Join(dir, name)
		b, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(b, c.bytes) {
			t.Fatalf("%s of %s is not as it was: %v", name, m.ID, err)
		}
		if info, err := os.Stat(path); err != nil || !info.ModTime().Equal(c.modified) {
			t.Fatalf("%s of %s has another time", name, m.ID)
		}
	}
}

func (w *world) prune(ctx context.Context, place objects.Place, last int) (*repository.Pruned, error) {
	return repository.New(place).Prune(ctx, repository.Pruning{Retention: repository.Retention{Last: last}, Now: w.now})
}
