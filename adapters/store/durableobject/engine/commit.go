package engine

import (
	"edgetable/adapters/store/durableobject/internal/answers"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/room"
	"edgetable/adapters/store/durableobject/internal/sample"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/adapters/store/durableobject/internal/visits"
	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/core/traffic"
)

// commit applies mutations in order. If one mutation is refused, all of them are undone.
func (b *bucket) commit(t *turn.Turn, _ message.Attempt, v answers.Verdict) turn.Step {
	p := t.Fields.Destination()
	n := int(t.Fields.Number(table.MaxBatchOperations))
	if !t.Fields.OK() || n == 0 {
		return t.Malformed()
	}
	if v == answers.Lost {
		return turn.LostWrite(t)
	}
	ahead := t.Fields
	first := ahead.Mutation() // all mutations are in the same partition
	if ok, instead := b.serve(t, &p, first.Key); !ok {
		return instead
	}
	class, count := b.marker.Class(&p)
	now := b.clock.Next(t.Now, class, count)
	undo := func(s turn.Step, applied int) turn.Step {
		s.Rollback = applied > 0
		return s
	}
	b.feed.Begin()
	var visit traffic.Visit
	for i := range n {
		m := t.Fields.Mutation()
		if !t.Fields.OK() {
			return undo(t.Malformed(), i)
		}
		if !m.Kind.Removes() && b.isFull(t) {
			return undo(t.Fail(&table.Refused{Index: i, Err: b.whyFull(t)}), i)
		}
		if err := b.apply(t, &m, now); err != nil {
			return undo(t.Fail(&table.Refused{Index: i, Err: err}), i)
		}
		visits.AddMutation(&visit, &m)
	}
	if !t.Fields.Done() {
		return undo(t.Malformed(), n)
	}
	b.clock.Issue(t.Rows, now)
	b.room.Wrote(b.feed.Commit(t.Rows, now))
	b.outbox.Notify(t, now)
	b.traffic.Count(t.Rows, t.Now, &visit)
	b.split.afterWrite(t, b, &p, first.Key)
	b.split.visited(t, b, &p, first.Key)
	return t.DoneTicks(now)
}

func (b *bucket) apply(t *turn.Turn, m *table.Mutation, now edm.Ticks) error {
	k := b.entityKey(m.Key)
	var old *table.Row
	if v, ok := t.Rows.Get(k); ok {
		row, err := table.ParseRow(m.Key, v)
		if err != nil {
			return err
		}
		old = &row
	}
	m.Room = t.Room()
	effect, err := b.marker.Traits.Apply(old, *m, now)
	row := effect.Row
	switch {
	case err != nil:
		b.keepExpired(t, old, now)
		return err
	case row == nil:
		t.Rows.Delete(k)
		b.feed.Add(m, &effect)
		b.outbox.PutChange(t, k, now)
		b.recordChange(t, k, now)
		return nil
	}
	// Encode the row in the unused part of the answer's buffer. The answer is written later, so no second large buffer
	// is needed.
	v := table.AppendRow(t.Dst, row)
	t.Dst, v = v[:len(t.Dst)], v[len(t.Dst):]
	if len(k)+len(v) > storage.MaxRow {
		return table.EntityTooLarge.Err()
	}
	t.Rows.Put(k, v)
	b.room.Wrote(len(k) + len(v))
	b.feed.Add(m, &effect)
	b.outbox.PutChange(t, k, now)
	b.recordChange(t, k, now)
	b.sweep.NoteWrite(t.Rows, b.marker.Traits, row, now)
	if old == nil {
		b.split.inserted(m.Key)
	}
	return nil
}

// whyFull returns the error for a write to a full object. An object with a single partition cannot split and has its
// own error.
func (b *bucket) whyFull(t *turn.Turn) *table.Error {
	if sample.OnlyPartition(t.Rows, b.marker.Bounds()) != nil {
		return room.ErrPartitionFull
	}
	return room.ErrBucketFull
}
