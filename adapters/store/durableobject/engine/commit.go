package engine

import (
	"edgetable/adapters/store/durableobject/internal/answers"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/room"
	"edgetable/adapters/store/durableobject/internal/visits"
	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/core/traffic"
)

// commit applies mutations in order; the first refused one undoes them all.
func (b *bucket) commit(t *turn, _ message.Attempt, v answers.Verdict) Step {
	p := t.fields.Destination()
	n := int(t.fields.Number(table.MaxBatchOperations))
	if !t.fields.OK() || n == 0 {
		return t.malformed()
	}
	if v == answers.Lost {
		return lostWrite(t)
	}
	ahead := t.fields
	first := ahead.Mutation() // all mutations are of one partition
	if ok, instead := b.serve(t, &p, first.Key); !ok {
		return instead
	}
	class, count := b.marker.Class(&p)
	now := b.clock.Next(t.now, class, count)
	undo := func(s Step, applied int) Step {
		s.Rollback = applied > 0
		return s
	}
	var visit traffic.Visit
	for i := range n {
		m := t.fields.Mutation()
		if !t.fields.OK() {
			return undo(t.malformed(), i)
		}
		if m.Kind != table.Delete && b.room.Full(t.rows) {
			return undo(t.fail(&table.Refused{Index: i, Err: b.whyFull(t)}), i)
		}
		if err := b.apply(t, &m, now); err != nil {
			return undo(t.fail(&table.Refused{Index: i, Err: err}), i)
		}
		visits.AddMutation(&visit, &m)
	}
	if !t.fields.Done() {
		return undo(t.malformed(), n)
	}
	b.clock.Issue(t.rows, now)
	b.outbox.notify(t, now)
	b.traffic.Count(t.rows, t.now, &visit)
	b.split.wrote(t, b, &p, first.Key)
	b.split.visited(t, b, &p, first.Key)
	return t.doneTicks(now)
}

// apply applies a mutation to one entity.
func (b *bucket) apply(t *turn, m *table.Mutation, now edm.Ticks) error {
	k := b.entityKey(m.Key)
	var old *table.Row
	if v, ok := t.rows.Get(k); ok {
		row, err := table.ParseRow(m.Key, v)
		if err != nil {
			return err
		}
		old = &row
	}
	row, err := table.Apply(old, *m, now)
	switch {
	case err != nil:
		return err
	case row == nil:
		t.rows.Delete(k)
		b.outbox.changed(t, k, now)
		b.mark(t, k, now)
		return nil
	}
	// The row uses the memory of the answer, which is written later: memory of its own
	// would keep the size of the largest entity in each object.
	v := table.AppendRow(t.dst, row)
	t.dst, v = v[:len(t.dst)], v[len(t.dst):]
	if len(k)+len(v) > maxRow {
		return table.EntityTooLarge.Err()
	}
	t.rows.Put(k, v)
	b.room.Wrote(len(k) + len(v))
	b.outbox.changed(t, k, now)
	b.mark(t, k, now)
	if old == nil {
		b.split.inserted(m.Key)
	}
	return nil
}

// whyFull is the error of a write to a full object: one of a single partition cannot split.
func (b *bucket) whyFull(t *turn) *table.Error {
	if b.onlyPartition(t) != nil {
		return room.ErrPartitionFull
	}
	return room.ErrBucketFull
}
