package message

import "edgetable/core/buckets"

// A Worker asks its memory of maps, which may be another instance of the module.

// Where is a question about a position of a table, or what was learned about it.
type Where struct {
	What     byte
	Table    string // document key of its record
	Layout   Layout // that it has, or that is expected
	Bucket   uint16
	OfKey    bool // Bucket is unknown: that of the position
	Position []byte
	Near     buckets.Ranges
}

// What a Where is.
const (
	FindRange   byte = iota + 1 // Table, Bucket or OfKey, Position: where is it?
	LearnLayout                 // Table, Layout: it has this one
	LearnRanges                 // all but OfKey: these are its ranges around Position
)

// AppendWhere appends a Where.
func AppendWhere(dst []byte, w *Where) []byte {
	dst = AppendLayout(AppendText(append(dst, w.What), w.Table), w.Layout)
	dst = appendBool(appendNumber(dst, uint64(w.Bucket)), w.OfKey)
	return AppendRanges(AppendBytes(dst, w.Position), w.Near)
}

// Where reads a Where.
func (r *Reader) Where() Where {
	return Where{What: r.Byte(), Table: r.Text(), Layout: r.Layout(), Bucket: r.Bucket(), OfKey: r.Bool(), Position: r.Bytes(), Near: r.Ranges()}
}

// Destination is that of a position, without the table.
func (w *Where) Destination() Destination {
	return Destination{Table: w.Table, Buckets: w.Layout.Buckets, Bucket: w.Bucket, Location: w.Layout.Location}
}

// AppendFoundRange appends the answer to FindRange.
func AppendFoundRange(dst []byte, p *Destination) []byte {
	dst = AppendLayout(dst, Layout{Buckets: p.Buckets, Location: p.Location})
	return appendNumber(appendNumber(dst, uint64(p.Bucket)), uint64(p.Range))
}

// FoundRange reads the answer.
func (r *Reader) FoundRange() (p Destination) {
	where := r.Layout()
	return Destination{Buckets: where.Buckets, Location: where.Location, Bucket: r.Bucket(), Range: r.ID()}
}
