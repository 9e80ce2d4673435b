package backup

import (
	"errors"
	"fmt"
	"testing"

	"edgetable/adapters/backup/repository"
	"edgetable/core/commitlog"
)

// TestStandingOf checks when a store may begin a timeline (a history of commits) in a backup location: if the location
// is empty, or if the newest timeline there is the parent of the store's own timeline.
func TestStandingOf(t *testing.T) {
	t.Parallel()
	const self = "this"
	one := repository.Timeline{Number: 1, ID: "1", Store: self}
	two := repository.Timeline{Number: 2, ID: "2", Store: self, Parent: "1", Left: 9}
	alien := repository.Timeline{Number: 1, ID: "8", Store: "another"}
	for _, tt := range []struct {
		name string
		own  commitlog.Timeline
		all  []repository.Timeline
		want standing
	}{
		{"a new store", commitlog.Timeline{}, nil, first},
		{"an emptied place", commitlog.Timeline{ID: "1"}, nil, first},
		{"a restored store in a place of its own", commitlog.Timeline{Parent: "1", Left: 5}, nil, first},
		{"a primary", commitlog.Timeline{ID: "1"}, []repository.Timeline{one}, continues},
		{"a primary after a promotion", commitlog.Timeline{ID: "2", Parent: "1", Left: 9}, []repository.Timeline{one, two}, continues},
		{"the reply was lost", commitlog.Timeline{ID: "1", Next: "2"}, []repository.Timeline{one, two}, announced},
		{"the first reply was lost", commitlog.Timeline{Next: "1"}, []repository.Timeline{one}, announced},
		{"killed while it was promoted", commitlog.Timeline{Parent: "1", Left: 9, Next: "2"}, []repository.Timeline{one, two}, announced},
		{"promoted without the place", commitlog.Timeline{Parent: "1", Left: 7}, []repository.Timeline{one}, onTop},
		{"restored from the newest history", commitlog.Timeline{Parent: "2", Left: 12}, []repository.Timeline{one, two}, onTop},
		{"lost commits", commitlog.Timeline{Parent: "1"}, []repository.Timeline{one}, onTop},
		{"an old primary", commitlog.Timeline{ID: "1"}, []repository.Timeline{one, two}, replaced},
		{"an old primary that lost commits", commitlog.Timeline{Parent: "1"}, []repository.Timeline{one, two}, replaced},
		{"promoted without the place, too late", commitlog.Timeline{Parent: "1", Left: 7}, []repository.Timeline{one, two}, replaced},
		{"restored from an older history", commitlog.Timeline{Parent: "1", Left: 5}, []repository.Timeline{one, two}, replaced},
		{"TIMELINE is gone", commitlog.Timeline{}, []repository.Timeline{one}, forgotten},
		{"TIMELINE is gone, and another one was promoted", commitlog.Timeline{}, []repository.Timeline{one, two}, forgotten},
		{"another place of this store", commitlog.Timeline{ID: "7"}, []repository.Timeline{one, two}, elsewhere},
		{"a copy in another place of this store", commitlog.Timeline{Parent: "7", Left: 5}, []repository.Timeline{one}, elsewhere},
		{"the place of another store", commitlog.Timeline{ID: "1"}, []repository.Timeline{alien}, foreign},
		{"a new store in the place of another one", commitlog.Timeline{}, []repository.Timeline{alien}, foreign},
	} {
		if got := standingOf(self, tt.own, tt.all); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestHow checks the recorded reason for a replacement. It must be the sentence that says how the store was replaced,
// without the general text of the error.
func TestHow(t *testing.T) {
	t.Parallel()
	s := newShipping(t)
	now := repository.Turn{Timeline: "0123456789abcdef", Term: repository.Term{Number: 2, Name: "0123456789abcdef"}}
	err := now.Check(now.Timeline, repository.Term{Number: 1, Name: "fedcba9876543210"})
	if !errors.Is(err, repository.ErrReplaced) {
		t.Fatal(err)
	}
	if r := s.describeReplacement(t.Context(), fmt.Errorf("place: %w", err)); r.Why != "a copy of this data directory was started later" || r.Lacks >= 0 {
		t.Errorf("%+v", r)
	}
}
