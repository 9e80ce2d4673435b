package engine

import (
	"encoding/binary"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// The catalog purges the incarnations of deleted tables from the replica when no
// write of their buckets can still arrive.

func (o *outbox) schedulePurge(t *turn.Turn, incarnation table.Incarnation) {
	if !o.on {
		return
	}
	putPurge(t.Rows, incarnation, t.Now+visibleAfter)
	o.purgeAt = nextPurge(t.Rows)
}

func putPurge(rows storage.Rows, incarnation table.Incarnation, due edm.Ticks) {
	storage.PutTicks(rows, storage.RowOf(storage.SpacePurges, string(incarnation[:])), due)
}

// purges calls f with the incarnations to purge, until it returns false.
func purges(rows storage.Rows, f func(incarnation table.Incarnation, due edm.Ticks) bool) {
	for k, v := range rows.Scan([]byte{storage.SpacePurges}, []byte{storage.SpacePurges + 1}, leastRun) {
		if len(k) == 1+len(table.Incarnation{}) && len(v) == 8 &&
			!f(table.Incarnation(k[1:]), edm.Ticks(binary.BigEndian.Uint64(v))) {
			return
		}
	}
}

// nextPurge is when the next incarnation can be purged, 0 if there is none.
func nextPurge(rows storage.Rows) (at edm.Ticks) {
	purges(rows, func(_ table.Incarnation, due edm.Ticks) bool {
		if at == 0 || due < at {
			at = due
		}
		return true
	})
	return at
}

// handOutPurge has an incarnation purged. An interrupted purge is repeated.
func (o *outbox) handOutPurge(t *turn.Turn) turn.Step {
	f := &batchInFlight{purge: true}
	purges(t.Rows, func(incarnation table.Incarnation, due edm.Ticks) bool {
		f.incarnation = incarnation
		return due > t.Now
	})
	putPurge(t.Rows, f.incarnation, t.Now+batchTimeout)
	o.purgeAt = nextPurge(t.Rows)
	head := message.BatchHead{Incarnation: f.incarnation, Source: o.source, Purge: true}
	return o.send(t, f, message.AppendBatch(t.Dst, &head), nil)
}

// purged takes the result of a purge: whether more remains.
func (o *outbox) purged(t *turn.Turn, f *batchInFlight, more bool) turn.Step {
	if more {
		putPurge(t.Rows, f.incarnation, t.Now)
	} else {
		t.Rows.Delete(storage.RowOf(storage.SpacePurges, string(f.incarnation[:])))
	}
	o.purgeAt = nextPurge(t.Rows)
	return t.Done()
}
