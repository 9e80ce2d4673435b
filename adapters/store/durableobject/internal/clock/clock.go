// Package clock issues the Timestamps of an object.
package clock

import (
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Row is the key of the row with the reserved Timestamp.
var Row = []byte("mc")

// Clock issues Timestamps above a lower limit and above all issued Timestamps. A row reserves the Timestamps of the
// next second, so that most writes need not change the row.
type Clock struct {
	Last     edm.Ticks // the last issued Timestamp; initially, the lower limit
	Reserved edm.Ticks // the value of the row; 0 if there is no row
}

// Load makes the clock issue only Timestamps above all Timestamps that the object may have issued before its last
// restart.
func (c *Clock) Load(r storage.Rows, floor edm.Ticks) {
	c.Reserved = storage.Ticks(r, Row)
	c.Last = max(c.Last, c.Reserved, floor)
}

// Next returns the next Timestamp to issue. The Timestamp equals class modulo classes.
func (c *Clock) Next(now edm.Ticks, class, classes uint32) edm.Ticks {
	t := max(now, c.Last+1)
	n := edm.Ticks(max(classes, 1))
	if d := (edm.Ticks(class) - t%n + n) % n; d > 0 {
		t += d
	}
	return t
}

// Issue records that a Timestamp is issued.
func (c *Clock) Issue(r storage.Rows, t edm.Ticks) {
	if t > c.Reserved {
		c.Reserved = t + table.Reservation
		storage.PutTicks(r, Row, c.Reserved)
	}
	c.Last = t
}

// Instant returns the instant of a read. All Timestamps that are issued later are higher.
func (c *Clock) Instant(now edm.Ticks) edm.Ticks {
	c.Last = max(c.Last, now)
	return c.Last
}

// Keep makes the clock issue only Timestamps above t, even after a restart.
func (c *Clock) Keep(r storage.Rows, t edm.Ticks) {
	if t > c.Reserved {
		c.Reserved = t + table.Reservation
		storage.PutTicks(r, Row, c.Reserved)
	}
}
