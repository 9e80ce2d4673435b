package pebblestore

import (
	"bytes"
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/core/key"
	"edgetable/core/table"
)

// A read never needs space. While the log waits for space, Pebble shows commits that are
// not durable yet. Reads that meet them do not wait, but show the settled state, which is
// that without them.
//
// A commit is settled if it is synced. The log is synced in its order, so a commit is also
// settled if one after it is. Of two commits the one with the higher number is later in the
// log if both belong to one stripe, or one is a change of the catalog, which holds all
// stripes. Any other two are independent of each other, so that a state with one of them
// alone is a possible one.

// undo is what readers need to know of a commit that is not settled.
type undo struct {
	// Of a commit to entities:
	stripe    *stripe // nil: it is a change of the catalog
	life      *life
	mutations []table.Mutation // of the caller, whose call returns after done
	olds      []old            // the entities before; nil: not kept, because the disk was not low

	// before shows the state before a change of the catalog, or before commits of another
	// store: a dropped table is in no other place.
	before *pebble.Snapshot
}

// forget gives back what readers of a commit needed, when it is done.
func (s *Store) forget(u undo) {
	if u.before != nil {
		s.calls.Go(func() { u.before.Close() }) // it cannot fail, and may wait for a compaction to be noted
	}
}

// settled reports whether a registered commit is. mu must be locked.
func (j *journal) settled(e *entry) bool {
	st := e.undo.stripe
	return e.number <= j.syncedCatalog || st != nil && e.number <= st.synced
}

// unsettled returns the commits that a reader must not show, from the oldest on. They end
// before the first change of the catalog that is not settled, or catalog is nil: the
// snapshot before it has no later commit. mu must be locked.
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
	current bool     // from has the same tables as the store now
	hidden  []*entry // commits that from shows, or will show, and the view does not
}

// settled calls do with the settled state. No commit is registered or becomes settled
// meanwhile, so do must be short: iterators that it makes remain valid.
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
