package postgres

import (
	"context"
	"errors"
	"slices"
	"strings"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// maxKey is the longest encoded key. An entry of an index has room for 2,704 bytes, and
// the database would accept longer keys if they can be compressed.
const maxKey = 2600

// Commit implements [table.Store].
func (s *Store) Commit(ctx context.Context, name table.RecordKey, m []table.Mutation) (edm.Ticks, error) {
	if len(m) > table.MaxBatchOperations {
		return 0, table.TooManyOperations()
	}
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer cancel()
	for i := range m {
		if len(m[i].Key) > maxKey {
			return 0, &table.Refused{Index: i, Err: table.ErrKeyTooLong}
		}
	}
	text := strings.Clone(name.String())
	var ticks edm.Ticks
	if len(m) == 1 {
		ticks, err = s.commitOne(ctx, text, m[0])
	} else {
		ticks, err = s.commitAll(ctx, text, m)
	}
	return ticks, s.commitError(ctx, err)
}

// commitError is the error of a Commit for the caller.
func (s *Store) commitError(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*table.Refused](err); ok || err == nil || errors.Is(err, table.ErrNoTable) || errors.Is(err, table.ErrUnknown) {
		return err
	}
	switch classify(err) {
	case full:
		return errors.Join(table.ErrFull, err)
	case broken:
		return err
	case lost:
		return errors.Join(table.ErrUnknown, err)
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, errTimeout) {
		return cause // nothing was applied
	}
	return errors.Join(table.ErrBusy, err)
}

// plan makes the write of a mutation, given the state of its entity. Only merges need it.
func plan(name string, m *table.Mutation, now *table.Row) (*write, error) {
	w := &write{name: name, key: m.Key, nonce: m.Nonce, properties: bytesOf(m.Properties), match: m.IfMatch}
	switch {
	case m.Kind == table.Merge && now == nil:
		if _, err := table.Apply(nil, *m, 0); err != nil {
			return nil, err
		}
		w.form = insert
	case m.Kind == table.Merge:
		row, err := table.Apply(now, *m, 0)
		if err != nil {
			return nil, err
		}
		w.form, w.match, w.properties = swap, now.Timestamp, bytesOf(row.Properties)
	case m.Condition == table.Absent:
		w.form = insert
	case m.Condition == table.Present:
		w.form = update
	case m.Condition == table.Unchanged:
		w.form = swap
	default:
		w.form = upsert
	}
	if m.Kind == table.Delete {
		w.properties = nil
	}
	return w, nil
}

// fromKnown returns the known state of an entity if a merge may be applied to it. A state
// that is old may refuse by mistake, so only the success of the swap counts.
func (s *Store) fromKnown(name string, m *table.Mutation) (*table.Row, bool) {
	row := s.known.get(name, m.Key)
	if row == nil {
		return nil, false
	}
	_, err := table.Apply(row, *m, 0)
	return row, err == nil
}

// commitOne writes one entity. A statement that writes nothing does not say why, so the
// state is read then: either it explains a refusal, or the write is tried again above the
// Timestamps that it shows.
func (s *Store) commitOne(ctx context.Context, name string, m table.Mutation) (edm.Ticks, error) {
	// A caller that leaves may use the memory again, and the lane may still send it.
	m.Key, m.Properties = slices.Clone(m.Key), slices.Clone(m.Properties)
	now, known := state{}, false
	merges := m.Kind == table.Merge
	for try := 0; ; try++ {
		if merges && try == 0 {
			now.row, known = s.fromKnown(name, &m)
		}
		if merges && !known {
			var err error
			if now, err = s.look(ctx, name, m.Key); err != nil {
				return 0, err
			}
			if !now.live {
				return 0, table.ErrNoTable
			}
			s.clock.raise(now.highest())
		}
		w, err := plan(name, &m, now.row)
		if err != nil {
			return 0, &table.Refused{Err: err}
		}
		ok, err := s.put(ctx, w)
		if ok {
			if merges {
				s.known.put(w)
			}
			return w.ticks, nil
		}
		known = false
		if merges {
			s.known.forget(name, m.Key)
		}
		if err != nil {
			class := classify(err)
			if errors.Is(err, table.ErrUnknown) || class != again && class != moved || errors.Is(err, errClock) {
				return 0, err
			}
			s.counters.retry(class)
			if pause(ctx, try) != nil {
				return 0, err
			}
			continue
		}
		if now, err = s.look(ctx, name, m.Key); err != nil {
			return 0, err
		}
		if !now.live {
			return 0, table.ErrNoTable
		}
		if _, err := table.Apply(now.row, m, 0); err != nil {
			return 0, &table.Refused{Err: err}
		}
		known = true
		s.clock.raise(now.highest())
		s.counters.behind.Add(1)
		if ctx.Err() != nil {
			return 0, &unsent{context.Cause(ctx)}
		}
	}
}
