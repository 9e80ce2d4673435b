package message

import (
	"encoding/binary"
	"strings"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Layout is the number of buckets of a table, and their location.
type Layout struct {
	Buckets  uint16
	Location string
}

// Key appends a message whose first or only field is the key of a record.
func Key(dst []byte, op Op, key string) []byte { return AppendText(begin(dst, op), key) }

// Write appends the message OpWrite, without its Attempt: see [Stamp]. The parameter layout is used only if the table
// is new.
func Write(dst []byte, d *table.Record, layout Layout) []byte {
	return AppendLayout(AppendDocument(begin(dst, OpWrite), d), layout)
}

// Remove appends the message OpRemove, without its Attempt: see [Stamp].
func Remove(dst []byte, key string, revision table.Revision) []byte {
	return AppendText(AppendText(begin(dst, OpRemove), key), string(revision))
}

// List appends the message OpList.
func List(dst []byte, prefix, from string, limit int) []byte {
	dst = AppendText(AppendText(begin(dst, OpList), prefix), from)
	return appendNumber(dst, uint64(max(limit, 0)))
}

// Drop appends the message OpDrop. If the table declares options, earlier versions of the code must reject the message,
// because they would not find all rows of the table.
func Drop(dst []byte, i table.Incarnation, declares bool) []byte {
	start := len(dst)
	if dst = append(begin(dst, OpDrop), i[:]...); declares {
		dst[start] = declaring
	}
	return dst
}

// Forget appends the message OpForget.
func Forget(dst []byte, high edm.Ticks) []byte {
	return appendUint64(begin(dst, OpForget), uint64(high))
}

// Alarm returns the message OpAlarm, which an object sends to itself.
func Alarm() []byte { return begin(nil, OpAlarm) }

// Ticks reads a time of eight bytes.
func (r *Reader) Ticks() edm.Ticks { return edm.Ticks(r.Uint64()) }

// Incarnation reads an incarnation.
func (r *Reader) Incarnation() (i table.Incarnation) {
	r.Fixed(i[:])
	return i
}

// AppendDocument appends a record.
func AppendDocument(dst []byte, d *table.Record) []byte {
	key := d.Key.String()
	if d.Traits != nil {
		key = declares + key
	}
	dst = AppendText(dst, key)
	dst = AppendText(dst, string(d.Revision))
	dst = append(dst, d.Incarnation[:]...)
	if dst = AppendBytes(dst, d.Value); d.Traits != nil {
		dst = AppendTraits(dst, d.Traits)
	}
	return dst
}

// Document reads a record.
func (r *Reader) Document() (d table.Record) {
	text, declares := strings.CutPrefix(r.Text(), declares)
	key, ok := table.ParseRecordKey(text)
	r.bad = r.bad || !ok
	d.Key = key
	d.Revision = table.Revision(r.Text())
	d.Incarnation = r.Incarnation()
	if d.Value = r.Bytes(); declares {
		d.Traits = r.Traits()
	}
	return d
}

// AppendLayout appends a Layout.
func AppendLayout(dst []byte, h Layout) []byte {
	return AppendText(appendNumber(dst, uint64(h.Buckets)), h.Location)
}

// Layout reads a Layout.
func (r *Reader) Layout() Layout {
	return Layout{Buckets: uint16(r.Number(1<<16 - 1)), Location: r.Text()}
}

// Located is the answer to OpLocate: the incarnation and layout of a table, and the lower limit of its Timestamps.
type Located struct {
	Incarnation table.Incarnation
	Layout      Layout
	Floor       edm.Ticks
	// Deleting means that the table is being deleted. Only buckets that already know the incarnation may still serve
	// requests for the table.
	Deleting bool
}

// AppendLocated appends the answer to OpLocate.
func AppendLocated(dst []byte, l *Located) []byte {
	dst = append(Done(dst), l.Incarnation[:]...)
	return appendBool(appendUint64(AppendLayout(dst, l.Layout), uint64(l.Floor)), l.Deleting)
}

// Located reads the fields of the answer to OpLocate.
func (r *Reader) Located() Located {
	l := Located{Incarnation: r.Incarnation(), Layout: r.Layout(), Floor: r.Ticks(), Deleting: r.Bool()}
	if l.Layout.Buckets == 0 {
		r.bad = true
	}
	return l
}

// ListWriter writes the answer to OpList.
type ListWriter struct {
	dst   []byte
	begin int
	count int // the offset of the number of records
	n     uint32
}

// BeginList begins the answer to OpList.
func BeginList(dst []byte) ListWriter {
	begin := len(dst)
	dst = Done(dst)
	return ListWriter{dst: append(dst, 0, 0, 0, 0), begin: begin, count: len(dst)}
}

// Len returns the number of records in the list.
func (w *ListWriter) Len() int { return int(w.n) }

// Size returns the length of the list in bytes.
func (w *ListWriter) Size() int { return len(w.dst) - w.begin }

// Add appends a record.
func (w *ListWriter) Add(d *table.Record) {
	w.dst = AppendDocument(w.dst, d)
	w.n++
}

// End ends the list. If more is true, further records follow the list.
func (w *ListWriter) End(hasMore bool) []byte {
	binary.BigEndian.PutUint32(w.dst[w.count:], w.n)
	return appendBool(w.dst, hasMore)
}

// leastDocument is the minimum size of a record in a list.
const leastDocument = 1 + 1 + 12 + 1

// Documents reads the fields of the answer to OpList.
func (r *Reader) Documents() (list []table.Record, more bool) {
	n := r.Uint32()
	if uint64(n)*leastDocument > uint64(len(r.rest)) {
		r.bad = true
		return nil, false
	}
	list = make([]table.Record, 0, n)
	for range n {
		list = append(list, r.Document())
	}
	more = r.Bool()
	return list, more
}
