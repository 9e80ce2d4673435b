package object

import (
	"encoding/binary"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Lives of tables that ended are purged from the replica by the catalog, when
// all that their buckets wrote has arrived.

// buried records that a life is to be purged.
func (h *handling) buried(rec *record) {
	if !h.outbox.on {
		return
	}
	h.putPurge(rec.Incarnation, h.now()+settled)
	h.outbox.purge = h.nextPurge()
}

func (h *handling) putPurge(life table.Incarnation, due edm.Ticks) {
	putTicks(h.rows, rowOf(spacePurges, string(life[:])), due)
}

// purges calls f with the lives that ended, until it returns false.
func (h *handling) purges(f func(life table.Incarnation, due edm.Ticks) bool) {
	for k, v := range h.rows.Scan([]byte{spacePurges}, []byte{spacePurges + 1}, leastRun) {
		if len(k) == 1+len(table.Incarnation{}) && len(v) == 8 &&
			!f(table.Incarnation(k[1:]), edm.Ticks(binary.BigEndian.Uint64(v))) {
			return
		}
	}
}

// nextPurge is when the next life can be purged, 0: there is none.
func (h *handling) nextPurge() (at edm.Ticks) {
	h.purges(func(_ table.Incarnation, due edm.Ticks) bool {
		if at == 0 || due < at {
			at = due
		}
		return true
	})
	return at
}

// handOutPurge has a life purged. If that is cut off, it is done again.
func (h *handling) handOutPurge(now edm.Ticks) Step {
	f := &flight{purge: true}
	h.purges(func(life table.Incarnation, due edm.Ticks) bool {
		f.life = life
		return due > now
	})
	h.putPurge(f.life, now+lease)
	h.outbox.purge = h.nextPurge()
	head := message.BatchHead{Life: f.life, Source: h.outbox.source, Purge: true}
	return h.fly(f, message.AppendBatch(h.dst, &head), nil)
}

// purged takes what came of it: whether there is more to do.
func (h *handling) purged(f *flight, more bool) Step {
	if more {
		h.putPurge(f.life, h.now())
	} else {
		h.rows.Delete(rowOf(spacePurges, string(f.life[:])))
	}
	h.outbox.purge = h.nextPurge()
	return h.done()
}
