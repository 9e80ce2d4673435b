package traffic

import "bytes"

// lag is the number of inserts after which a key counts as known. Clients that
// insert in the order of keys overtake each other, but not by so many.
const lag = 64

// ends compares inserts with the highest and the lowest key that were inserted a while
// before.
type ends struct {
	high, low       []byte // of all inserts
	oldHigh, oldLow []byte // of those before the last lag
	n               int
}

// insert reports whether a key is beyond the highest or the lowest key, if enough are
// known to judge.
func (e *ends) insert(k []byte) (judged, atEnd, atStart bool) {
	k = cut(k)
	if e.oldHigh != nil {
		judged, atEnd, atStart = true, bytes.Compare(k, e.oldHigh) > 0, bytes.Compare(k, e.oldLow) < 0
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
	return judged, atEnd, atStart
}

func (e *ends) keys() [4]*[]byte { return [...]*[]byte{&e.high, &e.low, &e.oldHigh, &e.oldLow} }
