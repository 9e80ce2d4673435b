package traffic

import "bytes"

// lag is the number of inserts after which the compared keys are renewed. Concurrent clients that insert in key order
// may overtake each other, but by fewer inserts than lag.
const lag = 64

// ends counts inserts at the end or the start of a table. It compares each inserted key with the highest and the
// lowest key of the inserts up to a short time before.
type ends struct {
	high, low       []byte // highest and lowest key inserted so far
	oldHigh, oldLow []byte // copies of high and low, renewed each time n is a multiple of lag
	n               int
}

// insert reports whether an inserted key is above the highest or below the lowest key that it is compared with.
// judged is false during the first inserts, when there are no such keys yet.
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
