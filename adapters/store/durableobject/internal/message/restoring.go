package message

import "edgetable/core/edm"

// Instruct appends the message OpInstruct.
func Instruct(dst []byte, p *Destination) []byte {
	return appendNumber(appendNumber(Key(dst, OpInstruct, p.Table), uint64(p.Bucket)), uint64(p.Range))
}

// Obey appends the message OpObey.
func Obey(dst []byte, p *Destination) []byte { return beginAt(dst, OpObey, p) }

// AppendFound appends the answer to OpObey in the phase Freezing: the platform's bookmarks of the requested and the
// present state, and the highest Timestamp.
func AppendFound(dst []byte, state, before []byte, high edm.Ticks) []byte {
	return appendUint64(AppendBytes(AppendBytes(Done(dst), state), before), uint64(high))
}

// Found reads the fields that AppendFound has written.
func (r *Reader) Found() (state, before []byte, high edm.Ticks) {
	return r.Bytes(), r.Bytes(), r.Ticks()
}
