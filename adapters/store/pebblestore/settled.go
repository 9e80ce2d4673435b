package pebblestore

import (
	"bytes"
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/core/key"
	"edgetable/core/table"
)

// Reads must work on a full disk. While the log waits for disk space, Pebble already shows commits that are not durable
// yet. Reads hide these commits.
//
// The log is synced in order, so a commit is durable if a later commit in the log is synced. The commits of one stripe
// (a lock for some of the partitions) are in the log in the order of their numbers. A catalog change locks all stripes,
// so it is in order with every commit.
//
// Commits of different stripes are independent. So reads may show a commit of one stripe and hide an older commit of
// another stripe.

// releaseSnapshot releases the snapshot of a commit that is durable or has failed.
func (s *Store) releaseSnapshot(u undo) {
	if u.snapshot != nil {
		s.calls.Go(func() { u.snapshot.Close() }) // Close cannot fail, but may wait for a lock of Pebble
	}
}

// isDurable reports whether a registered commit is certainly durable. j.mu must be held.
func (j *journal) isDurable(e *entry) bool {
	st := e.undo.stripe
	return e.number <= j.syncedCatalog || st != nil && e.number <= st.synced
}

// pendingCommits returns, oldest first, the commits that might not be durable yet, up to the first such catalog change.
// The result catalog is this change, or nil. j.mu must be held.
func (j *journal) pendingCommits() (commits []*entry, catalog *entry) {
	for e := j.oldest; e != nil; e = e.newer {
		switch {
		case j.isDurable(e):
		case e.undo.stripe == nil:
			return commits, e
		default:
			commits = append(commits, e)
		}
	}
	return commits, nil
}

// view is the state of the store at one moment, without commits that might not be durable yet.
type view struct {
	store   *Store
	from    pebble.Reader
	current bool     // whether the view shows the current tables of the store
	hidden  []*entry // commits that the view must hide, although Pebble shows them or will soon show them
}

// withDurableView calls a function with a view that hides all commits that might not be durable yet. The function must
// return soon, because commits wait for it. Its iterators remain valid.
func (s *Store) withDurableView(do func(v view) error) error {
	j := s.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failed != nil {
		return j.failed
	}
	hidden, catalog := j.pendingCommits()
	if catalog != nil {
		return do(view{s, catalog.undo.snapshot, false, hidden})
	}
	return do(view{s, s.db, true, hidden})
}

// isShort reports whether an error means that the log waits for disk space or for a file descriptor.
func isShort(err error) bool {
	return errors.Is(err, table.ErrFull) || errors.Is(err, table.ErrBusy)
}

// liveTable returns the incarnation of a table in the view, or table.ErrNoTable.
func (v view) liveTable(tbl table.RecordKey) (*liveTable, error) {
	if v.current {
		if l := v.store.tables.find(tbl); l != nil {
			return l, nil
		}
		return nil, table.ErrNoTable
	}
	r, err := getRecord(v.from, tbl)
	if errors.Is(err, table.ErrNoRecord) {
		return nil, table.ErrNoTable
	}
	if err != nil {
		return nil, err
	}
	l := &liveTable{incarnation: r.Incarnation}
	l.traits.Store(r.Traits)
	return l, nil
}

// hiddenRow is the older state of an entity. Reads show this state, because the newer commits to the entity might not be durable yet.
type hiddenRow struct {
	key   []byte
	old   oldState
	known bool
}

// rows returns, in key order, the states that the entities in a range had before the hidden commits.
func (v view) rows(l *liveTable, bounds key.Range) (list []hiddenRow) {
	for _, e := range v.hidden {
		if e.undo.liveTable.incarnation != l.incarnation {
			continue
		}
		for i, m := range e.undo.mutations {
			if bytes.Compare(m.Key, bounds.Start) < 0 || bounds.End != nil && bytes.Compare(m.Key, bounds.End) >= 0 {
				continue
			}
			h := hiddenRow{key: bytes.Clone(m.Key), known: e.undo.olds != nil}
			if h.known {
				h.old = e.undo.olds[i]
				h.old.row.Key = h.key
			}
			list = append(list, h)
		}
	}
	slices.SortStableFunc(list, func(a, b hiddenRow) int { return bytes.Compare(a.key, b.key) })
	return slices.CompactFunc(list, func(a, b hiddenRow) bool { return bytes.Equal(a.key, b.key) })
}

// getDurable is like Get, but reads the state without commits that might not be durable yet.
func (s *Store) getDurable(tbl table.RecordKey, k []byte) (row table.Row, err error) {
	err = s.withDurableView(func(v view) error {
		l, err := v.liveTable(tbl)
		if err != nil {
			return err
		}
		traits, now := l.traitsAndTime(s.journal.clock)
		if h := v.rows(l, key.Range{Start: k, End: append(bytes.Clone(k), 0)}); len(h) > 0 {
			switch {
			case !h[0].known:
				return s.disk.Shortage()
			case !h[0].old.exists:
				return table.ErrNoEntity
			}
			row = h[0].old.row
		} else if row, err = read(v.from, l.appendKey(nil, k)); err != nil {
			return err
		}
		if traits.Ended(&row, now) {
			return table.ErrNoEntity
		}
		return nil
	})
	if err != nil {
		return table.Row{}, err
	}
	return row, nil
}
