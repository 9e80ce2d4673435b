package repository

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"edgetable/adapters/backup/repository/internal/seal"
)

// Timelines returns the timelines in the backup location, the newest last.
func (r *Repository) Timelines(ctx context.Context) (list []Timeline, err error) {
	now, err := r.LogOwner(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range now.names {
		b, err := r.objects.Get(ctx, t.object())
		if errors.Is(err, fs.ErrNotExist) {
			continue // the store withdrew its timeline after the list was read
		}
		if err != nil {
			return nil, err
		}
		var read Timeline
		if err := seal.Decode(b, &read); err != nil {
			t.damage = err
		} else if read.Number != t.Number || read.ID != t.ID {
			t.damage = fmt.Errorf("the object describes another timeline (history of commits), %s", read.ID)
		} else {
			t = read
		}
		list = append(list, t)
	}
	return list, nil
}

// BeginTimeline writes a new timeline, so that no other store can ship its log. It sets Number, and ID if ID is empty.
// With the same ID, the call can be repeated.
//
// The error matches [ErrReplaced] if Parent is not the newest timeline, or if another store begins a timeline at the
// same moment.
func (r *Repository) BeginTimeline(ctx context.Context, t Timeline) (*Timeline, error) {
	return r.begin(ctx, t, false)
}

// TakeOver is like BeginTimeline, but Parent need not be the newest timeline. Writes are lost if only the store with
// the newest timeline has them.
func (r *Repository) TakeOver(ctx context.Context, t Timeline) (*Timeline, error) {
	return r.begin(ctx, t, true)
}

func (r *Repository) begin(ctx context.Context, t Timeline, over bool) (*Timeline, error) {
	if err := r.checkOwner(ctx, t.Store); err != nil {
		return nil, err
	}
	if t.ID == "" {
		t.ID = NewTimelineID()
	}
	now, err := r.LogOwner(ctx)
	if err != nil {
		return nil, err
	}
	newest := now.newest()
	if t.Number = newest.Number; newest.ID != t.ID {
		t.Number++
	}
	if newest.ID != t.Parent && newest.ID != t.ID && !over {
		return nil, &Replaced{fmt.Sprintf("the newest timeline (history of commits) in the backup location is %s, but this store had the timeline %q", newest.ID, t.Parent)}
	}
	b, err := seal.Encode(&t)
	if err != nil {
		return nil, err
	}
	if err := r.objects.Put(ctx, t.object(), b); err != nil {
		return nil, err
	}
	return &t, r.checkRivals(ctx, &t)
}

// rivalLooks is the maximum number of times that a store looks for other new timelines. A rival withdraws its timeline
// within about two requests.
const rivalLooks = 3

// checkRivals withdraws the timeline of this store if another store begins a timeline at the same moment.
//
// Each store writes its timeline before it lists all timelines, so at least one of them sees the other. The store with
// the lower object name withdraws at once. The other one looks again a few times, so it usually succeeds.
func (r *Repository) checkRivals(ctx context.Context, own *Timeline) error {
	for range rivalLooks {
		now, err := r.LogOwner(ctx)
		if err != nil {
			return err
		}
		all := slices.DeleteFunc(now.names, func(t Timeline) bool { return t.ID == own.ID || t.Number < own.Number })
		if len(all) == 0 {
			return nil
		}
		if all[len(all)-1].object() > own.object() {
			break
		}
	}
	err := &Replaced{"another store began a new history of commits in the backup location at the same moment; check which store is the primary now; if no store is, run the command again"}
	return errors.Join(err, r.objects.Delete(ctx, own.object()))
}
