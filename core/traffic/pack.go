package traffic

import "encoding/binary"

// pack encodes the ranges with counts, as uvarints. For each such range, it appends the number of empty ranges before
// it, and then its counts.
func (c *cells) pack() []byte {
	var dst []byte
	gap := uint64(0)
	for i := range c {
		if c[i] == [metrics]uint32{} {
			gap++
			continue
		}
		dst = binary.AppendUvarint(dst, gap)
		for _, n := range c[i] {
			dst = binary.AppendUvarint(dst, uint64(n))
		}
		gap = 0
	}
	return dst
}

// unpack is the inverse of pack. ok is false for bytes that pack did not return.
func unpack(packed []byte) (c cells, ok bool) {
	for i := uint64(0); len(packed) > 0; i++ {
		gap, n := binary.Uvarint(packed)
		if i += gap; n <= 0 || gap >= ranges || i >= ranges {
			return c, false
		}
		packed = packed[n:]
		for m := range c[i] {
			count, n := binary.Uvarint(packed)
			if n <= 0 || count >= 1<<32 {
				return c, false
			}
			c[i][m] = uint32(count)
			packed = packed[n:]
		}
	}
	return c, true
}
