package engine

import (
	"bytes"
	"encoding/binary"
	"strings"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// marker is the incarnation that the object serves.
type marker struct {
	live        bool
	incarnation table.Incarnation
	floor       edm.Ticks // its Timestamps are above
	// span is the range that the object serves; nil is the whole bucket, which never split.
	span *span
}

// span is the range of an object, and how far its split is. It is in the row of the
// marker, under another key: code that does not know ranges finds no marker.
type span struct {
	self   message.Destination // of this object
	bounds key.Range           // of the keys that it serves
	phase  phase
	seq    uint64 // of the last piece that was sent, or received

	// Of a split, or of a range that leaves:
	leaving  bool
	at       []byte    // the keys from here on go to another range
	end      []byte    // up to here, nil: all
	target   uint32    // the id of that range
	from     []byte    // the row at which the next piece begins
	upto     []byte    // changes of rows before are marked, because they were sent
	complete bool      // all rows were sent once
	sealed   edm.Ticks // when it ceased to serve them, until the catalog knows it
}

// phase is the state of a range: see docs/adr/0034.
type phase byte

const (
	serving phase = iota
	filling       // it gets pieces, and serves nothing
	asking        // it asks the catalog for the range that will have its upper keys
	copying
	sealed   // it serves these keys no more, and the other range perhaps not yet
	moved    // the other range serves them, and the catalog perhaps does not know it
	emptying // it deletes their rows
)

func (m *marker) load(rows Rows) {
	*m = marker{}
	if v, ok := rows.Get(rowMarker); ok {
		m.read(v)
		return
	}
	if v, ok := rows.Get(rowRange); ok {
		m.read(bytes.Clone(v))
	}
}

func (m *marker) read(v []byte) {
	const size = len(m.incarnation) + 8
	if len(v) < size {
		return
	}
	m.live = true
	m.floor = edm.Ticks(binary.BigEndian.Uint64(v[copy(m.incarnation[:], v):]))
	if len(v) > size {
		m.span = readSpan(v[size:])
	}
}

func (m *marker) put(rows Rows) {
	v := make([]byte, 0, len(m.incarnation)+8)
	v = append(v, m.incarnation[:]...)
	v = binary.BigEndian.AppendUint64(v, uint64(m.floor))
	if m.span == nil {
		rows.Put(rowMarker, v)
		return
	}
	rows.Put(rowRange, m.span.append(v))
}

func (s *span) append(v []byte) []byte {
	v = append(v, byte(s.phase), 0, 0, 0)
	for i, set := range [...]bool{s.leaving, s.end != nil, s.complete} {
		if set {
			v[len(v)-3+i] = 1
		}
	}
	v = binary.BigEndian.AppendUint64(v, s.seq)
	v = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(v, s.self.Range), s.target)
	v = message.AppendBounds(message.AppendDestination(v, &s.self), s.bounds)
	for _, b := range [...][]byte{s.at, s.end, s.from, s.upto} {
		v = message.AppendBytes(v, b)
	}
	if s.sealed != 0 {
		v = binary.BigEndian.AppendUint64(v, uint64(s.sealed))
	}
	return v
}

// readSpan shares the memory of v.
func readSpan(v []byte) *span {
	r := message.Read(v)
	s := &span{phase: phase(r.Byte()), leaving: r.Bool()}
	ends := r.Bool()
	s.complete, s.seq = r.Bool(), r.Uint64()
	id := r.Uint32()
	s.target = r.Uint32()
	s.self, s.bounds = r.Destination(), r.Bounds()
	s.self.Range = id
	s.at, s.end, s.from, s.upto = r.Bytes(), r.Bytes(), r.Bytes(), r.Bytes()
	if ends && s.end == nil {
		s.end = []byte{}
	}
	if r.OK() && !r.Done() {
		s.sealed = r.Ticks()
	}
	if !r.Done() || s.phase > emptying {
		panic("the row of a range is damaged or of a later version")
	}
	return s
}

// gives reports whether the keys of a position are on their way to another range, or
// there already.
func (s *span) gives(k []byte) bool {
	return s.phase >= sealed && key.Range{Start: s.at, End: s.end}.Contains(k)
}

// has reports whether the object serves the keys of a position.
func (m *marker) has(k []byte) bool {
	return m.live && (m.span == nil || m.span.phase != filling && m.span.bounds.Contains(k))
}

// bounds are those of the keys that the object serves.
func (m *marker) bounds() key.Range {
	if m.span == nil {
		return key.Range{}
	}
	return m.span.bounds
}

// classes is the number of classes of Timestamps that a bucket has for its ranges.
func classes(buckets uint16) uint32 { return 1024 / min(max(uint32(buckets), 1), 1024) }

// class is the class of the Timestamps that this object issues for its range, and the
// number of classes: no two ranges of a table issue the same. A bucket that never split
// has the class that the first of its ranges will have, and others.
func (m *marker) class(p *message.Destination) (class, count uint32) {
	if m.span == nil {
		return uint32(p.Bucket), uint32(p.Buckets)
	}
	n := classes(p.Buckets)
	return uint32(p.Bucket) + uint32(p.Buckets)*(m.span.self.Range%n), uint32(p.Buckets) * n
}

// cloneDestination is a destination in memory of its own.
func cloneDestination(p *message.Destination) message.Destination {
	c := *p
	c.Table, c.Location = strings.Clone(p.Table), strings.Clone(p.Location)
	return c
}
