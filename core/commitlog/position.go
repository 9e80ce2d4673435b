package commitlog

import "edgetable/core/edm"

// Position says how far a store has applied the log of another store. The store has exactly the commits of the timeline
// (one history of commits) up to Number. These commits include every write that returned before the time Synced.
type Position struct {
	Timeline string    `json:"timeline"`
	Number   edm.Ticks `json:"number"`
	Synced   edm.Ticks `json:"synced"`
	// Term is the term of the server that shipped the last commits; zero if it is not known.
	Term Term `json:"term,omitzero"`
}
