package postgres

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// commitAll writes several entities or none: one statement for each, in the order of their
// keys, as one transaction.
func (s *Store) commitAll(ctx context.Context, name string, m []table.Mutation) (edm.Ticks, error) {
	m = slices.Clone(m)
	keys := make([][]byte, len(m))
	for i := range m {
		m[i].Key, m[i].Properties = slices.Clone(m[i].Key), slices.Clone(m[i].Properties)
		keys[i] = m[i].Key
	}
	var states []state // if known
	reads := slices.ContainsFunc(m, func(m table.Mutation) bool { return m.Kind == table.Merge })
	for try := 0; ; try++ {
		if reads && states == nil {
			var err error
			if states, err = s.judge(ctx, name, m, keys); err != nil {
				return 0, err
			}
		}
		list, err := planAll(name, m, states)
		if err != nil {
			return 0, err
		}
		ticks, err := detached(ctx, s, func(ctx context.Context) (edm.Ticks, error) { return s.sendAll(ctx, list) })
		if err == nil {
			return ticks, nil
		}
		states = nil
		switch class := classify(err); {
		case errors.Is(err, table.ErrUnknown) || errors.Is(err, errClock):
			return 0, err
		case class == refused:
			if states, err = s.judge(ctx, name, m, keys); err != nil {
				return 0, err
			}
			s.counters.behind.Add(1)
			if ctx.Err() != nil {
				return 0, &unsent{context.Cause(ctx)}
			}
		case class == again || class == moved:
			s.counters.retry(class)
			if pause(ctx, try) != nil {
				return 0, err
			}
		default:
			return 0, err
		}
	}
}

// judge reads the states of a batch at one moment and raises the clock above them. Its
// error is the refusal that they demand.
func (s *Store) judge(ctx context.Context, name string, m []table.Mutation, keys [][]byte) ([]state, error) {
	states, err := s.lookAll(ctx, name, keys)
	if err != nil {
		return nil, err
	}
	if !states[0].live {
		return nil, table.ErrNoTable
	}
	for i := range m {
		if _, err := table.Apply(states[i].row, m[i], 0); err != nil {
			return nil, &table.Refused{Index: i, Err: err}
		}
		s.clock.raise(states[i].highest())
	}
	return states, nil
}

func planAll(name string, m []table.Mutation, states []state) ([]*write, error) {
	list := make([]*write, len(m))
	for i := range m {
		var now *table.Row
		if states != nil {
			now = states[i].row
		}
		w, err := plan(name, &m[i], now)
		if err != nil {
			return nil, &table.Refused{Index: i, Err: err}
		}
		list[i] = w
	}
	slices.SortFunc(list, less)
	return list, nil
}

// sendAll sends the writes of a batch. If the reply is lost, it finds out what became of
// them.
func (s *Store) sendAll(ctx context.Context, list []*write) (edm.Ticks, error) {
	ticks, err := s.clock.next(ctx)
	if err != nil {
		return 0, err
	}
	for _, w := range list {
		w.ticks = ticks
	}
	err = s.once(ctx, s.shared, func(_ context.Context, c *pgconn.PgConn) error {
		calls := make([]call, len(list))
		for i, w := range list {
			calls[i] = call{writes[w.form].batch, w.args()}
		}
		_, err := s.attended(c, calls)
		return err
	})
	if classify(err) == lost && err != nil {
		err = s.evidence(ctx, list, err)
	}
	return ticks, err
}
