package message

import "edgetable/core/edm"

// appendState appends the state of one entity or record, which a change of a batch and an
// item of a piece have in common: flags, a time, the key and the value.
func appendState(dst []byte, flags byte, t edm.Ticks, k, v []byte) []byte {
	return AppendBytes(AppendBytes(appendUint64(append(dst, flags), uint64(t)), k), v)
}

// state reads the state of one entity or record.
func (r *Reader) state() (flags byte, t edm.Ticks, k, v []byte) {
	flags, t = r.Byte(), r.Ticks()
	return flags, t, r.Bytes(), r.Bytes()
}
