package message

import "edgetable/core/edm"

// Instruct appends the message OpInstruct, in which an object asks for its part of a restore.
func Instruct(dst []byte, p *Destination) []byte {
	return appendNumber(appendNumber(Key(dst, OpInstruct, p.Table), uint64(p.Bucket)), uint64(p.Range))
}

// Obey appends the message OpObey.
func Obey(dst []byte, p *Destination) []byte { return beginAt(dst, OpObey, p) }

// AppendFound appends an object's answer to OpObey in the first phase of a restore (Freezing): the platform's bookmarks
// of its state at the requested time and of its present state, and its highest Timestamp.
func AppendFound(dst []byte, state, before []byte, high edm.Ticks) []byte {
	return appendUint64(AppendBytes(AppendBytes(Done(dst), state), before), uint64(high))
}

// Found reads the fields of the answer to OpObey.
func (r *Reader) Found() (state, before []byte, high edm.Ticks) {
	return r.Bytes(), r.Bytes(), r.Ticks()
}
