package pebblestore

import (
	"encoding/json"

	"edgetable/adapters/store/pebblestore/logship"
	"edgetable/core/edm"
)

// positionKey is the key of the [Position] of a store that replays the log of another store.
var positionKey = []byte{spaceMeta, 'p', 'o', 's', 'i', 't', 'i', 'o', 'n'}

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
	v, err := getValue(s.db, positionKey)
	if v == nil || err != nil {
		return p, false, err
	}
	err = json.Unmarshal(v, &p)
	return p, true, err
}
