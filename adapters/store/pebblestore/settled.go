package pebblestore

import (
	"bytes"
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/core/key"
	"edgetable/core/table"
)

// A read never needs space. While the log waits for space, Pebble shows commits that are not durable yet. Reads do
// not wait for such commits, but show the settled state: the state without them.
//
// A commit is settled if it is synced. The log is synced in order, so a commit is also settled if a later one is
// synced. For two commits of one stripe, the one with the higher number is later in the log. The same holds if one of
// the two is a catalog change, which locks all stripes. Any other two commits are independent of each other, so a
// state with only one of them is a possible state.

// undo holds what readers need to know about a commit that is not settled.
type undo struct {
	// Set only for a commit that writes entities:
	stripe    *stripe // nil for a catalog change
	life      *life
	mutations []table.Mutation // memory of the caller, whose call returns only after done
	olds      []old            // the entities before the commit; nil if they were not kept, because the disk was not low

	// before shows the state before a catalog change, or before commits of another store. The entities of a dropped
	// table can be read nowhere else.
	before *pebble.Snapshot
}

// forget releases what readers of a commit needed, once it is done.
func (s *Store) forget(u undo) {
	if u.before != nil {
		s.calls.Go(func() { u.before.Close() }) // it cannot fail, but may wait until a compaction is recorded
	}
}

// settled reports whether a registered commit is settled. mu must be locked.
func (j *journal) settled(e *entry) bool {
	st := e.undo.stripe
	return e.number <= j.syncedCatalog || st != nil && e.number <= st.synced
}

// unsettled returns the commits that a reader must not show, oldest first, up to the first catalog change that is not
// settled. If there is one, catalog is its entry: the snapshot before it contains no later commit. mu must be locked.
func (j *journal) unsettled() (commits []*entry, catalog *entry) {
	for e := j.oldest; e != nil; e = e.newer {
		switch {
		case j.settled(e):
		case e.undo.stripe == nil:
			return commits, e
		default:
			commits = append(commits, e)
		}
	}
	return commits, nil
}

// view is the settled state at one moment.
type view struct {
	store   *Store
	from    pebble.Reader
	current bool     // from has the same tables as the current state of the store
	hidden  []*entry // commits that from shows, or will show, but the view does not
}

// settled calls do with the settled state. During the call, no commit is registered or becomes settled, so do must be
// short. Iterators that it makes remain valid.
func (s *Store) settled(do func(v view) error) error {
	j := s.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failed != nil {
		return j.failed
	}
	hidden, catalog := j.unsettled()
	if catalog != nil {
		return do(view{s, catalog.undo.before, false, hidden})
	}
	return do(view{s, s.db, true, hidden})
}

// isShort reports whether a reply cannot be given now because the log waits for space or
// for a file descriptor.
func isShort(err error) bool {
	return errors.Is(err, table.ErrFull) || errors.Is(err, table.ErrBusy)
}

// life returns the incarnation of a table in the view, or table.ErrNoTable.
func (v view) life(tbl table.RecordKey) (*life, error) {
	if v.current {
		if l := v.store.tables.find(tbl); l != nil {
			return l, nil
		}
		return nil, table.ErrNoTable
	}
	r, err := record(v.from, tbl)
	if errors.Is(err, table.ErrNoRecord) {
		return nil, table.ErrNoTable
	}
	if err != nil {
		return nil, err
	}
	l := &life{incarnation: r.Incarnation}
	l.traits.Store(r.Traits)
	return l, nil
}

// hiddenRow is the state of an entity before the oldest hidden commit to it.
type hiddenRow struct {
	key   []byte
	old   old
	known bool
}

// rows returns the entities of a range with hidden commits, by their keys.
func (v view) rows(l *life, in key.Range) (list []hiddenRow) {
	for _, e := range v.hidden {
		if e.undo.life.incarnation != l.incarnation {
			continue
		}
		for i, m := range e.undo.mutations {
			if bytes.Compare(m.Key, in.Start) < 0 || in.End != nil && bytes.Compare(m.Key, in.End) >= 0 {
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

// getSettled is Get in the settled state.
func (s *Store) getSettled(tbl table.RecordKey, k []byte) (row table.Row, err error) {
	err = s.settled(func(v view) error {
		l, err := v.life(tbl)
		if err != nil {
			return err
		}
		traits, now := l.judge(s.journal.clock)
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
