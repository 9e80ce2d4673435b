package pebblestore

import (
	"context"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// TestSettledOrder checks which commits reads must hide after one commit is synced: all except this commit and
// those that are certainly before it in the log. If the commit is canceled instead of synced, all other
// commits stay hidden.
func TestSettledOrder(t *testing.T) {
	const synced, canceled = true, false
	var a, b stripe
	catalog := (*stripe)(nil)
	for _, test := range []struct {
		name    string
		commits []*stripe
		done    int // index of the commit that is synced or canceled
		how     bool
		hidden  []int // indexes of the commits that reads must hide
		catalog bool  // reads must use the snapshot that was taken before the catalog change
	}{
		{"the last of a stripe", []*stripe{&a, &a, &a}, 2, synced, nil, false},
		{"the middle of a stripe", []*stripe{&a, &a, &a}, 1, synced, []int{2}, false},
		{"one that is refused", []*stripe{&a, &a, &a}, 1, canceled, []int{0, 2}, false},
		{"another stripe", []*stripe{&a, &b, &a}, 1, synced, []int{0, 2}, false},
		{"the catalog", []*stripe{&a, &b, catalog, &a}, 2, synced, []int{3}, false},
		{"before the catalog", []*stripe{&a, catalog, &a, &b}, 0, synced, nil, true},
		{"behind the catalog", []*stripe{&b, catalog, &a, &b, &a}, 2, synced, []int{3, 4}, false},
		{"a second change of the catalog", []*stripe{&a, catalog, &b, catalog, &b}, 1, synced, []int{2}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, b = stripe{}, stripe{}
			j := new(journal)
			clock := edm.Ticks(0)
			j.start(table.NewClock(func() edm.Ticks { clock++; return clock }, 0, func(edm.Ticks) error { return nil }), 0)
			var all []*entry
			for _, st := range test.commits {
				e, err := j.register(undo{stripe: st})
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, e)
			}
			if e := all[test.done]; test.how == synced {
				j.done(e)
			} else {
				j.cancel(e)
			}
			hidden, e := j.pendingCommits()
			if (e != nil) != test.catalog || len(hidden) != len(test.hidden) {
				t.Fatalf("%d commits are hidden, catalog %v", len(hidden), e != nil)
			}
			for i, e := range hidden {
				if e != all[test.hidden[i]] {
					t.Errorf("the hidden commit %d has the number %d", i, e.number)
				}
			}
			for i, e := range all {
				if i != test.done {
					j.done(e)
				}
			}
			if hidden, e := j.pendingCommits(); len(hidden) > 0 || e != nil {
				t.Error("commits are hidden when all are synced")
			}
			if err := j.wait(context.Background(), int64(all[len(all)-1].number)); err != nil {
				t.Error(err)
			}
		})
	}
}
