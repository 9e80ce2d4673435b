package traffic

import "bytes"

// A key counts as known after at most lag inserts. Clients that insert in key order overtake each other, but not by this many.
const lag = 64

// ends compares inserted keys with the highest and lowest key inserted some time before.
type ends struct {
	high, low       []byte // highest and lowest key inserted so far
	oldHigh, oldLow []byte // copies of high and low, renewed every lag inserts
	n               int
}

// insert reports whether a key is above the highest or below the lowest known key. judged is false while too few keys
// are known.
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
