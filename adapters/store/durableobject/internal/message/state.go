package message

import "edgetable/core/edm"

// appendState appends the state of an entity or record: flags, a time, the key and the value. Changes of a batch and
// items of a chunk have this form.
func appendState(dst []byte, flags byte, t edm.Ticks, k, v []byte) []byte {
	return AppendBytes(AppendBytes(appendUint64(append(dst, flags), uint64(t)), k), v)
}

// state reads a state that appendState has written.
func (r *Reader) state() (flags byte, t edm.Ticks, k, v []byte) {
	flags, t = r.Byte(), r.Ticks()
	return flags, t, r.Bytes(), r.Bytes()
}
