package engine

import (
	"encoding/binary"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// The catalog purges the incarnations of deleted tables from the replica when no
// write of their buckets can still arrive.

func (o *outbox) schedulePurge(t *turn, incarnation table.Incarnation) {
	if !o.on {
		return
	}
	putPurge(t.rows, incarnation, t.now+visibleAfter)
	o.purgeAt = nextPurge(t.rows)
}

func putPurge(rows Rows, incarnation table.Incarnation, due edm.Ticks) {
	storage.PutTicks(rows, rowOf(spacePurges, string(incarnation[:])), due)
}

// purges calls f with the incarnations to purge, until it returns false.
func purges(rows Rows, f func(incarnation table.Incarnation, due edm.Ticks) bool) {
	for k, v := range rows.Scan([]byte{spacePurges}, []byte{spacePurges + 1}, leastRun) {
		if len(k) == 1+len(table.Incarnation{}) && len(v) == 8 &&
			!f(table.Incarnation(k[1:]), edm.Ticks(binary.BigEndian.Uint64(v))) {
			return
		}
	}
}

// nextPurge is when the next incarnation can be purged, 0 if there is none.
func nextPurge(rows Rows) (at edm.Ticks) {
	purges(rows, func(_ table.Incarnation, due edm.Ticks) bool {
		if at == 0 || due < at {
			at = due
		}
		return true
	})
	return at
}

// handOutPurge has an incarnation purged. An interrupted purge is repeated.
func (o *outbox) handOutPurge(t *turn) Step {
	f := &batchInFlight{purge: true}
	purges(t.rows, func(incarnation table.Incarnation, due edm.Ticks) bool {
		f.incarnation = incarnation
		return due > t.now
	})
	putPurge(t.rows, f.incarnation, t.now+batchTimeout)
	o.purgeAt = nextPurge(t.rows)
	head := message.BatchHead{Incarnation: f.incarnation, Source: o.source, Purge: true}
	return o.send(t, f, message.AppendBatch(t.dst, &head), nil)
}

// purged takes the result of a purge: whether more remains.
func (o *outbox) purged(t *turn, f *batchInFlight, more bool) Step {
	if more {
		putPurge(t.rows, f.incarnation, t.now)
	} else {
		t.rows.Delete(rowOf(spacePurges, string(f.incarnation[:])))
	}
	o.purgeAt = nextPurge(t.rows)
	return t.done()
}
