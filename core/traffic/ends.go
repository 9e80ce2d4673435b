package traffic

import "bytes"

// lag is the number of inserts between two changes of the keys with which inserted keys are compared. If concurrent
// clients insert in key order, one client may overtake another, but by fewer inserts than this number.
const lag = 64

// ends finds out whether keys are inserted at the end or the start of a table. It compares each inserted key with the
// highest and the lowest key that were inserted up to a short time before.
type ends struct {
	high, low       []byte // highest and lowest key inserted so far
	oldHigh, oldLow []byte // copies of high and low, renewed each time n is a multiple of lag
	n               int
}

// insert compares an inserted key with the highest and the lowest earlier key. The result atEnd is true for a key above
// the highest, and atStart for a key below the lowest. The result judged is false during the first inserts, when there
// are no earlier keys to compare with.
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
