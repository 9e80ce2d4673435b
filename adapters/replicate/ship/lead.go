package ship

import (
	"fmt"
	"sync"
	"time"

	"edgetable/adapters/backup/repository"
	"edgetable/core/commitlog"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// PrimaryStatus records whether this store is the primary, or was replaced by another store. For a store that cannot be
// replaced, the PrimaryStatus is nil.
type PrimaryStatus struct {
	mu       sync.Mutex
	replaced *commitlog.Replaced // how the store was replaced; nil if it was not replaced, or if no check has noticed the replacement yet
	fenced   bool                // whether the store refuses writes
}

// Replaced returns how the store was replaced. It returns nil if the store was not replaced.
func (l *PrimaryStatus) Replaced() *commitlog.Replaced {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.replaced
}

// Fenced reports whether the store refuses writes. A store refuses writes if it was replaced before this process began
// to ship its log.
func (l *PrimaryStatus) Fenced() bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fenced
}

// Lose records that another store has replaced this store. If fence is true, this store refuses writes, because the new
// primary would not receive them.
func (l *PrimaryStatus) Lose(r *commitlog.Replaced, fence bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.replaced, l.fenced = r, l.fenced || fence
}

// Regain records that the store is the primary again.
func (l *PrimaryStatus) Regain() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.replaced, l.fenced = nil, false
}

// Err returns an error that says how the store was replaced. It returns nil if the store was not replaced.
func (l *PrimaryStatus) Err() error {
	if r := l.Replaced(); r != nil {
		return fmt.Errorf("%w; %s", repository.ErrReplaced, Explain(r))
	}
	return nil
}

// Explain returns a text that says how a store was replaced, how many of its commits the backup location lacks, and
// what an operator can do.
func Explain(r *commitlog.Replaced) string {
	lacks := "this store may have commits that the backup location lacks; their number is unknown"
	switch {
	case r.MissingCommits == 0:
		lacks = "the backup location has every commit of this store"
	case r.MissingCommits > 0:
		lacks = fmt.Sprintf("the backup location lacks %d commits of this store, the first from %s", r.MissingCommits, r.MissingSince)
	}
	return fmt.Sprintf("%s; %s; 'edgetable promote --take-over' makes this store the primary again, without the writes that only the other store has", r.Reason, lacks)
}

// Replication returns the replication status. For a replaced store, LastSync is the last commit number (a time) that it
// shares with the new primary.
func (l *PrimaryStatus) Replication(store table.Store) table.Replication {
	if r := l.Replaced(); r != nil {
		return table.Replication{Status: table.Unavailable, LastSync: r.SharedUpTo}
	}
	if inner, ok := table.As[table.Replicated](store); ok {
		return inner.Replication()
	}
	return table.Replication{Status: table.Live, LastSync: edm.TicksOf(time.Now())}
}
