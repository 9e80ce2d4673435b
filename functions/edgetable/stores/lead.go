package stores

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"edgetable/adapters/backup/repository"
	"edgetable/adapters/store/pebblestore"
	"edgetable/adapters/store/pebblestore/logship"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Lead says whether the store of this process is the primary, or was replaced by another one. Use a nil Lead for a
// store that cannot be replaced.
type Lead struct {
	mu       sync.Mutex
	replaced *logship.Replaced // nil unless the store knows that it was replaced
	fenced   bool              // the store refuses writes
}

// Replaced says how the store was replaced, or returns nil if it was not.
func (l *Lead) Replaced() *logship.Replaced {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.replaced
}

// Fenced reports whether the store refuses writes, because it was replaced before this process served as the primary.
func (l *Lead) Fenced() bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fenced
}

// Lose records that the store was replaced. With fence, writes are refused from now on: they would be lost.
func (l *Lead) Lose(r *logship.Replaced, fence bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.replaced, l.fenced = r, l.fenced || fence
}

// Regain records that the store is the primary.
func (l *Lead) Regain() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.replaced, l.fenced = nil, false
}

// Err returns why the store is not the primary, or nil.
func (l *Lead) Err() error {
	if r := l.Replaced(); r != nil {
		return fmt.Errorf("%w; %s", repository.ErrReplaced, r)
	}
	return nil
}

// Leading is a store whose secondary endpoint says whether it was replaced.
type Leading struct {
	table.Store
	Lead *Lead
}

// Unwrap is found by [table.As].
func (l Leading) Unwrap() table.Store { return l.Store }

// Replication implements [table.Replicated]. A replaced store has all writes up to the number after which the other
// store's history differs.
func (l Leading) Replication() table.Replication {
	if r := l.Lead.Replaced(); r != nil {
		return table.Replication{Status: table.Unavailable, LastSync: r.Until}
	}
	if inner, ok := table.As[table.Replicated](l.Store); ok {
		return inner.Replication()
	}
	return table.Replication{Status: table.Live, LastSync: Now()}
}

// TakeOver makes a store the primary again, if it was replaced or its history is unknown. It begins a timeline in the
// place, without what the other store wrote. Without a place, the store only forgets that it was replaced.
func TakeOver(ctx context.Context, r *repository.Repository, store *pebblestore.Store, from string) error {
	if r == nil {
		return store.ChangeTimeline(func(t *logship.Timeline) { t.Replaced = nil })
	}
	identity, err := store.Identity()
	if err != nil {
		return err
	}
	own := store.Timeline()
	now, err := r.Turn(ctx)
	if err != nil {
		return err
	}
	if own.ID != "" && own.Replaced == nil && now.Check(own.ID, repository.Term(own.Term)) == nil {
		return errors.New("the store is the primary of this place already")
	}
	parent := own.ID
	if parent == "" {
		parent = own.Parent
	}
	line, err := r.TakeOver(ctx, repository.Timeline{Parent: parent, Store: identity, From: from, Began: time.Now().UTC()})
	if err != nil {
		return err
	}
	above, err := r.Highest(ctx)
	if err != nil {
		return fmt.Errorf("the place was taken over, but the store could not record it: run the command again: %w", err)
	}
	if err := store.Raise(max(above, edm.TicksOf(time.Now()))); err != nil {
		return err
	}
	return store.BeginTimeline(line.ID, parent, 0)
}
