package workerskv_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"edgetable/adapters/store/workerskv"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// However much there is in a journal, a write makes no more calls than an
// invocation has, and in the end all is where it belongs.
func TestLargeJournalIsTidiedInParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	s := w.isolate(steady(), workerskv.Options{SingleWriter: true, Memory: 64 << 20})
	w.create(s, 1)
	const batches, rows = 10, 100
	for i := range batches {
		m := make([]table.Mutation, rows)
		for j := range m {
			m[j] = number("p", fmt.Sprint(i, "-", j), 1)
			m[j].Properties = edm.AppendProperty(m[j].Properties, "b", edm.Binary(make([]byte, 5000)))
		}
		if _, err := s.Commit(t.Context(), tableName, m); err != nil {
			t.Fatal(err)
		}
	}
	name := func(i, j int) string {
		return workerskv.EntityName(1, key.Append(nil, "p", fmt.Sprint(i, "-", j)))
	}
	moved := func() (n int) {
		for i := range batches {
			for j := range rows {
				n += w.cloud.left(name(i, j))
			}
		}
		return n
	}
	for turn := 0; moved() < batches*rows; turn++ {
		w.settle()
		before := w.cloud.calls + w.cloud.gets + w.cloud.lists
		if _, err := s.Commit(t.Context(), tableName, []table.Mutation{number("p", "other", 1)}); err != nil {
			t.Fatal(err)
		}
		if calls := w.cloud.calls + w.cloud.gets + w.cloud.lists - before; calls > 500 {
			t.Fatalf("a write made %d calls", calls)
		}
		if turn > 100 {
			t.Fatalf("%d of %d are where they belong", moved(), batches*rows)
		}
	}
}

// A row of a journal is not written over an entity of which it is not known what
// became of the last write: what was seen of that stays.
func TestUnknownIsNotTidiedAway(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		w := newWorld(t, seed)
		s := w.isolate(steady(), workerskv.Options{SingleWriter: true})
		w.create(s, 1)
		commit := func(m ...table.Mutation) error {
			_, err := s.Commit(t.Context(), tableName, m)
			return err
		}
		seen := func() int64 {
			row, err := s.Get(t.Context(), tableName, key.Append(nil, "p", "r"), table.Strong)
			if err != nil {
				t.Fatal(err)
			}
			v, _ := row.Properties.Lookup("n")
			return v.Int()
		}
		if err := commit(number("p", "r", 1), number("p", "s", 1)); err != nil {
			t.Fatal(err)
		}
		w.wait(100 * time.Second)
		if err := commit(number("p", "r", 2)); err != nil { // in the journal, as the transaction is fresh
			t.Fatal(err)
		}
		w.wait(90 * time.Second)
		faults := []error{errLost, workerskv.ErrRefused, workerskv.ErrRefused}
		w.cloud.fault = func(name string) (error, bool) {
			if name != workerskv.EntityName(1, key.Append(nil, "p", "r")) || len(faults) == 0 {
				return nil, false
			}
			err := faults[0]
			faults = faults[1:]
			return err, errors.Is(err, errLost)
		}
		if err := commit(number("p", "r", 3)); !errors.Is(err, table.ErrUnknown) {
			t.Fatal(err)
		}
		for seen() != 3 {
			w.wait(time.Second)
		}
		w.wait(31 * time.Second) // the row is due
		for range 3 {
			if err := commit(number("p", "other", 1)); err != nil {
				t.Fatal(err)
			}
			w.wait(2 * time.Second)
		}
		w.settle()
		if n := seen(); n != 3 {
			t.Errorf("seed %d: 3 was seen, now there is %d", seed, n)
		}
	}
}

