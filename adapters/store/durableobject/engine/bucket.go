package engine

import (
	"encoding/binary"
	"errors"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// bucket serves the entities of one bucket of a table.
type bucket struct {
	clock   *clock
	room    *room
	outbox  *outbox
	catalog string // location of the catalogs

	marker  marker
	traffic statistics
	// generation changes with each drop. It is random at first, because an earlier
	// engine may have seen drops that this one has not.
	generation uint64
	ended      table.Incarnation // the last incarnation that was seen being deleted

	key []byte // scratch
}

// marker is the incarnation that the bucket serves.
type marker struct {
	live        bool
	incarnation table.Incarnation
	floor       edm.Ticks // its Timestamps are above
}

func (m *marker) load(rows Rows) {
	*m = marker{}
	v, ok := rows.Get(rowMarker)
	if ok && len(v) >= len(m.incarnation)+8 {
		m.live = true
		m.floor = edm.Ticks(binary.BigEndian.Uint64(v[copy(m.incarnation[:], v):]))
	}
}

func (m *marker) put(rows Rows) {
	v := make([]byte, 0, len(m.incarnation)+8)
	v = append(v, m.incarnation[:]...)
	rows.Put(rowMarker, binary.BigEndian.AppendUint64(v, uint64(m.floor)))
}

// serve checks that the table lives and that this is its bucket. If not, instead is
// the step to take.
func (b *bucket) serve(t *turn, p *message.Place) (ok bool, instead Step) {
	if b.marker.live {
		b.outbox.joinBucket(t, p, b.marker.incarnation)
		return true, Step{}
	}
	c := &t.resumed
	if c.kind != locates || c.generation != b.generation || len(t.answers) != 1 {
		return false, b.locate(p, 0)
	}
	if t.answers[0].Err != nil {
		if c.round+1 < rounds {
			return false, b.locate(p, c.round+1)
		}
		return false, t.fail(table.ErrBusy)
	}
	r, err := message.Result(t.answers[0].Message)
	l := r.Located()
	switch {
	case errors.Is(err, table.ErrNoTable):
		return false, t.fail(table.ErrNoTable)
	case err != nil || !r.Done():
		return false, t.fail(table.ErrBusy)
	case l.Home.Buckets != p.Buckets || l.Home.Location != p.Location:
		// Also while the table is being deleted: only its own buckets may say that it is
		// gone before the catalog does.
		return false, Step{Answer: message.Moved(t.dst, l.Home)}
	case l.Deleting || l.Incarnation == b.ended:
		// An earlier answer, by which the table lives, may still arrive: this incarnation
		// stays refused. Where no record exists, the drop changed the generation.
		b.ended = l.Incarnation
		return false, t.fail(table.ErrNoTable)
	}
	b.marker = marker{live: true, incarnation: l.Incarnation, floor: l.Floor}
	b.marker.put(t.rows)
	b.clock.last = max(b.clock.last, l.Floor)
	b.outbox.joinBucket(t, p, b.marker.incarnation)
	return true, Step{}
}

// locate asks the catalog where the table is.
func (b *bucket) locate(p *message.Place, round byte) Step {
	return Step{
		Calls: []durableobject.Call{{
			To:      durableobject.CatalogOf(p.Table, b.catalog),
			Message: message.Key(nil, message.OpLocate, p.Table),
		}},
		next: continuation{kind: locates, generation: b.generation, round: round},
	}
}

// entityKey is the key of an entity's row, valid until the next call.
func (b *bucket) entityKey(k []byte) []byte {
	b.key = append(append(b.key[:0], spaceEntities), k...)
	return b.key
}

func (b *bucket) get(t *turn) Step {
	p := t.fields.Place()
	k := t.fields.Bytes()
	if !t.fields.Done() {
		return t.malformed()
	}
	if ok, instead := b.serve(t, &p); !ok {
		return instead
	}
	v, ok := t.rows.Get(b.entityKey(k))
	step := Step{Answer: append(message.Done(t.dst), v...)}
	if !ok {
		step = t.fail(table.ErrNoEntity)
	}
	b.traffic.read(t, k, len(k)+len(v))
	return step
}

// drop ends an incarnation and answers the high water of its Timestamps. The catalog
// repeats a drop whose answer was lost, so the high water stays until forget.
func (b *bucket) drop(t *turn) Step {
	incarnation := t.fields.Incarnation()
	if !t.fields.Done() {
		return t.malformed()
	}
	b.generation++
	if b.marker.live {
		if b.marker.incarnation != incarnation {
			return t.doneTicks(0) // a later incarnation: that drop was answered long ago
		}
		t.rows.DeleteAll()
		b.marker, b.traffic = marker{}, statistics{}
		b.outbox.publishing = publishing{}
		b.clock.reserved = b.clock.last
		if b.clock.last > 0 {
			putTicks(t.rows, rowClock, b.clock.last)
		}
	}
	return t.doneTicks(b.clock.reserved)
}

// forget removes what drop left, if the catalog has recorded it.
func (b *bucket) forget(t *turn) Step {
	high := t.fields.Ticks()
	if !t.fields.Done() {
		return t.malformed()
	}
	if !b.marker.live && b.clock.reserved <= high {
		t.rows.DeleteAll()
		b.clock.reserved = 0
	}
	return t.done()
}
