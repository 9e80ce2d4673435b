package workerskv

import (
	"context"
	"errors"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Commit implements [table.Store].
func (s *Store) Commit(ctx context.Context, name table.RecordKey, m []table.Mutation) (edm.Ticks, error) {
	if err := s.check(m); err != nil {
		return 0, err
	}
	life, err := s.life(ctx, name)
	if err != nil {
		return 0, err
	}
	// A single entity is written where it belongs, unless the journal must know of
	// it or has something due; and in the journal, unless that need not know.
	journal := len(m) > 1
	for try := 0; ; try++ {
		var t edm.Ticks
		if journal {
			t, err = s.turns.do(ctx, s.whole(life, m[0].Key), &job{mutations: m, forced: len(m) > 1 || try > 2})
		} else {
			t, err = s.turns.do(ctx, s.entity(life, m[0].Key), s.job(&m[0]))
		}
		if !errors.Is(err, errElsewhere) {
			return t, err
		}
		journal = !journal
	}
}

// errElsewhere sends a job to the other queue.
var errElsewhere = errors.New("written elsewhere")

// check refuses what this store cannot do at all.
func (s *Store) check(m []table.Mutation) error {
	size := 0
	for i := range m {
		conditional := m[i].Condition == table.Absent || m[i].Condition == table.Unchanged
		if !s.o.SingleWriter && (len(m) > 1 || conditional) {
			return errNeedsWriter
		}
		if len(m[i].Key) > MaxKey {
			return &table.Refused{Index: i, Err: table.ErrKeyTooLong}
		}
		size += len(m[i].Key) + len(m[i].Properties) + journalRowSize
	}
	if s.o.SingleWriter && !s.cells.memory.room("", size) {
		return table.ErrBusy
	}
	return nil
}

// apply is [table.Apply] on a cell, nil being none.
func (s *Store) apply(old []byte, m *table.Mutation, now edm.Ticks) ([]byte, error) {
	var row *table.Row
	if old != nil {
		r, err := table.ParseRow(m.Key, old)
		if err != nil {
			return nil, err
		}
		row = &r
	}
	row, err := table.Apply(row, *m, now)
	if row == nil || err != nil {
		return nil, err
	}
	return table.AppendRow(nil, row), nil
}

// blind reports whether a mutation does not depend on what there is.
func blind(m *table.Mutation) bool { return m.Kind == table.Put && m.Condition == table.Always }

// job is a write of one entity where it belongs.
func (s *Store) job(m *table.Mutation) *job {
	return &job{
		blind: blind(m),
		gone:  m.Kind == table.Delete,
		cell: func(old []byte) ([]byte, edm.Ticks, error) {
			var floor edm.Ticks
			if old != nil {
				floor = stampOf(old)
			}
			now := s.clock.after(floor)
			body, err := s.apply(old, m, now)
			if err != nil {
				return nil, 0, &table.Refused{Index: 0, Err: err}
			}
			return body, now, nil
		},
	}
}

// entity is the queue of one entity.
func (s *Store) entity(life string, k []byte) queue {
	q := s.single(nameOf(entities(life), k))
	if !s.o.SingleWriter {
		return q
	}
	q.part = journalOf(life, k)
	id := string(k)
	q.write = func(ctx context.Context, jobs []*job) bool {
		j, err := s.latest(ctx, q.part)
		if err != nil {
			fail(jobs, err)
			return false
		}
		row, known := j.rows[id]
		now := s.o.Now()
		if j.due(now) || known && row.fresh(now) {
			fail(jobs, errElsewhere)
			return false
		}
		if !known {
			return s.cell(ctx, q.name, nil, jobs)
		}
		var rest []*job
		for _, j := range jobs {
			if j.err = nil; j.gone {
				j.err = errElsewhere
			} else {
				rest = append(rest, j)
			}
		}
		return len(rest) > 0 && s.cell(ctx, q.name, &row, rest)
	}
	return q
}

// whole is the queue of the journal of a partition.
func (s *Store) whole(life string, k []byte) queue {
	name := journalOf(life, k)
	return queue{name: name, part: name, whole: true, write: func(ctx context.Context, jobs []*job) bool {
		b := batch{store: s, name: name, entities: entities(life)}
		return b.write(ctx, jobs)
	}}
}

// single is the queue of a cell of which each job makes another.
func (s *Store) single(name string) queue {
	return queue{name: name, write: func(ctx context.Context, jobs []*job) bool {
		return s.cell(ctx, name, nil, jobs)
	}}
}

// cell does the jobs of a cell, of which the journal may have an older or newer
// state.
func (s *Store) cell(ctx context.Context, name string, row *journalRow, jobs []*job) bool {
	if err := s.cells.known(name); err != nil {
		fail(jobs, err)
		return false
	}
	var cell []byte
	for _, j := range jobs {
		if row != nil || !j.blind {
			var err error
			if cell, err = s.cells.get(ctx, name); err != nil {
				fail(jobs, err)
				return false
			}
			cell, _ = newer(cell, row)
			break
		}
	}
	var stamp edm.Ticks
	for _, j := range jobs {
		var body []byte
		if body, j.stamp, j.err = j.cell(cell); j.err == nil {
			cell, stamp = body, j.stamp
		}
	}
	if stamp == 0 {
		return false // all were refused
	}
	if err := s.put(ctx, name, stamp, cell); err != nil {
		fail(jobs, err)
	}
	return true
}

func fail(jobs []*job, err error) {
	for _, j := range jobs {
		j.stamp, j.err = 0, err
	}
}
