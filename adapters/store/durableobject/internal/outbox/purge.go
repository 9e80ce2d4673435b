package outbox

import (
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/purges"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// SchedulePurge schedules the purge of a deleted table's incarnation from the replica, for the time when no write of
// the table's buckets can still arrive.
func (o *Outbox) SchedulePurge(t *turn.Turn, incarnation table.Incarnation) {
	if !o.on {
		return
	}
	purges.Put(t.Rows, incarnation, t.Now+visibleAfter)
	o.purgeAt = purges.Next(t.Rows)
}

// handOutPurge sends a request to purge an incarnation. An interrupted purge is repeated.
func (o *Outbox) handOutPurge(t *turn.Turn) turn.Step {
	f := &batchInFlight{purge: true}
	purges.Each(t.Rows, func(incarnation table.Incarnation, due edm.Ticks) bool {
		f.incarnation = incarnation
		return due > t.Now
	})
	purges.Put(t.Rows, f.incarnation, t.Now+batchTimeout)
	o.purgeAt = purges.Next(t.Rows)
	head := message.BatchHead{Incarnation: f.incarnation, Source: o.source, Purge: true}
	return o.send(t, f, message.AppendBatch(t.Dst, &head), nil)
}

// acceptPurgeResult handles the result of a purge. If more is true, the replica has more to delete.
func (o *Outbox) acceptPurgeResult(t *turn.Turn, f *batchInFlight, hasMore bool) turn.Step {
	if hasMore {
		purges.Put(t.Rows, f.incarnation, t.Now)
	} else {
		t.Rows.Delete(storage.RowOf(storage.SpacePurges, string(f.incarnation[:])))
	}
	o.purgeAt = purges.Next(t.Rows)
	return t.Done()
}
