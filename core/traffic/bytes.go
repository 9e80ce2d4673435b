package traffic

import (
	"encoding/binary"

	"edgetable/core/edm"
)

// version is the version of the encoding of a Tally.
const version = 1

// Append appends the encoded Tally to dst. [ReadTally] decodes it.
func (t *Tally) Append(dst []byte) []byte {
	w := writer{append(dst, version)}
	w.number(uint64(t.since))
	w.number(uint64(t.now))
	for _, n := range t.totals.sums() {
		w.number(*n)
	}
	w.number(t.totals.Largest)
	w.text(t.totals.LargestIn)
	w.text(t.totals.LastInserted)
	w.number(t.totals.SecondMost)
	w.text(t.totals.SecondMostIn)
	for m := range t.heavy {
		h := &t.heavy[m]
		w.number(h.total)
		w.number(uint64(len(h.slots)))
		for i := range h.slots {
			s := &h.slots[i]
			w.b = binary.LittleEndian.AppendUint64(w.b, s.hash)
			w.number(s.count)
			w.number(s.err)
			w.text(string(s.name))
		}
	}
	w.number(uint64(len(t.shapes)))
	for i := range t.shapes {
		s := &t.shapes[i]
		w.text(s.Plan)
		w.text(s.Filter)
		w.text(s.Example)
		for _, n := range s.sums() {
			w.number(*n)
		}
	}
	if t.totals.FirstInserts > 0 {
		w.b = append(w.b, t.first...)
	}
	for _, k := range t.ends.keys() {
		w.text(string(*k))
	}
	w.number(uint64(t.ends.n))
	w.number(uint64(len(t.minutes)))
	for i := range t.minutes {
		w.number(uint64(t.minutes[i].at))
		for _, n := range t.minutes[i].counts {
			w.number(uint64(n))
		}
	}
	return w.b
}

type writer struct{ b []byte }

func (w *writer) number(n uint64) { w.b = binary.AppendUvarint(w.b, n) }

func (w *writer) text(s string) {
	w.number(uint64(len(s)))
	w.b = append(w.b, s...)
}

// ReadTally decodes the Tally of a bucket that [Tally.Append] encoded. ok is false for other bytes.
func ReadTally(b []byte) (t *Tally, ok bool) {
	r := reader{rest: b}
	if r.byte() != version {
		return nil, false
	}
	t = NewTally(edm.Ticks(r.number()))
	t.now = edm.Ticks(r.number())
	for _, n := range t.totals.sums() {
		*n = r.number()
	}
	t.totals.Largest, t.totals.LargestIn, t.totals.LastInserted = r.number(), r.text(), r.text()
	t.totals.SecondMost, t.totals.SecondMostIn = r.number(), r.text()
	for m := range t.heavy {
		h := &t.heavy[m]
		h.total = r.number()
		for range r.count(h.room) {
			s := slot{hash: binary.LittleEndian.Uint64(r.fixed(8)), count: r.number(), err: r.number(), name: r.bytes()}
			if _, twice := h.at[s.hash]; twice || r.bad {
				return nil, false
			}
			h.append(s)
		}
	}
	for range r.count(t.size.shapes) {
		s := Shape{Plan: r.text(), Filter: r.text(), Example: r.text()}
		for _, n := range s.sums() {
			*n = r.number()
		}
		t.shapes = append(t.shapes, s)
	}
	if t.totals.FirstInserts > 0 {
		copy(t.first, r.fixed(firstBytes))
	}
	for _, k := range t.ends.keys() {
		if b := r.bytes(); len(b) > 0 {
			*k = b
		}
	}
	t.ends.n = int(r.number())
	for range r.count(t.size.minutes) {
		m := minuteCount{at: edm.Ticks(r.number())}
		for i := range m.counts {
			m.counts[i] = uint32(r.number())
		}
		t.minutes = append(t.minutes, m)
	}
	return t, !r.bad && len(r.rest) == 0
}

// reader decodes values from the front of a byte string. The field rest holds the bytes that were not decoded yet.
// After an error, the field bad is true, and all decoded values are zero.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) number() uint64 {
	n, size := binary.Uvarint(r.rest)
	if r.fixed(size); r.bad || size == 0 {
		r.bad = true
		return 0
	}
	return n
}

// count reads a number of items. A number that exceeds room is an error.
func (r *reader) count(room int) int {
	n := r.number()
	if r.bad = r.bad || n > uint64(room); r.bad {
		return 0
	}
	return int(n)
}

// fixed returns the next n bytes. After an error, all returned bytes are zero.
func (r *reader) fixed(n int) []byte {
	if r.bad = r.bad || n < 0 || n > len(r.rest); r.bad {
		return make([]byte, max(n, 0))
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) byte() byte { return r.fixed(1)[0] }

// bytes reads a byte string and copies it.
func (r *reader) bytes() []byte { return append([]byte(nil), r.fixed(r.count(len(r.rest)))...) }

func (r *reader) text() string { return string(r.fixed(r.count(len(r.rest)))) }
