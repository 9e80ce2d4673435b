package workerskv

import (
	"context"
	"errors"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Commit implements [table.Store]. It reads the entities, applies the mutations and writes the results, without regard
// to concurrent writes. If only some writes fail, it returns [table.ErrUnknown].
func (s *Store) Commit(ctx context.Context, t table.RecordKey, m []table.Mutation) (edm.Ticks, error) {
	if err := s.check(m); err != nil {
		return 0, err
	}
	prefix, err := s.entities(ctx, t)
	if err != nil {
		return 0, err
	}
	olds := make([]*table.Row, len(m))
	var floor edm.Ticks
	for i := range m {
		if m[i].Kind == table.Put && m[i].Condition == table.Always {
			continue // the mutation does not depend on the old state
		}
		row, err := readEntity(ctx, s.o.Namespace, prefix, m[i].Key)
		if errors.Is(err, table.ErrNoEntity) {
			continue
		}
		if err != nil {
			return 0, err
		}
		olds[i], floor = &row, max(floor, row.Timestamp)
	}
	now := s.timestamp(floor)
	writes := make([]Write, len(m))
	for i := range m {
		row, err := table.Apply(olds[i], m[i], now)
		if err != nil {
			return 0, &table.Refused{Index: i, Err: err}
		}
		var body []byte
		if row != nil {
			body = table.AppendRow(nil, row)
		}
		writes[i] = cellWrite(nameOf(prefix, m[i].Key), body)
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return now, writeError(s.o.Namespace.Write(ctx, writes))
}

// check returns an error if this store cannot apply the mutations.
func (s *Store) check(m []table.Mutation) error {
	for i := range m {
		conditional := m[i].Condition == table.Absent || m[i].Condition == table.Unchanged
		if !s.o.BestEffort && (len(m) > 1 || conditional) {
			return errNoConditions
		}
		if len(m[i].Key) > maxKey {
			return &table.Refused{Index: i, Err: table.ErrKeyTooLong}
		}
	}
	return nil
}
