package pebblestore

import (
	"encoding/json"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/adapters/store/pebblestore/internal/layout"
	"edgetable/adapters/store/pebblestore/logship"
	"edgetable/core/edm"
)

// positionKey is the key of the [Position] of a store that replays the log of another store.
var positionKey = layout.MetaKey("position")

// Position says how far a store has replayed the log of another store. The store has exactly the commits of the timeline up to the value of Number.
// These commits include every write that returned before the time in the field Synced.
type Position struct {
	Timeline string    `json:"timeline"`
	Number   edm.Ticks `json:"number"`
	Synced   edm.Ticks `json:"synced"`
	// Term is the term of the server that shipped the last commits; zero if it is not known.
	Term logship.Term `json:"term,omitzero"`
}

// Position returns how far the store has replayed the log of another store. ok is false if the store replays no log.
func (s *Store) Position() (p Position, ok bool, err error) {
	return storedPosition(s.db)
}

func storedPosition(from pebble.Reader) (p Position, ok bool, err error) {
	v, err := layout.Get(from, positionKey)
	if v == nil || err != nil {
		return p, false, err
	}
	err = json.Unmarshal(v, &p)
	return p, true, err
}
