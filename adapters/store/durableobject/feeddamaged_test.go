package durableobject_test

import (
	"errors"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/table"
)

// TestFeedDamaged checks that a page fails if an object's answer ends within a line, or has a line of an unknown
// kind. A page with only the lines before the damage would have a position after changes that it does not contain.
func TestFeedDamaged(t *testing.T) {
	t.Parallel()
	w := newRanges(t, 1, 0, 0)
	w.feeding(3)
	for _, row := range []string{"a", "b", "c"} {
		w.put("p", row)
	}
	read := func(damage func(m []byte) []byte) (commits int, err error) {
		w.answered = func(c durableobject.Call, a durableobject.Answer) durableobject.Answer {
			if opOf(c) == message.OpLines {
				a.Message = damage(a.Message)
			}
			return a
		}
		page, err := w.store.Changes(t.Context(), tableKey, table.FeedRequest{Oldest: true})
		for _, c := range page.Commits {
			if len(c.At) == 0 {
				t.Error("a commit has no position")
			}
		}
		return len(page.Commits), err
	}
	var length, line int // length of an answer, and of a line in it; all lines have the same length
	if n, err := read(func(m []byte) []byte { length = len(m); return m }); n != 3 || err != nil {
		t.Fatal(n, err)
	}
	for cut := 1; line == 0; cut++ {
		n, err := read(func(m []byte) []byte { return m[:length-cut] })
		switch {
		case n == 2 && err == nil: // the answer ends between two lines, so the reader cannot notice that it is incomplete
			line = cut
		case n > 0 || !errors.Is(err, message.ErrDamaged):
			t.Fatalf("%d bytes less: %d commits, %v", cut, n, err)
		}
	}
	if line < 20 {
		t.Fatalf("a line of %d bytes", line)
	}
	for i := range 3 {
		n, err := read(func(m []byte) []byte {
			m[length-(i+1)*line] = 99 // a line of an unknown kind
			return m
		})
		if n > 0 || !errors.Is(err, message.ErrDamaged) {
			t.Errorf("line %d from the end: %d commits, %v", i, n, err)
		}
	}
}
