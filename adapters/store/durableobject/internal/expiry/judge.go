// Package expiry decides which entities of an object have expired by the declared options of their
// table, and finds expired entities to remove.
package expiry

import (
	"edgetable/adapters/store/durableobject/internal/clock"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Judge decides which entities are absent at an instant.
//
// An entity that one read found absent must stay absent for every later write. But the engine may end, and the
// clock of the next engine may be behind. So the instant is stored in a row. The next engine's clock begins
// above the Timestamp that another row reserves. So the instant need not be stored if all absent entities had
// expired at the reserved Timestamp already.
type Judge struct {
	Traits *table.Traits
	Now    edm.Ticks

	reserved edm.Ticks
	kept     bool // whether the instant must be stored
}

// NewJudge returns a Judge that decides which entities of a table have expired at the time now. traits are the
// options of the table; if they are nil, no entity expires.
func NewJudge(traits *table.Traits, now edm.Ticks, c *clock.Clock) Judge {
	return Judge{Traits: traits, Now: now, reserved: c.Reserved}
}

// Hides reports whether a stored entity has expired.
func (j *Judge) Hides(row *table.Row) bool {
	if j.Traits == nil || !j.Traits.Ended(row, j.Now) {
		return false
	}
	j.kept = j.kept || !j.Traits.Ended(row, j.reserved)
	return true
}

// Keep stores the instant, if it must be stored.
func (j *Judge) Keep(rows storage.Rows, c *clock.Clock) {
	if j.kept {
		c.Keep(rows, j.Now)
	}
}
