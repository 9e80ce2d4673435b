package message

import "edgetable/core/buckets"

// The Stores of a Worker share a cache of layouts and ranges, which may be in another instance of the wasm
// module. A Store sends a Where to that cache.

// Where is a message of a Store to the cache. It asks which range of a table has the keys at a position, or it reports
// a layout or ranges that the Store has learned.
type Where struct {
	What     byte
	Table    string // key of the table's record
	Layout   Layout // the layout (number of buckets and location) that the table has, or is expected to have
	Bucket   uint16
	OfKey    bool // whether the field Bucket is not set; the cache then computes the bucket from the field Position
	Position []byte
	Near     buckets.Ranges
}

// These are the values of the field What. Each comment begins with the other fields that the message uses.
const (
	FindRange   byte = iota + 1 // Table, Position, and either Bucket or OfKey: asks which range has the position
	LearnLayout                 // Table, Layout: the table has this layout
	LearnRanges                 // all fields except OfKey: Near contains the ranges of the table around Position
)

// AppendWhere appends a Where value.
func AppendWhere(dst []byte, w *Where) []byte {
	dst = AppendLayout(AppendText(append(dst, w.What), w.Table), w.Layout)
	dst = appendBool(appendNumber(dst, uint64(w.Bucket)), w.OfKey)
	return AppendRanges(AppendBytes(dst, w.Position), w.Near)
}

// Where reads a Where value.
func (r *Reader) Where() Where {
	return Where{What: r.Byte(), Table: r.Text(), Layout: r.Layout(), Bucket: r.Bucket(), OfKey: r.Bool(), Position: r.Bytes(), Near: r.Ranges()}
}

// Destination returns the destination of the position. The id of the range is not set in the result.
func (w *Where) Destination() Destination {
	return Destination{Table: w.Table, Buckets: w.Layout.Buckets, Bucket: w.Bucket, Location: w.Layout.Location}
}

// AppendFoundRange appends the answer to FindRange.
func AppendFoundRange(dst []byte, p *Destination) []byte {
	dst = AppendLayout(dst, Layout{Buckets: p.Buckets, Location: p.Location})
	return appendNumber(appendNumber(dst, uint64(p.Bucket)), uint64(p.Range))
}

// FoundRange reads the answer to FindRange. The name of the table is not set in the result.
func (r *Reader) FoundRange() (p Destination) {
	where := r.Layout()
	return Destination{Buckets: where.Buckets, Location: where.Location, Bucket: r.Bucket(), Range: r.ID()}
}
