package pebblestore_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// TestReserve fills a disk with a reserve file. It checks that reads and deletes work, that the store
// can be closed and opened, and that it accepts writes when there is space again.
func TestReserve(t *testing.T) {
	t.Parallel()
	const limit = 32 << 20
	disk := newQuota()
	if err := disk.MkdirAll("data", 0o700); err != nil {
		t.Fatal(err)
	}
	disk.setLimit(limit)
	var logged lines
	o := pebblestore.Options{
		Dir: "data", FS: disk, DiskReserve: 1 << 30, Logf: logged.printf,
		Fatal: func(err error) { t.Errorf("fatal: %v", err) },
	}.Small()
	s, err := pebblestore.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	reserve := func() int64 {
		f, err := disk.Stat("data/RESERVE")
		if err != nil {
			return 0
		}
		return f.Size()
	}
	if reserve() != limit/16 {
		t.Fatalf("the reserve has %d bytes", reserve())
	}

	stored := 0 // counts the entities until the disk is full; the free space is measured after every 20 writes, not each second
	for err = nil; err == nil; stored++ {
		if stored%20 == 0 {
			s.Measure()
			if s.FeedsFillIt() && !s.Full() {
				t.Fatalf("after %d entities feeds are said to fill the disk", stored)
			}
		}
		_, err = s.Commit(t.Context(), people, []table.Mutation{bulky(stored)})
	}
	if stored--; !errors.Is(err, table.ErrFull) || stored < 100 {
		t.Fatalf("after %d entities: %v", stored, err)
	}
	refused := func() {
		t.Helper()
		before := s.Metrics().RefusedForSpace
		if err := create(t.Context(), s); !errors.Is(err, table.ErrFull) {
			t.Errorf("create: %v", err)
		}
		delete := bulky(stored - 1)
		delete.Kind = table.Delete
		if _, err := s.Commit(t.Context(), people, []table.Mutation{delete, bulky(stored - 1)}); !errors.Is(err, table.ErrFull) {
			t.Errorf("a batch of a delete and an insert: %v", err)
		}
		if err := s.Ready(); !errors.Is(err, table.ErrFull) {
			t.Errorf("Ready: %v", err)
		}
		if m := s.Metrics(); m.RefusedForSpace != before+2 || !m.Full || m.DiskTotal == 0 {
			t.Errorf("%+v", m)
		}
	}
	refused()

	// Another program fills the rest of the disk. From now on, only the reserve file has space for writes.
	disk.setLimit(disk.used()) // the number of used bytes includes the reserve file
	for i := range 20 {
		m := bulky(i)
		m.Kind, m.Properties = table.Delete, nil
		if _, err := s.Commit(t.Context(), people, []table.Mutation{m}); err != nil {
			t.Fatalf("delete %d on a full disk: %v", i, err)
		}
	}
	s.Measure()
	refused()
	for i := range stored {
		if _, err := s.Get(t.Context(), people, bulky(i).Key, table.Strong); errors.Is(err, table.ErrNoEntity) != (i < 20) || i >= 20 && err != nil {
			t.Fatalf("entity %d: %v", i, err)
		}
	}
	page, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: []key.Range{{}}})
	if err != nil || len(page.Rows) != stored-20 {
		t.Fatalf("a scan has %d of %d rows: %v", len(page.Rows), stored-20, err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}

	// On a nearly full disk, a store refuses writes as soon as it is open.
	if s, err = pebblestore.Open(o); err != nil {
		t.Fatal(err)
	}
	refused()
	disk.setLimit(2 * limit)
	s.Measure()
	if _, err := s.Commit(t.Context(), people, []table.Mutation{bulky(0)}); err != nil {
		t.Errorf("with space again: %v", err)
	}
	if err := s.Ready(); err != nil {
		t.Errorf("Ready: %v", err)
	}
	if reserve() == 0 || s.Metrics().Full {
		t.Errorf("the reserve has %d bytes, %+v", reserve(), s.Metrics())
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	for text, times := range map[string]int{"is nearly full": 1, "is full": 2, // one message from each of the two stores
		"has space again": 1} {
		if n := logged.count(text); n != times {
			t.Errorf("the log says %d times %q, expected %d", n, text, times)
		}
	}

	o.DiskReserve = 0
	s = open(t, o)
	if reserve() != 0 {
		t.Error("a reserve that is not wanted is kept")
	}
	if _, err := s.Commit(t.Context(), people, []table.Mutation{bulky(0)}); err != nil {
		t.Error(err)
	}
}

// bulky returns an entity of about 10 KiB that cannot be compressed.
func bulky(i int) table.Mutation {
	b := make([]byte, 10<<10)
	rand.NewChaCha8([32]byte{byte(i), byte(i >> 8)}).Read(b)
	return table.Mutation{
		Key:        key.Append(nil, "bulky", fmt.Sprintf("%06d", i)),
		Properties: edm.AppendProperty(nil, "Bytes", edm.Binary(b)),
	}
}

// lines collects the lines that a store has logged.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) printf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, fmt.Sprintf(format, args...))
}

func (l *lines) count(text string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.all {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}
