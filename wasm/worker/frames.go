package main

import "encoding/binary"

// frames is a sequence of byte strings, each preceded by its length.
type frames []byte

func (f frames) add(b []byte) frames {
	return append(binary.LittleEndian.AppendUint32(f, uint32(len(b))), b...)
}

func (f frames) addText(s string) frames {
	return append(binary.LittleEndian.AppendUint32(f, uint32(len(s))), s...)
}

// next returns the first frame and the rest. Both share the memory of f. ok is false at the end, or if the rest is
// malformed.
func (f frames) next() (b []byte, rest frames, ok bool) {
	if len(f) < 4 {
		return nil, nil, false
	}
	n := uint64(binary.LittleEndian.Uint32(f))
	if rest = f[4:]; n > uint64(len(rest)) {
		return nil, nil, false
	}
	return rest[:n:n], rest[n:], true
}

func (f frames) count() (n int) {
	for {
		var ok bool
		if _, f, ok = f.next(); !ok {
			return n
		}
		n++
	}
}
