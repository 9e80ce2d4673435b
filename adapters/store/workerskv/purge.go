package workerskv

import (
	"context"
	"errors"
	"strings"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// A note says that a life of a table may have ended: stamp · key of its record.
// It is written before the record is deleted, so that nothing is left behind
// without one. Each drop has its own: to settle the note of one that was cut off
// takes nothing from the next.

func (s *Store) note(ctx context.Context, d *table.Record) error {
	t := s.clock.after(0)
	name := spacePurges + lifeOf(d.Incarnation) + string(revision(t))
	_, err := s.turns.do(ctx, s.single(name), &job{blind: true, cell: func([]byte) ([]byte, edm.Ticks, error) {
		return append(appendStamp(nil, t), d.Key.String()...), t, nil
	}})
	return err
}

// Purge deletes the entities of tables that were dropped at least two minutes
// ago, with at most so many calls of the namespace, 20 or more, and reports whether
// there may be more to do. To be called now and then, by a schedule for example; if it never is,
// names stay behind that nobody sees but in the bill.
func (s *Store) Purge(ctx context.Context, calls int) (more bool, err error) {
	b := &budget{calls: calls}
	cursor := ""
	for {
		if b.calls--; b.calls < 0 {
			return true, nil
		}
		notes, next, err := s.o.Namespace.List(ctx, spacePurges, cursor, 100)
		if errors.Is(err, ErrCursor) {
			return true, nil
		}
		if err != nil {
			return true, readError(ctx, err)
		}
		for _, n := range notes {
			waits, err := s.settle(ctx, n, b)
			if errors.Is(err, errSpent) {
				return true, nil
			}
			if err != nil {
				return true, err
			}
			more = more || waits
		}
		if cursor = next; cursor == "" {
			return more, nil
		}
	}
}

// settle does what one note says, if it is time.
func (s *Store) settle(ctx context.Context, n Key, b *budget) (waits bool, err error) {
	p, err := decodeMetadata(n.Metadata)
	life := strings.TrimPrefix(n.Name, spacePurges)
	if err != nil || p.body == nil || len(life) < lifeSize {
		return false, errCell
	}
	life = life[:lifeSize] // behind it is whose note it is
	if p.stamp+settled > s.o.Now() {
		return true, nil
	}
	if b.calls -= 2; b.calls < 0 {
		return true, errSpent
	}
	d, err := readRecord(ctx, &s.cells, string(p.body[stampSize:]))
	switch {
	case err == nil && lifeOf(d.Incarnation) == life:
		// The drop was cut off before it deleted the record.
	case err != nil && !errors.Is(err, table.ErrNoTable):
		return true, err
	default:
		if err := purge(ctx, s.o.Namespace, b, journals(life), entities(life)); err != nil {
			return true, err
		}
	}
	if err := writeOne(ctx, s.o.Namespace, Write{Name: n.Name, Gone: true}); err != nil {
		return true, readError(ctx, err)
	}
	return false, nil
}

// purged is how many names are listed at a time: a long list may be more than an
// instance has memory for.
const purged = 100

// purge deletes all names that begin with one of the prefixes.
func purge(ctx context.Context, ns Namespace, b *budget, prefixes ...string) error {
	for _, prefix := range prefixes {
		for cursor, more := "", true; more; more = cursor != "" {
			if b.calls--; b.calls < 0 {
				return errSpent
			}
			keys, next, err := ns.List(ctx, prefix, cursor, purged)
			if err != nil {
				return readError(ctx, err)
			}
			writes := make([]Write, min(len(keys), b.calls))
			for i := range writes {
				writes[i] = Write{Name: keys[i].Name, Gone: true}
			}
			if len(writes) > 0 {
				for _, err := range ns.Write(ctx, writes) {
					if err != nil {
						return readError(ctx, err)
					}
				}
			}
			if b.calls -= len(keys); b.calls < 0 {
				return errSpent
			}
			cursor = next
		}
	}
	return nil
}
