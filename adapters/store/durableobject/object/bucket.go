package object

import (
	"encoding/binary"
	"errors"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/table"
)

// serve makes sure that the table lives and that this is a bucket of it. If not,
// the step says what to do instead.
func (h *handling) serve(p *message.Place) (ok bool, instead Step) {
	h.load()
	if h.marker.live {
		h.joinBucket(p)
		return true, Step{}
	}
	state, round := h.resume.State, byte(0)
	if len(state) != askSize || binary.BigEndian.Uint64(state) != h.generation || len(h.resume.Answers) != 1 {
		return false, h.ask(p, round)
	}
	answer := h.resume.Answers[0]
	if answer.Err != nil {
		if round = state[askSize-1] + 1; round < rounds {
			return false, h.ask(p, round)
		}
		return false, h.fail(table.ErrBusy)
	}
	r, err := message.Result(answer.Message)
	l := r.Located()
	switch {
	case errors.Is(err, table.ErrNoTable):
		return false, h.fail(table.ErrNoTable)
	case err != nil || !r.Done():
		return false, h.fail(table.ErrBusy)
	case l.Home.Buckets != p.Buckets || l.Home.Location != p.Location:
		// Also while the table is being deleted: only where it was may it be
		// called dead before the catalog does.
		return false, Step{Answer: message.Moved(h.dst, l.Home)}
	case l.Deleting || l.Incarnation == h.doomed:
		// Others may be on their way back with an older answer, by which it lives.
		// Not so where there is no record: its drop made another generation.
		h.doomed = l.Incarnation
		return false, h.fail(table.ErrNoTable)
	}
	h.marker = marker{live: true, incarnation: l.Incarnation, floor: l.Floor}
	h.marker.put(h.rows)
	h.clock.last = max(h.clock.last, l.Floor)
	h.joinBucket(p)
	return true, Step{}
}

// askSize is the length of the State of a step that asks the catalog: the
// generation, and how many rounds there were before.
const askSize = 8 + 1

func (h *handling) ask(p *message.Place, round byte) Step {
	return Step{
		Calls: []durableobject.Call{{
			Object:  durableobject.CatalogOf(p.Table, h.catalog),
			Message: message.Key(nil, message.OpLocate, p.Table),
		}},
		State: append(binary.BigEndian.AppendUint64(make([]byte, 0, askSize), h.generation), round),
	}
}

// entityKey is the key of an entity's row, good until the next call.
func (o *Object) entityKey(k []byte) []byte {
	o.key = append(append(o.key[:0], spaceEntities), k...)
	return o.key
}

func (h *handling) get() Step {
	p := h.r.Place()
	k := h.r.Bytes()
	if !h.r.Done() {
		return h.garbled()
	}
	ok, instead := h.serve(&p)
	if !ok {
		return instead
	}
	v, ok := h.rows.Get(h.entityKey(k))
	if !ok {
		return h.fail(table.ErrNoEntity)
	}
	return Step{Answer: append(message.Done(h.dst), v...)}
}

// drop ends the life of the table here, if it is this one, and answers how high
// its Timestamps may be. The catalog asks again when it got no answer: so they
// are kept.
func (h *handling) drop() Step {
	incarnation := h.r.Incarnation()
	if !h.r.Done() {
		return h.garbled()
	}
	h.load()
	h.generation++
	if h.marker.live {
		if h.marker.incarnation != incarnation {
			return h.doneTicks(0) // a new life began: that drop was answered long ago
		}
		h.rows.DeleteAll()
		h.marker, h.outbox = marker{}, outbox{}
		h.clock.reserved = h.clock.last
		if h.clock.last > 0 {
			putTicks(h.rows, rowClock, h.clock.last)
		}
	}
	return h.doneTicks(h.clock.reserved)
}

// forget removes what drop left, if the catalog has recorded it.
func (h *handling) forget() Step {
	high := h.r.Ticks()
	if !h.r.Done() {
		return h.garbled()
	}
	h.load()
	if !h.marker.live && h.clock.reserved <= high {
		h.rows.DeleteAll()
		h.clock.reserved = 0
	}
	return h.done()
}
