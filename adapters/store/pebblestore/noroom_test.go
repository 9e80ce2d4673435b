package pebblestore_test

import (
	"errors"
	"testing"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/key"
	"edgetable/core/table"
)

// TestNoRoom fills the disk completely with files of other programs. It checks that reads and scans
// work. While a delete waits for space, other deletes must be refused, and reads must show the
// state before this delete. When there is space again, all operations must work.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	disk := newQuota()
	if err := disk.MkdirAll("data", 0o700); err != nil {
		t.Fatal(err)
	}
	disk.setLimit(32 << 20)
	var logged lines
	s, err := pebblestore.Open(pebblestore.Options{
		Dir: "data", FS: disk, DiskReserve: 2 << 20, Logf: logged.printf,
		Fatal: func(err error) { t.Errorf("fatal: %v", err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	const stored = 20
	for i := range stored {
		if _, err := s.Commit(t.Context(), people, []table.Mutation{bulky(i)}); err != nil {
			t.Fatal(err)
		}
	}
	disk.setLimit(disk.used() - 2<<20) // too little space, even after the reserve file is removed
	for range 3 {
		s.Measure()
	}
	scan := func() (int, error) {
		page, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: []key.Range{{}}})
		return len(page.Rows), err
	}
	get := func(i int) error {
		_, err := s.Get(t.Context(), people, bulky(i).Key, table.Strong)
		return err
	}
	remove := func(i int) error {
		m := bulky(i)
		m.Kind, m.Properties = table.Delete, nil
		_, err := s.Commit(t.Context(), people, []table.Mutation{m})
		return err
	}
	if n, err := scan(); n != stored || err != nil {
		t.Errorf("no write waits: a scan has %d rows: %v", n, err)
	}

	waiting, stalled := make(chan error), s.Stalled()
	go func() { waiting <- remove(0) }()
	<-stalled // the delete now waits for space
	if err := remove(1); !errors.Is(err, table.ErrFull) {
		t.Errorf("a delete without room: %v", err)
	}
	if n, err := scan(); n != stored || err != nil {
		t.Errorf("a delete waits: a scan has %d rows: %v", n, err)
	}
	for i := range stored {
		if err := get(i); err != nil {
			t.Errorf("entity %d: %v", i, err)
		}
	}
	if n := logged.count("has space again"); n != 0 {
		t.Errorf("the log says %d times that there is space", n)
	}

	disk.makeSpace()
	waitForSpace(s)
	if err := <-waiting; err != nil {
		t.Errorf("the delete that waited: %v", err)
	}
	if err := remove(1); err != nil {
		t.Errorf("a delete with space again: %v", err)
	}
	if n, err := scan(); n != stored-2 || err != nil {
		t.Errorf("with space again: a scan has %d rows: %v", n, err)
	}
	if n := logged.count("has space again"); n != 1 {
		t.Errorf("the log says %d times that there is space", n)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
