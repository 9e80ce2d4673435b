// Package span stores which incarnation and which keys a bucket object serves, and the progress of moving keys to
// another range.
package span

import (
	"bytes"
	"encoding/binary"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// Marker says which incarnation and which range the object serves.
type Marker struct {
	Live        bool
	Incarnation table.Incarnation
	Floor       edm.Ticks // lower limit of Timestamps: all Timestamps of the incarnation are higher
	// Span is the range that the object serves; nil means the whole bucket.
	Span *Span
	// Traits are the options that the table declares, such as expiry.
	Traits *table.Traits

	row []byte // the key of the row that stores the marker; nil if there is none
}

// Span is the range of an object, and the progress of its split. A marker with a Span is stored in a separate row, so
// that versions of the code from before ranges find no marker.
type Span struct {
	Self   message.Destination // the destination of messages to this object
	Bounds key.Range           // the bounds of the keys that the object serves
	Phase  Phase
	Seq    uint64    // the number of the last chunk of entities that was sent or received
	Since  edm.Ticks // when the object began to serve the range; 0 if unknown

	// Fields of a split or, if Leaving is true, of a merge into the right neighbour:
	Leaving  bool
	At       []byte    // the lower bound of the keys that move to another range
	End      []byte    // the end of the keys that move; nil means all keys from At on
	Target   uint32    // the id of the range that receives the keys
	From     []byte    // the row at which the next chunk begins
	Upto     []byte    // rows below this key were sent; if such a row changes later, the change is recorded and the row is sent again
	Complete bool      // whether all keys that move were sent at least once
	Sealed   edm.Ticks // when the object stopped serving the keys that move; 0 after the catalog has recorded their new range
	Number   uint64    // in a merge, the number with which the neighbour agreed to take over the keys
}

// unreadable is the text of the panic if a marker cannot be parsed. The text appears in the log of the Worker.
const unreadable = "the record of a key range is damaged or was written by a later version of edgetable"

// Phase is the state of a range: see docs/adr/0034.
type Phase byte

const (
	Serving Phase = iota
	Filling       // the range receives chunks of entities and serves nothing
	Asking        // the range asks the catalog for a new range, which will receive its upper keys
	Copying
	Sealed   // the range no longer serves the keys that move, and the other range might not serve them yet
	Moved    // the other range serves the keys that moved; the catalog might not have recorded it yet
	Emptying // the range deletes the rows of the keys that moved
)

var (
	rowMarker = []byte("mm") // the row of a marker without a Span
	rowRange  = []byte("mr") // the row of a marker with a Span
	// rowDeclares is the row of a marker with Traits: the options, then the fields of another row. Versions of the code
	// from before declared options find no marker.
	rowDeclares = []byte("me")
)

// Load reads the marker. If there is no row, Live is false.
func (m *Marker) Load(rows storage.Rows) {
	*m = Marker{}
	for _, k := range [...][]byte{rowMarker, rowRange, rowDeclares} {
		v, ok := rows.Get(k)
		if !ok {
			continue
		}
		r := message.Read(bytes.Clone(v))
		if m.row = k; bytes.Equal(k, rowDeclares) {
			if m.Traits = r.Traits(); !r.OK() {
				panic(unreadable)
			}
		}
		m.read(r.Rest())
		return
	}
}

func (m *Marker) read(v []byte) {
	const size = len(m.Incarnation) + 8
	if len(v) < size {
		return
	}
	m.Live = true
	m.Floor = edm.Ticks(binary.BigEndian.Uint64(v[copy(m.Incarnation[:], v):]))
	if len(v) > size {
		m.Span = readSpan(v[size:])
	}
}

// Put writes the marker.
func (m *Marker) Put(rows storage.Rows) {
	v := make([]byte, 0, len(m.Incarnation)+8)
	v = append(v, m.Incarnation[:]...)
	v = binary.BigEndian.AppendUint64(v, uint64(m.Floor))
	k := rowMarker
	if m.Span != nil {
		k, v = rowRange, m.Span.append(v)
	}
	if m.Traits != nil {
		k, v = rowDeclares, append(message.AppendTraits(nil, m.Traits), v...)
	}
	if m.row != nil && !bytes.Equal(m.row, k) {
		rows.Delete(m.row)
	}
	m.row = k
	rows.Put(k, v)
}

func (s *Span) append(v []byte) []byte {
	v = append(v, byte(s.Phase), 0, 0, 0)
	for i, set := range [...]bool{s.Leaving, s.End != nil, s.Complete} {
		if set {
			v[len(v)-3+i] = 1
		}
	}
	v = binary.BigEndian.AppendUint64(v, s.Seq)
	v = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(v, s.Self.Range), s.Target)
	v = message.AppendBounds(message.AppendDestination(v, &s.Self), s.Bounds)
	for _, b := range [...][]byte{s.At, s.End, s.From, s.Upto} {
		v = message.AppendBytes(v, b)
	}
	last := [...]uint64{uint64(s.Sealed), s.Number, uint64(s.Since)}
	for i, n := range last {
		if n != 0 || i < 2 && last[2] != 0 || i < 1 && last[1] != 0 { // omit zeros at the end, because earlier versions read fewer numbers
			v = binary.BigEndian.AppendUint64(v, n)
		}
	}
	return v
}

