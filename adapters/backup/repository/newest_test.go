package repository_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"edgetable/adapters/backup/repository"
)

// TestNewestDamaged checks that a damaged newest backup causes an error, and that no older backup is used instead.
func TestNewestDamaged(t *testing.T) {
	t.Parallel()
	w, place := newWorld(3), newShelf()
	var ids []string
	for range 2 {
		w.change()
		m, err := w.create(t, t.Context(), place)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, m.ID)
	}
	r := repository.New(place)
	place.objects["backups/"+ids[1]][200] ^= 1
	if m, err := r.NewestState(t.Context(), ""); err == nil || !strings.Contains(err.Error(), ids[1]) {
		t.Errorf("the newest backup: %v, %v", m, err)
	}
	if m, err := r.Find(t.Context(), ids[0]); err != nil || m.ID != ids[0] {
		t.Errorf("the older backup: %v, %v", m, err)
	}
	if m, err := r.Newest(t.Context()); err != nil || m.ID != ids[0] {
		t.Errorf("the newest backup that can be read: %v, %v", m, err)
	}
	place.objects["backups/"+ids[0]][200] ^= 1
	if m, err := r.NewestState(t.Context(), ""); err == nil || !strings.Contains(err.Error(), ids[1]) {
		t.Errorf("if all are damaged: %v, %v", m, err)
	}
}

// TestNewerFormat checks that a backup location with a newer format is refused and not changed.
func TestNewerFormat(t *testing.T) {
	t.Parallel()
	w, place := newWorld(4), newShelf()
	if _, err := w.create(t, t.Context(), place); err != nil {
		t.Fatal(err)
	}
	format := []byte("edgetable backup 2, blake3 00\n{}")
	place.objects["format"] = bytes.Clone(format)
	w.change()
	_, err := w.create(t, t.Context(), place)
	if err == nil || !strings.Contains(err.Error(), "newer edgetable") || strings.Contains(err.Error(), "contains other files") {
		t.Error(err)
	}
	if !bytes.Equal(place.objects["format"], format) {
		t.Errorf("the format is now %q", place.objects["format"])
	}
}

// TestRemovedAtItsEnd removes a backup while the run that makes this backup writes the manifest. The run has
// already checked for the last time that the backup still exists. If the write is retried for a long time, this
// can happen.
func TestRemovedAtItsEnd(t *testing.T) {
	t.Parallel()
	w, place := newWorld(5), newShelf()
	_, err := w.create(t, t.Context(), putter{place, func(name string) error {
		if id, ok := strings.CutPrefix(name, "backups/"); ok {
			_, err := repository.New(place).Prune(t.Context(), repository.Pruning{Remove: []string{id}, Now: w.now})
			return err
		}
		return nil
	}})
	if err == nil || !strings.Contains(fmt.Sprint(err), "was removed") {
		t.Errorf("a backup without objects: %v", err)
	}
	w.check(t, place)
}

// TestManifestGone checks that a deleted manifest is reported as missing, unless the backup was removed. The objects
// of the backup must stay until an operator removes the backup.
func TestManifestGone(t *testing.T) {
	t.Parallel()
	w, place := newWorld(5), newShelf()
	var ids []string
	for range 3 {
		w.change()
		m, err := w.create(t, t.Context(), place)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, m.ID)
	}
	if _, err := w.prune(t.Context(), place, 2); err != nil {
		t.Fatal(err)
	}
	r := repository.New(place)
	damaged := func() (names []string) {
		t.Helper()
		all, err := r.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range all.Damaged {
			names = append(names, d.Object)
		}
		return names
	}
	if got := damaged(); got != nil {
		t.Errorf("a backup that was removed is missed: %q", got)
	}
	delete(place.objects, "backups/"+ids[2])
	if got := damaged(); len(got) != 1 || got[0] != "backups/"+ids[2] {
		t.Errorf("missed: %q, want the manifest of %s", got, ids[2])
	}
	if m, err := r.NewestState(t.Context(), ""); err == nil || !strings.Contains(err.Error(), ids[2]) {
		t.Errorf("the newest backup: %v, %v", m, err)
	}
	objects := place.count("objects/")
	if _, err := w.prune(t.Context(), place, 1); err == nil || !strings.Contains(err.Error(), "--remove "+ids[2]) {
		t.Errorf("prune: %v", err)
	}
	if n := place.count("objects/"); n != objects {
		t.Errorf("%d objects of %d stay", n, objects)
	}
	if _, err := r.Prune(t.Context(), repository.Pruning{Remove: ids[2:]}); err != nil {
		t.Error(err)
	}
	if got := damaged(); got != nil || place.count("names/") != 1 {
		t.Errorf("after its removal: %q, %d names", got, place.count("names/"))
	}
}

// TestAllManifestsGone checks that a prune with a rule removes nothing if all backups are lost, but their objects are not.
func TestAllManifestsGone(t *testing.T) {
	t.Parallel()
	w, place := newWorld(6), newShelf()
	if _, err := w.prune(t.Context(), place, 1); !errors.Is(err, repository.ErrNone) {
		t.Errorf("an empty location: %v", err)
	}
	if _, err := w.create(t, t.Context(), place); err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(place.objects, func(name string, _ []byte) bool {
		return strings.HasPrefix(name, "backups/") || strings.HasPrefix(name, "names/")
	})
	objects := place.count("objects/")
	if done, err := w.prune(t.Context(), place, 1); err == nil || !strings.Contains(err.Error(), "not a single backup") {
		t.Errorf("%+v, %v", done, err)
	}
	if n := place.count("objects/"); n != objects || n == 0 {
		t.Errorf("%d objects of %d stay", n, objects)
	}
	w.begun = nil
	if _, err := w.create(t, t.Context(), place); err != nil {
		t.Fatal(err)
	}
	if done, err := w.prune(t.Context(), place, 1); err != nil || done.Objects != objects {
		t.Errorf("after a new backup: %+v, %v", done, err)
	}
}
