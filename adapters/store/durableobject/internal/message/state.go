package message

import "edgetable/core/edm"

// appendState appends the state of one entity or record: flags, a time, the key and the value. A
// change in a batch for the replica and an item of a chunk have this form.
func appendState(dst []byte, flags byte, t edm.Ticks, k, v []byte) []byte {
	return AppendBytes(AppendBytes(appendUint64(append(dst, flags), uint64(t)), k), v)
}

// state reads the state of one entity or record.
func (r *Reader) state() (flags byte, t edm.Ticks, k, v []byte) {
	flags, t = r.Byte(), r.Ticks()
	return flags, t, r.Bytes(), r.Bytes()
}
