package workerskv_test

import (
	"errors"
	"fmt"
	"testing"

	"edgetable/adapters/store/workerskv"
	"edgetable/core/table"
)

// A store that is given what another remembers knows what that one wrote, though
// KV does not show it yet, and issues no Timestamp again.
func TestHandOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	clock := steady()
	first := w.isolate(clock, workerskv.Options{SingleWriter: true})
	w.create(first, 1)
	var written []table.Mutation
	for i := range 20 {
		m := number(fmt.Sprint("p", i%3), fmt.Sprint(i), int32(i))
		m.Condition = table.Absent
		batch := []table.Mutation{m}
		if i%2 == 0 {
			n := number(fmt.Sprint("p", i%3), fmt.Sprint(i, "b"), int32(i))
			batch = append(batch, n)
		}
		if _, err := first.Commit(t.Context(), tableName, batch); err != nil {
			t.Fatal(err)
		}
		written = append(written, m)
	}
	gone := table.Mutation{Key: written[1].Key, Kind: table.Delete, Condition: table.Present}
	last, err := first.Commit(t.Context(), tableName, []table.Mutation{gone})
	if err != nil {
		t.Fatal(err)
	}
	second := w.isolate(clock, workerskv.Options{SingleWriter: true})
	for _, m := range first.Memos() {
		second.Remember(m)
	}
	for i, m := range written {
		_, err := second.Get(t.Context(), tableName, m.Key, table.Strong)
		if i == 1 {
			if !errors.Is(err, table.ErrNoEntity) {
				t.Errorf("what was deleted: %v", err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", m.Key, err)
		}
		if _, err := second.Commit(t.Context(), tableName, []table.Mutation{m}); !errors.Is(err, table.ErrExists) {
			t.Errorf("%q is inserted again: %v", m.Key, err)
		}
	}
	if at, err := second.Commit(t.Context(), tableName, []table.Mutation{number("q", "0", 0)}); err != nil || at <= last {
		t.Errorf("behind %d comes %d, %v", last, at, err)
	}
	if a, b := len(first.Memos()), len(second.Memos()); b <= a {
		t.Errorf("%d memos, then %d", a, b)
	}
	w.settle()
	if n := len(second.Memos()); n != 0 {
		t.Errorf("after all is settled there are %d memos", n)
	}
}
