package object

import (
	"encoding/binary"

	"edgetable/adapters/durableobject/internal/message"
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
	h.putPurge(rec.Layout.Incarnation, h.now()+settled, rec.home.Buckets)
	h.outbox.purge = h.nextPurge()
}

func (h *handling) putPurge(life table.Incarnation, due edm.Ticks, buckets uint16) {
	v := binary.BigEndian.AppendUint64(make([]byte, 0, 10), uint64(due))
	h.rows.Put(rowOf(spacePurges, string(life[:])), binary.BigEndian.AppendUint16(v, buckets))
}

// purges calls f with the lives that ended, until it returns false.
func (h *handling) purges(f func(life table.Incarnation, due edm.Ticks, buckets uint16) bool) {
	for k, v := range h.rows.Scan([]byte{spacePurges}, []byte{spacePurges + 1}, leastRun) {
		if len(k) == 1+len(table.Incarnation{}) && len(v) == 10 &&
			!f(table.Incarnation(k[1:]), edm.Ticks(binary.BigEndian.Uint64(v)), binary.BigEndian.Uint16(v[8:])) {
			return
		}
	}
}

// nextPurge is when the next life can be purged, 0: there is none.
func (h *handling) nextPurge() (at edm.Ticks) {
	h.purges(func(_ table.Incarnation, due edm.Ticks, _ uint16) bool {
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
	h.purges(func(life table.Incarnation, due edm.Ticks, buckets uint16) bool {
		f.life, f.buckets = life, buckets
		return due > now
	})
	h.putPurge(f.life, now+lease, f.buckets)
	h.outbox.purge = h.nextPurge()
	head := message.BatchHead{Life: f.life, Source: h.outbox.source, Purge: true, Buckets: f.buckets}
	return h.fly(f, message.AppendBatch(h.dst, &head), nil)
}

// purged takes what came of it: whether there is more to do.
func (h *handling) purged(f *flight, more bool) Step {
	if more {
		h.putPurge(f.life, h.now(), f.buckets)
	} else {
		h.rows.Delete(rowOf(spacePurges, string(f.life[:])))
	}
	h.outbox.purge = h.nextPurge()
	return h.done()
}
