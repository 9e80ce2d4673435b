package commitlog

import "edgetable/core/edm"

// Position says how far a store has applied the log of another store. The store has exactly the commits of Timeline up
// to Number, including every write that returned before Synced.
type Position struct {
	Timeline string    `json:"timeline"`
	Number   edm.Ticks `json:"number"`
	Synced   edm.Ticks `json:"synced"`
	// Term is the term of the server that shipped the last commits, or zero if unknown.
	Term Term `json:"term,omitzero"`
}
