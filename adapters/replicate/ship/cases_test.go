package ship

import (
	"errors"
	"fmt"
	"testing"

	"edgetable/adapters/backup/repository"
	"edgetable/core/commitlog"
)

// TestCases checks when a store may begin a timeline (a history of commits) in a backup location: if the location
// is empty, or if the newest timeline there is the parent of the store's own timeline.
func TestCases(t *testing.T) {
	t.Parallel()
	const self = "this"
	one := repository.Timeline{Number: 1, ID: "1", Store: self}
	two := repository.Timeline{Number: 2, ID: "2", Store: self, Parent: "1", ForkedAt: 9}
	alien := repository.Timeline{Number: 1, ID: "8", Store: "another"}
	for _, tt := range []struct {
		name string
		own  commitlog.Timeline
		all  []repository.Timeline
		want standing
		does act
	}{
		{"a new store", commitlog.Timeline{}, nil, first, beginTimeline},
		{"an emptied place", commitlog.Timeline{ID: "1"}, nil, first, beginTimeline},
		{"a restored store in a place of its own", commitlog.Timeline{Parent: "1", ForkedAt: 5}, nil, first, beginTimeline},
		{"a primary", commitlog.Timeline{ID: "1"}, []repository.Timeline{one}, continues, proceed},
		{"a primary after a promotion", commitlog.Timeline{ID: "2", Parent: "1", ForkedAt: 9}, []repository.Timeline{one, two}, continues, proceed},
		{"the reply was lost", commitlog.Timeline{ID: "1", Next: "2"}, []repository.Timeline{one, two}, announced, record},
		{"the first reply was lost", commitlog.Timeline{Next: "1"}, []repository.Timeline{one}, announced, record},
		{"killed while it was promoted", commitlog.Timeline{Parent: "1", ForkedAt: 9, Next: "2"}, []repository.Timeline{one, two}, announced, record},
		{"promoted without the place", commitlog.Timeline{Parent: "1", ForkedAt: 7}, []repository.Timeline{one}, onTop, branch},
		{"restored from the newest history", commitlog.Timeline{Parent: "2", ForkedAt: 12}, []repository.Timeline{one, two}, onTop, branch},
		{"lost commits", commitlog.Timeline{Parent: "1"}, []repository.Timeline{one}, onTop, branch},
		{"an old primary", commitlog.Timeline{ID: "1"}, []repository.Timeline{one, two}, replaced, yield},
		{"an old primary that lost commits", commitlog.Timeline{Parent: "1"}, []repository.Timeline{one, two}, replaced, yield},
		{"promoted without the place, too late", commitlog.Timeline{Parent: "1", ForkedAt: 7}, []repository.Timeline{one, two}, replaced, yield},
		{"restored from an older history", commitlog.Timeline{Parent: "1", ForkedAt: 5}, []repository.Timeline{one, two}, replaced, yield},
		{"TIMELINE is gone", commitlog.Timeline{}, []repository.Timeline{one}, forgotten, yield},
		{"TIMELINE is gone, and another one was promoted", commitlog.Timeline{}, []repository.Timeline{one, two}, forgotten, yield},
		{"another place of this store", commitlog.Timeline{ID: "7"}, []repository.Timeline{one, two}, elsewhere, doubt},
		{"a copy in another place of this store", commitlog.Timeline{Parent: "7", ForkedAt: 5}, []repository.Timeline{one}, elsewhere, doubt},
		{"the place of another store", commitlog.Timeline{ID: "1"}, []repository.Timeline{alien}, foreign, avoid},
		{"a new store in the place of another one", commitlog.Timeline{}, []repository.Timeline{alien}, foreign, avoid},
	} {
		if got := (&view{self, tt.own, tt.all, false}).join(); got.standing != tt.want || got.act != tt.does {
			t.Errorf("%s: %q, act %d, want %q, act %d", tt.name, got.standing, got.act, tt.want, tt.does)
		}
	}
}

// TestEmptied checks that a store does not begin a timeline in an empty place that had its log. The disk of the place may
// not be mounted.
func TestEmptied(t *testing.T) {
	t.Parallel()
	v := &view{"this", commitlog.Timeline{ID: "1"}, nil, true}
	if got := v.join(); got.standing != emptied || got.act != await || !errors.Is(v.refusal(), repository.ErrEmpty) {
		t.Errorf("%q, act %d, %v", got.standing, got.act, v.refusal())
	}
}

// TestStarts checks after which commit a store begins to ship its log. The store has the log after commit 10.
func TestStarts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		r    reach
		want start
	}{
		{"a later start", reach{shipped: 20, since: 10}, afterShipped},
		{"a log that was shipped up to the discarded part", reach{shipped: 10, since: 10}, afterShipped},
		{"a promoted store, whose parent has shipped", reach{shipped: 12, since: 10}, afterShipped},
		{"a new store", reach{since: 10}, afterNewBackup},
		{"ended after its first backup", reach{backup: 15, since: 10}, afterBackup},
		{"promoted, and a prune removed the log", reach{shipped: 5, backup: 15, since: 10}, afterBackup},
		{"discarded log", reach{shipped: 5, since: 10}, afterGap},
		{"a restored store", reach{shipped: 5, since: 10, branch: true}, afterNewBackup},
		{"a promoted store", reach{shipped: 10, since: 10, branch: true}, afterShipped},
		{"pieces are gone", reach{shipped: 20, since: 10, hole: true}, afterGap},
	} {
		if got := tt.r.start(); got != tt.want {
			t.Errorf("%s: start %d, want %d", tt.name, got, tt.want)
		}
	}
}

// TestHow checks the recorded reason for a replacement. It must be the sentence that says how the store was replaced,
// without the general text of the error.
func TestHow(t *testing.T) {
	t.Parallel()
	s := newShipping(t)
	now := repository.LogOwner{Timeline: "0123456789abcdef", Term: commitlog.Term{Number: 2, Name: "0123456789abcdef"}}
	err := now.Check(now.Timeline, commitlog.Term{Number: 1, Name: "fedcba9876543210"})
	if !errors.Is(err, repository.ErrReplaced) {
		t.Fatal(err)
	}
	if r := s.describeReplacement(t.Context(), fmt.Errorf("place: %w", err)); r.Reason != "a copy of this data directory was started later" || r.MissingCommits >= 0 {
		t.Errorf("%+v", r)
	}
}
