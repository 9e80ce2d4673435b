// Package expiry is how an object judges its entities by what their table declares, and how it finds
// those that have ended, to remove them.
package expiry

import (
	"edgetable/adapters/store/durableobject/internal/clock"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Judge says which entities are absent at an instant.
//
// What a read found absent is absent for each later write. The engine may end, and the clock of the
// next one step back: so the instant is kept in a row, but only where something was hidden that had
// not ended at the Timestamp up to which an earlier row reserves.
type Judge struct {
	Traits *table.Traits
	Now    edm.Ticks

	reserved edm.Ticks
	kept     bool // the instant must be
}

// NewJudge makes one of an instant; without traits it hides nothing.
func NewJudge(traits *table.Traits, now edm.Ticks, c *clock.Clock) Judge {
	return Judge{Traits: traits, Now: now, reserved: c.Reserved}
}

// Hides reports whether a stored entity has ended.
func (j *Judge) Hides(row *table.Row) bool {
	if j.Traits == nil || !j.Traits.Ended(row, j.Now) {
		return false
	}
	j.kept = j.kept || !j.Traits.Ended(row, j.reserved)
	return true
}

// Keep keeps the instant, if it has to be.
func (j *Judge) Keep(rows storage.Rows, c *clock.Clock) {
	if j.kept {
		c.Keep(rows, j.Now)
	}
}
