package engine

import (
	"encoding/binary"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// clock issues Timestamps above its floor and above all that the object ever issued.
// It reserves a second ahead in rowClock, so that most writes write no row for it.
type clock struct {
	last     edm.Ticks // the last issued, or the floor
	reserved edm.Ticks // the value of rowClock, 0 without one
}

func readTicks(rows Rows, key []byte) edm.Ticks {
	if v, ok := rows.Get(key); ok && len(v) == 8 {
		return edm.Ticks(binary.BigEndian.Uint64(v))
	}
	return 0
}

func putTicks(rows Rows, key []byte, t edm.Ticks) {
	rows.Put(key, binary.BigEndian.AppendUint64(make([]byte, 0, 8), uint64(t)))
}

// load starts the clock above all that an earlier engine may have issued.
func (c *clock) load(rows Rows, floor edm.Ticks) {
	c.reserved = readTicks(rows, rowClock)
	c.last = max(c.last, c.reserved, floor)
}

// next is the Timestamp that can be issued now: it is class modulo classes.
func (c *clock) next(now edm.Ticks, class, classes uint32) edm.Ticks {
	t := max(now, c.last+1)
	n := edm.Ticks(max(classes, 1))
	if d := (edm.Ticks(class) - t%n + n) % n; d > 0 {
		t += d
	}
	return t
}

// issue issues a Timestamp.
func (c *clock) issue(rows Rows, t edm.Ticks) {
	if t > c.reserved {
		c.reserved = t + table.Reservation
		putTicks(rows, rowClock, c.reserved)
	}
	c.last = t
}
