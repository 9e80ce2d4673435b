package workerskv

import (
	"context"
	"errors"
	"strings"

	"edgetable/core/table"
)

// A note is a cell that says that an incarnation of a table may have been dropped: stamp · key of the table's record.
// Drop writes a note before it deletes the record, so each dropped incarnation has a note.

func (s *Store) writeNote(ctx context.Context, r *table.Record) error {
	t := s.timestamp(0)
	name := spacePurges + textOf(r.Incarnation) + string(table.RevisionOf(t))
	return writeCell(ctx, s.o.Namespace, name, append(appendStamp(nil, t), r.Key.String()...))
}

// Purge deletes the entities of tables that were dropped at least two minutes ago. It makes at most the given number of
// KV calls, which must be 20 or more. The result hasMore reports whether such entities may remain.
//
// Without regular calls of Purge, the entities remain in KV, which charges for them.
func (s *Store) Purge(ctx context.Context, maxCalls int) (hasMore bool, err error) {
	b := &budget{calls: maxCalls}
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
			waits, err := s.finish(ctx, n, b)
			if errors.Is(err, errSpent) {
				return true, nil
			}
			if err != nil {
				return true, err
			}
			hasMore = hasMore || waits
		}
		if cursor = next; cursor == "" {
			return hasMore, nil
		}
	}
}

// finish processes one note: it deletes the entities of a dropped incarnation, and then the note. If the note is less
// than two minutes old, finish only returns true.
func (s *Store) finish(ctx context.Context, n Key, b *budget) (waits bool, err error) {
	p, err := decodeMetadata(n.Metadata)
	incarnation := strings.TrimPrefix(n.Name, spacePurges)
	if err != nil || p.body == nil || len(incarnation) < incarnationText {
		return false, errCell
	}
	incarnation = incarnation[:incarnationText] // the rest of the name only distinguishes notes
	if p.stamp+visibleAfter > s.o.Now() {
		return true, nil
	}
	if b.calls -= 2; b.calls < 0 {
		return true, errSpent
	}
	key, ok := table.ParseRecordKey(string(p.body[stampSize:]))
	if !ok {
		return false, errCell
	}
	r, err := readTable(ctx, s.o.Namespace, key)
	switch {
	case err == nil && textOf(r.Incarnation) == incarnation:
		// The drop was interrupted before it deleted the record, so the table still exists.
	case err != nil && !errors.Is(err, table.ErrNoTable):
		return true, err
	default:
		if err := purge(ctx, s.o.Namespace, b, spaceEntities+incarnation); err != nil {
			return true, err
		}
	}
	if err := writeCell(ctx, s.o.Namespace, n.Name, nil); err != nil {
		return true, err
	}
	return false, nil
}

// purgeListSize is the number of names that purge lists at a time. It is small because an instance has
// little memory.
const purgeListSize = 100

// purge deletes all names that begin with one of the prefixes.
func purge(ctx context.Context, ns Namespace, b *budget, prefixes ...string) error {
	for _, prefix := range prefixes {
		for cursor, more := "", true; more; more = cursor != "" {
			if b.calls--; b.calls < 0 {
				return errSpent
			}
			keys, next, err := ns.List(ctx, prefix, cursor, purgeListSize)
			if err != nil {
				return readError(ctx, err)
			}
			writes := make([]Write, min(len(keys), b.calls))
			for i := range writes {
				writes[i] = Write{Name: keys[i].Name, Delete: true}
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