// readSpan parses a Span. The result shares the memory of v.
func readSpan(v []byte) *Span {
	r := message.Read(v)
	s := &Span{Phase: Phase(r.Byte()), Leaving: r.Bool()}
	ends := r.Bool()
	s.Complete, s.Seq = r.Bool(), r.Uint64()
	id := r.Uint32()
	s.Target = r.Uint32()
	s.Self, s.Bounds = r.Destination(), r.Bounds()
	s.Self.Range = id
	s.At, s.End, s.From, s.Upto = r.Bytes(), r.Bytes(), r.Bytes(), r.Bytes()
	if ends && s.End == nil {
		s.End = []byte{}
	}
	if r.OK() && !r.Done() {
		s.Sealed = r.Ticks()
	}
	if r.OK() && !r.Done() {
		s.Number = r.Uint64()
	}
	if r.OK() && !r.Done() {
		s.Since = r.Ticks()
	}
	if !r.Done() || s.Phase > Emptying {
		panic(unreadable)
	}
	return s
}

// Serve returns the Span of a range that serves the keys in bounds and moves no keys.
func (s *Span) Serve(bounds key.Range) *Span {
	return &Span{Self: s.Self, Bounds: bounds, Seq: s.Seq, Since: s.Since}
}

// Gives reports whether a key moves to another range, or has moved already.
func (s *Span) Gives(k []byte) bool {
	return s.Phase >= Sealed && key.Range{Start: s.At, End: s.End}.Contains(k)
}

// Has reports whether the object serves a key.
func (m *Marker) Has(k []byte) bool {
	return m.Live && (m.Span == nil || m.Span.Phase != Filling && m.Span.Bounds.Contains(k))
}

// Bounds returns the bounds of the keys that the object serves.
func (m *Marker) Bounds() key.Range {
	if m.Span == nil {
		return key.Range{}
	}
	return m.Span.Bounds
}

// Classes returns the number of classes into which the Timestamps of a bucket are divided. Each range of the bucket has
// its own class.
func Classes(buckets uint16) uint32 { return 1024 / min(max(uint32(buckets), 1), 1024) }

// Class returns class and count: each Timestamp that this object issues equals class modulo count. So two ranges of a
// table never issue the same Timestamp.
func (m *Marker) Class(p *message.Destination) (class, count uint32) {
	if m.Span == nil {
		return uint32(p.Bucket), uint32(p.Buckets)
	}
	n := Classes(p.Buckets)
	return uint32(p.Bucket) + uint32(p.Buckets)*(m.Span.Self.Range%n), uint32(p.Buckets) * n
}

// Cut turns a bucket that never split into a range with all keys.
func (m *Marker) Cut(self message.Destination) { m.Span = &Span{Self: self} }