// Journals of which nothing is left but deletes take a page as many calls as it
// has, and no more.
func TestPageOfDeletes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.cloud.stale, w.cloud.cursed = false, false
	o := workerskv.Options{SingleWriter: true, Calls: 8}
	s := w.isolate(steady(), o)
	w.create(s, 1)
	const partitions, rows = 40, 30
	for i := range partitions {
		m := make([]table.Mutation, rows)
		for j := range m {
			m[j] = number(fmt.Sprintf("p%02d", i), fmt.Sprintf("row %d", j), 1)
		}
		if _, err := s.Commit(t.Context(), tableName, m); err != nil {
			t.Fatal(err)
		}
		w.wait(2 * time.Second)
		for j := range m {
			m[j].Kind, m[j].Condition, m[j].Properties = table.Delete, table.Present, nil
		}
		if _, err := s.Commit(t.Context(), tableName, m); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Commit(t.Context(), tableName, []table.Mutation{number("q", "r", 1)}); err != nil {
		t.Fatal(err)
	}
	w.settle()
	s = w.isolate(steady(), o)
	found, pages := 0, 0
	before := w.cloud.gets + w.cloud.lists
	for page := range w.pages(s, table.ScanRequest{Ranges: []key.Range{{}}}) {
		if calls := w.cloud.gets + w.cloud.lists - before; calls > 12 {
			t.Fatalf("a page of 8 calls made %d", calls)
		}
		found += len(page.Rows)
		if pages++; pages == partitions {
			break
		}
		before = w.cloud.gets + w.cloud.lists
	}
	if found != 1 {
		t.Errorf("of one entity %d are found", found)
	}
}

// To come to a few rows behind many takes few lists.
func TestFewRowsBehindMany(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.cloud.stale, w.cloud.cursed = false, false
	s := w.isolate(steady(), workerskv.Options{})
	w.create(s, 1)
	for i := range 2000 {
		if _, err := s.Commit(t.Context(), tableName, []table.Mutation{number("p", fmt.Sprint(1000+i), 1)}); err != nil {
			t.Fatal(err)
		}
	}
	w.settle()
	before := w.cloud.lists
	page, err := s.Scan(t.Context(), tableName, table.ScanRequest{
		Ranges: []key.Range{{Start: key.RowFrom("p", "2900"), End: key.PartitionAfter("p")}}, Rows: 1,
	})
	if err != nil || len(page.Rows) != 1 {
		t.Fatal(len(page.Rows), err)
	}
	if lists := w.cloud.lists - before; lists > 4 {
		t.Errorf("a row behind 1,900 others took %d lists", lists)
	}
}

// slow is KV that takes a second for a list of ten names.
type slow struct {
	workerskv.Namespace
	wait func(time.Duration)
}

func (s slow) List(ctx context.Context, prefix, cursor string, limit int) ([]workerskv.Key, string, error) {
	s.wait(time.Second)
	return s.Namespace.List(ctx, prefix, cursor, min(limit, 10))
}

// A page whose time is over ends, even if it has come to nothing yet, and the next
// goes on from there.
func TestPageOfSlowLists(t *testing.T) {
	t.Parallel()
	for _, single := range []bool{false, true} {
		w := newWorld(t, 1)
		w.cloud.stale, w.cloud.cursed = false, false
		s := w.isolate(steady(), workerskv.Options{SingleWriter: single, Namespace: slow{w.cloud, w.wait}})
		w.create(s, 1)
		for i := range 500 {
			if _, err := s.Commit(t.Context(), tableName, []table.Mutation{number("p", fmt.Sprint(1000+i), 1)}); err != nil {
				t.Fatal(err)
			}
		}
		w.settle()
		found, pages := 0, 0
		begin := w.cloud.time
		for page := range w.pages(s, table.ScanRequest{
			Ranges:  []key.Range{{Start: key.RowFrom("p", "1499"), End: key.PartitionAfter("p")}},
			Expired: func() bool { return w.cloud.time > begin+5*edm.TicksPerSecond },
		}) {
			if pages++; pages > 21 {
				t.Fatal(pages)
			}
			if took := w.cloud.time - begin; took > 12*edm.TicksPerSecond {
				t.Fatalf("a page of 5 seconds took %d", took/edm.TicksPerSecond)
			}
			found += len(page.Rows)
			begin = w.cloud.time
		}
		if found != 1 {
			t.Errorf("of one row %d are found", found)
		}
	}
}
