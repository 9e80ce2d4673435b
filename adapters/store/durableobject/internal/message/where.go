package message

import "edgetable/core/buckets"

// The Stores of a Worker share a cache of layouts and ranges, which may be in another instance of the wasm
// module. A Store sends a CacheRequest to that cache.

// CacheRequest is a request of a Store to the cache. It finds the range of a table that has a position, or stores a
// layout or ranges.
type CacheRequest struct {
	Kind     byte
	Table    string // key of the table's record
	Layout   Layout // the actual or assumed layout of the table
	Bucket   uint16
	OfKey    bool // whether Bucket is not set; the cache then computes the bucket from Position
	Position []byte
	Excerpt  buckets.Ranges
}

// These are the values of Kind. Each comment begins with the other fields of the request.
const (
	FindRange   byte = iota + 1 // Table, Position, and either Bucket or OfKey: finds the range that has the position
	LearnLayout                 // Table, Layout: stores the layout of the table
	LearnRanges                 // all fields except OfKey: stores the ranges around Position, which are in Excerpt
)

// AppendCacheRequest appends an encoded CacheRequest.
func AppendCacheRequest(dst []byte, w *CacheRequest) []byte {
	dst = AppendLayout(AppendText(append(dst, w.Kind), w.Table), w.Layout)
	dst = appendBool(appendNumber(dst, uint64(w.Bucket)), w.OfKey)
	return AppendRanges(AppendBytes(dst, w.Position), w.Excerpt)
}

// CacheRequest reads a CacheRequest.
func (r *Reader) CacheRequest() CacheRequest {
	return CacheRequest{Kind: r.Byte(), Table: r.Text(), Layout: r.Layout(), Bucket: r.Bucket(), OfKey: r.Bool(), Position: r.Bytes(), Excerpt: r.Ranges()}
}

// Destination returns the destination of the position, without the id of the range.
func (w *CacheRequest) Destination() Destination {
	return Destination{Table: w.Table, Buckets: w.Layout.Buckets, Bucket: w.Bucket, Location: w.Layout.Location}
}

// AppendFoundRange appends the answer to FindRange.
func AppendFoundRange(dst []byte, p *Destination) []byte {
	dst = AppendLayout(dst, Layout{Buckets: p.Buckets, Location: p.Location})
	return appendNumber(appendNumber(dst, uint64(p.Bucket)), uint64(p.Range))
}

// FoundRange reads the answer to FindRange. The result lacks the name of the table.
func (r *Reader) FoundRange() (p Destination) {
	where := r.Layout()
	return Destination{Buckets: where.Buckets, Location: where.Location, Bucket: r.Bucket(), Range: r.ID()}
}
