package stores

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"edgetable/adapters/backup/repository"
	"edgetable/adapters/store/pebblestore"
	"edgetable/core/commitlog"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Lead records whether the store of this process is the primary, or was replaced because another store was promoted.
// A nil Lead stands for a store that cannot be replaced.
type Lead struct {
	mu       sync.Mutex
	replaced *commitlog.Replaced // nil if the store was not replaced, or if no check has noticed the replacement yet
	fenced   bool                // the store refuses writes
}

// Replaced returns how the store was replaced. It returns nil if the store was not replaced.
func (l *Lead) Replaced() *commitlog.Replaced {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.replaced
}

// Fenced reports whether the store refuses writes. This is the case if it was replaced before this process began to
// ship its log.
func (l *Lead) Fenced() bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fenced
}

// Lose records that another store has replaced this store as the primary. With fence=true, this store refuses writes
// from now on. The new primary would not get such writes.
func (l *Lead) Lose(r *commitlog.Replaced, fence bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.replaced, l.fenced = r, l.fenced || fence
}

// Regain records that the store is the primary again.
func (l *Lead) Regain() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.replaced, l.fenced = nil, false
}

// Err returns an error that says how the store was replaced. It returns nil if the store was not replaced.
func (l *Lead) Err() error {
	if r := l.Replaced(); r != nil {
		return fmt.Errorf("%w; %s", repository.ErrReplaced, Explain(r))
	}
	return nil
}

// Explain returns a text that says how a store was replaced, which commits only this store has, and what an operator can
// do.
func Explain(r *commitlog.Replaced) string {
	lacks := "this store may have commits that the backup location lacks; their number is unknown"
	switch {
	case r.Lacks == 0:
		lacks = "the backup location has every commit of this store"
	case r.Lacks > 0:
		lacks = fmt.Sprintf("the backup location lacks %d commits of this store, the first from %s", r.Lacks, r.Since)
	}
	return fmt.Sprintf("%s; %s; 'edgetable promote --take-over' makes this store the primary again, without the writes that only the other store has", r.Why, lacks)
}

// Leading wraps the store of a primary. If this store is replaced by another one, its replication status becomes
// unavailable.
type Leading struct {
	table.Store
	Lead *Lead
}

// Unwrap returns the wrapped store. [table.As] calls it to find optional interfaces.
func (l Leading) Unwrap() table.Store { return l.Store }

// Replication implements [table.Replicated]. If the store was replaced, LastSync is the last commit number that this
// store shares with the new primary. The number is a valid value of LastSync, because commit numbers are times.
func (l Leading) Replication() table.Replication {
	if r := l.Lead.Replaced(); r != nil {
		return table.Replication{Status: table.Unavailable, LastSync: r.Until}
	}
	if inner, ok := table.As[table.Replicated](l.Store); ok {
		return inner.Replication()
	}
	return table.Replication{Status: table.Live, LastSync: Now()}
}

// leads reports whether a store owns the newest timeline of a backup location, or may begin a new one after it.
func leads(own commitlog.Timeline, now repository.Turn) bool {
	switch now.Timeline {
	case own.ID:
		return now.Check(own.ID, repository.Term(own.Term)) == nil || slices.Contains(own.Tried, commitlog.Term(now.Term))
	case own.Next:
		return true
	}
	return own.ID == "" && own.Parent == now.Timeline
}

// TakeOver makes a store the primary again, after it was replaced or its history was lost. It begins a new timeline
// in the backup location. The new timeline does not have the writes of the other store. TakeOver refuses a location
// without timelines, and a store that no other store has replaced there. If r is nil, there is no backup location, and
// TakeOver only removes the record that the store was replaced.
func TakeOver(ctx context.Context, r *repository.Repository, store *pebblestore.Store, from string) error {
	if r == nil {
		return store.ChangeTimeline(func(t *commitlog.Timeline) { t.Replaced = nil })
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
	if now.Timeline == "" {
		return errors.New("the backup location does not exist, or has no log of this store: name the right location. If the location is lost, --without-place makes the store accept writes again")
	}
	if own.Replaced == nil && leads(own, now) {
		return fmt.Errorf("%s is a primary already, and no other store has replaced it in this backup location", from)
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
		return fmt.Errorf("the backup location was taken over, but the store could not record it: run the command again: %w", err)
	}
	if err := store.Raise(max(above, edm.TicksOf(time.Now()))); err != nil {
		return err
	}
	return store.BeginTimeline(line.ID, parent, 0)
}
