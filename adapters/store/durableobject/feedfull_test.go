package durableobject_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// fullSize is the smallest size at which an object is full.
const fullSize = 9_800_000_001

// This method makes each object with entities report a size above the permitted size. The parameter is the
// difference in bytes. If the parameter is 0, the size of an object is the size of its rows.
func (w *ranges) fill(by int64) {
	for _, n := range w.all() {
		if strings.HasPrefix(n.id.Name, "catalog/") {
			continue
		}
		n.evict() // an object that was restarted checks the size with its next write
		if n.rows.Beside = 0; by > 0 {
			n.rows.Beside = fullSize - n.rows.Size() + by - 1
		}
	}
}

// insert inserts entities of a partition in one batch.
func (w *ranges) insert(rows ...string) error {
	var list []table.Mutation
	for _, r := range rows {
		list = append(list, table.Mutation{Key: at("p", r), Condition: table.Absent, Nonce: uint64(len(list)) + 1, Properties: edm.AppendProperty(nil, "v", edm.Int32(1))})
	}
	_, err := w.store.Commit(w.t.Context(), tableKey, list)
	return err
}

// fiveDays writes an entity on each of five days, and returns the position before each write.
func (w *ranges) fiveDays() (before []*table.FeedPosition) {
	w.t.Helper()
	w.feeding(9)
	var at *table.FeedPosition
	for i := range 5 {
		if _, err := w.changes(&at); err != nil {
			w.t.Fatal(err)
		}
		p := *at
		before = append(before, &p)
		w.put("p", string(rune('a'+i)))
		w.clock.t += day
	}
	return before
}

// TestFeedOfFullObject checks that a full object removes the oldest days of its feed before it refuses a write: as
// many days as it needs, but never the last day. A client that had not read these days gets the error of an expired
// position.
func TestFeedOfFullObject(t *testing.T) {
	t.Parallel()
	w := newRanges(t, 1, 0, 0)
	before := w.fiveDays()
	w.fill(1)
	if err := w.insert("x"); err != nil {
		t.Fatal(err)
	}
	for i, p := range before {
		at := *p
		next := &at
		list, err := w.changes(&next)
		switch {
		case i == 0 && !errors.Is(err, table.ErrFeedExpired):
			t.Errorf("before the day that was removed: %q, %v", list, err)
		case i > 0 && (err != nil || len(list) != 6-i):
			t.Errorf("before day %d: %q, %v", i, list, err)
		}
	}
	w.fill(1 << 20) // more than the size of the feed in bytes
	refused, ok := errors.AsType[*table.Refused](w.insert("y"))
	if !ok || !strings.Contains(refused.Err.Error(), "10 GB") {
		t.Errorf("when nothing helps: %v", refused)
	}
	if days, _ := w.days(); days != 1 {
		t.Errorf("%d days are left", days)
	}
	var oldest *table.FeedPosition
	if list, err := w.changes(&oldest); err != nil || !slices.Equal(list, []string{"put p/x "}) {
		t.Errorf("what is left: %q, %v", list, err)
	}
	w.fill(0)
	if err := w.insert("y"); err != nil {
		t.Error(err)
	}
	if list, err := w.changes(&oldest); err != nil || !slices.Equal(list, []string{"put p/y "}) {
		t.Errorf("when there is room again: %q, %v", list, err)
	}
}

// TestFeedOfFullObjectUndone checks a batch that removes a day of the feed and is then refused. The day must be
// restored, and be removed later when it is old.
func TestFeedOfFullObjectUndone(t *testing.T) {
	t.Parallel()
	w := newRanges(t, 1, 0, 0)
	before := w.fiveDays()
	w.fill(1)
	if err := w.insert("x", "a"); err == nil {
		t.Fatal("an entity is inserted twice")
	}
	w.clock.t -= day // the clock returns to the day of the last change
	for _, n := range w.all() {
		n.rows.Beside = 0
	}
	if list, err := w.changes(&before[0]); err != nil || len(list) != 5 {
		t.Errorf("after a batch that was refused: %q, %v", list, err)
	}
	if err := w.insert("y"); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		w.clock.t += day
		w.ring(w.clock.t)
	}
	if days, _ := w.days(); days != 0 {
		t.Errorf("%d days are left after weeks", days)
	}
}
