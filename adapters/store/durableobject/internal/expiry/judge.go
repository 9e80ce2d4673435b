// Package expiry decides which entities of an object have expired under the declared options of their table, and finds
// expired entities to remove.
package expiry

import (
	"edgetable/adapters/store/durableobject/internal/clock"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Judge decides which entities have expired at an instant.
//
// An entity that a read did not return must stay expired, even after a restart with a clock that is behind. So Judge
// stores the instant, unless the clock's reservation already ensures this.
type Judge struct {
	Traits *table.Traits
	Now    edm.Ticks

	reserved edm.Ticks
	kept     bool // whether the field Now must be stored in a row
}

// NewJudge returns a Judge of the entities of a table at the time now. The parameter traits contains the declared
// options of the table; if it is nil, no entity expires.
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

// Keep stores the instant in a row, if this is necessary.
func (j *Judge) Keep(rows storage.Rows, c *clock.Clock) {
	if j.kept {
		c.Keep(rows, j.Now)
	}
}
