package object

import (
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// commit applies mutations one after the other; the first that is refused undoes
// them all.
func (h *handling) commit(_ message.Attempt, v verdict) Step {
	p := h.r.Place()
	n := int(h.r.Number(table.MaxBatchOperations))
	if !h.r.OK() || n == 0 {
		return h.garbled()
	}
	if v == lost {
		return h.fail(table.ErrUnknown)
	}
	ok, instead := h.serve(&p)
	if !ok {
		return instead
	}
	now := h.clock.next(h.now(), p.Bucket, p.Buckets)
	for i := range n {
		m := h.r.Mutation()
		if !h.r.OK() {
			return h.undo(h.garbled(), i)
		}
		if m.Kind != table.Delete && h.full() {
			return h.undo(h.fail(&table.Refused{Index: i, Err: errBucketFull}), i)
		}
		if err := h.apply(&m, now); err != nil {
			return h.undo(h.fail(&table.Refused{Index: i, Err: err}), i)
		}
	}
	if !h.r.Done() {
		return h.undo(h.garbled(), n)
	}
	h.clock.issue(h.rows, now)
	h.notify(now)
	return h.doneTicks(now)
}

// undo makes a step one that leaves no trace, if there is one: written mutations,
// and what may have been written before them.
func (h *handling) undo(s Step, written int) Step {
	if written > 0 {
		s.Rollback = true
		h.loaded = false
	}
	return s
}

// apply reads, changes and writes one entity.
func (h *handling) apply(m *table.Mutation, now edm.Ticks) error {
	k := h.entityKey(m.Key)
	var old *table.Row
	if v, ok := h.rows.Get(k); ok {
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
		h.rows.Delete(k)
		h.changed(k, now)
		return nil
	}
	// Until there is an answer its memory serves: objects that had some of their own
	// would each keep as much as its largest entity.
	v := table.AppendRow(h.dst, row)
	h.dst, v = v[:len(h.dst)], v[len(h.dst):]
	if len(k)+len(v) > maxRow {
		return table.EntityTooLarge.Err()
	}
	h.rows.Put(k, v)
	h.unlooked -= len(k) + len(v)
	h.changed(k, now)
	return nil
}
