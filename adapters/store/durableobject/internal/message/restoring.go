package message

import "edgetable/core/edm"

// Instruct appends the message OpInstruct of an object.
func Instruct(dst []byte, p *Destination) []byte {
	return appendNumber(appendNumber(Key(dst, OpInstruct, p.Table), uint64(p.Bucket)), uint64(p.Range))
}

// Obey appends the message OpObey.
func Obey(dst []byte, p *Destination) []byte { return beginAt(dst, OpObey, p) }

// AppendFound appends the answer of an object to OpObey: while it freezes, what the
// platform calls its states, and its highest Timestamp.
func AppendFound(dst []byte, state, before []byte, high edm.Ticks) []byte {
	return appendUint64(AppendBytes(AppendBytes(Done(dst), state), before), uint64(high))
}

// Found reads the fields of the answer.
func (r *Reader) Found() (state, before []byte, high edm.Ticks) {
	return r.Bytes(), r.Bytes(), r.Ticks()
}
