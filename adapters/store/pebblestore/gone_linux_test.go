package pebblestore_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/commitlog"
	"edgetable/core/table"
)

// TestDirectoryGoneDuringBackup replaces the data directory just before a backup moves commits from the log to data files. The
// store must create no file in the other directory. Otherwise the files would be missing when the data directory is back.
func TestDirectoryGoneDuringBackup(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	aside, backup := dir+".aside", dir+".backup"
	flushed := make(chan struct{}, 100)
	o := pebblestore.Options{Dir: dir, DiskReserve: 1 << 20, Fatal: func(err error) { t.Errorf("fatal: %v", err) }}
	s, err := pebblestore.Open(o.Flushed(func() { flushed <- struct{}{} }))
	if err == nil {
		err = create(t.Context(), s)
	}
	if err == nil {
		_, err = s.Commit(t.Context(), people, []table.Mutation{bulky(1)})
	}
	if err = errors.Join(err, os.Rename(dir, aside), os.Mkdir(dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the first backup notices what happened, and the second one knows it
		if err := s.Checkpoint(t.Context(), backup); !errors.Is(err, table.ErrBusy) {
			t.Errorf("a backup of a directory that is gone: %v", err)
		}
	}
	if err := s.Touch(t.Context()); !errors.Is(err, table.ErrBusy) {
		t.Errorf("an empty commit: %v", err)
	}
	if err := os.Remove(dir); err != nil { // it must still be empty
		t.Fatal(err)
	}
	if err := os.Rename(aside, dir); err != nil {
		t.Fatal(err)
	}
	s.Measure()
	<-flushed // the flush of the first backup, which has waited
	if err := errors.Join(s.Checkpoint(t.Context(), backup), s.Close()); err != nil {
		t.Errorf("a backup of a directory that is back: %v", err)
	}
}

// TestDirectoryGone removes or replaces the data directory of an open store. The store must refuse all writes, and must
// not say that the disk is full. It must log each change once, create no file in another directory, and accept writes
// again when the directory is back.
func TestDirectoryGone(t *testing.T) {
	t.Parallel()
	for _, another := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "data")
		aside := dir + ".aside"
		var logged lines
		s, err := pebblestore.Open(pebblestore.Options{
			Dir: dir, DiskReserve: 1 << 20, Logf: logged.printf, Fatal: func(err error) { t.Errorf("fatal: %v", err) },
		})
		if err == nil {
			err = create(t.Context(), s)
		}
		if err != nil {
			t.Fatal(err)
		}
		move := func() {
			t.Helper()
			err := os.Rename(dir, aside)
			if another {
				err = errors.Join(err, os.Mkdir(dir, 0o700))
			}
			if err != nil {
				t.Fatal(err)
			}
			s.Measure()
			s.Measure()
		}
		move()
		for _, kind := range []table.Kind{table.Put, table.Delete} {
			m := bulky(1)
			m.Kind = kind
			if _, err := s.Commit(t.Context(), people, []table.Mutation{m}); !errors.Is(err, table.ErrBusy) {
				t.Errorf("a write of kind %v: %v", kind, err)
			}
		}
		if err := s.ChangeTimeline(func(t *commitlog.Timeline) { t.Next = "next" }); !errors.Is(err, table.ErrBusy) {
			t.Errorf("a change of the timeline: %v", err)
		}
		err = s.Ready()
		if r, ok := errors.AsType[interface {
			error
			RefusesWrites() string
		}](err); !ok || r.RefusesWrites() != "the data directory "+dir+" was removed or replaced, so only its open files can be read" {
			t.Errorf("Ready: %v", err)
		}
		if n := s.Metrics().RefusedForSpace; n != 0 || s.Full() {
			t.Errorf("refused for space: %d, full: %v", n, s.Full())
		}
		if another {
			if err := os.Remove(dir); err != nil { // it must still be empty
				t.Fatal(err)
			}
		}
		if err := os.Rename(aside, dir); err != nil {
			t.Fatal(err)
		}
		s.Measure()
		if _, err := s.Commit(t.Context(), people, []table.Mutation{bulky(1)}); err != nil {
			t.Errorf("a write to the directory that is back: %v", err)
		}
		move()
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if files, err := os.ReadDir(dir); len(files) > 0 || another && err != nil {
			t.Errorf("files in another directory: %v, %v", files, err)
		}
		if removed, back := logged.count("was removed or replaced"), logged.count("is back"); removed != 2 || back != 1 || len(logged.all) != 3 {
			t.Errorf("the log: %q", logged.all)
		}
	}
}
