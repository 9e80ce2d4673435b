package traffic

import "bytes"

// lag is the number of inserts after which oldHigh and oldLow are renewed. Keys are compared with these older keys,
// because concurrent clients may overtake each other.
const lag = 64

// ends detects inserts at the end or the start of a table. It compares each inserted key with the highest and the
// lowest earlier key, without the latest inserts (fewer than 64).
type ends struct {
	high, low       []byte // highest and lowest key inserted so far
	oldHigh, oldLow []byte // copies of the two keys above, renewed after every 64 inserts
	n               int
}

// insert compares an inserted key with earlier keys. atEnd reports whether the key is above the highest, and atStart
// whether it is below the lowest. hasOrder is false for the first inserts, which have no earlier keys.
func (e *ends) insert(k []byte) (hasOrder, atEnd, atStart bool) {
	k = cut(k)
	if e.oldHigh != nil {
		hasOrder, atEnd, atStart = true, bytes.Compare(k, e.oldHigh) > 0, bytes.Compare(k, e.oldLow) < 0
	}
	if e.high == nil || bytes.Compare(k, e.high) > 0 {
		e.high = append(e.high[:0], k...)
	}
	if e.low == nil || bytes.Compare(k, e.low) < 0 {
		e.low = append(e.low[:0], k...)
	}
	if e.n++; e.n%lag == 0 {
		e.oldHigh, e.oldLow = append(e.oldHigh[:0], e.high...), append(e.oldLow[:0], e.low...)
	}
	return hasOrder, atEnd, atStart
}

func (e *ends) keys() [4]*[]byte { return [...]*[]byte{&e.high, &e.low, &e.oldHigh, &e.oldLow} }
