package pebblestore

import (
	"encoding/json"

	"edgetable/adapters/store/pebblestore/logship"
	"edgetable/core/edm"
)

// positionKey holds the [Position] of a store that follows the log of another one.
var positionKey = []byte{spaceMeta, 'p', 'o', 's', 'i', 't', 'i', 'o', 'n'}

// Position says how far a store follows the log of another one: it has all commits of
// the timeline up to Number, and no others. It has every write that returned before
// Synced.
type Position struct {
	Timeline string    `json:"timeline"`
	Number   edm.Ticks `json:"number"`
	Synced   edm.Ticks `json:"synced"`
	// Term is that of the last piece; zero: not known.
	Term logship.Term `json:"term,omitzero"`
}

// Position returns how far the store follows another one; false: it never did, or does not
// any more.
func (s *Store) Position() (p Position, ok bool, err error) {
	v, err := stored(s.db, positionKey)
	if v == nil || err != nil {
		return p, false, err
	}
	err = json.Unmarshal(v, &p)
	return p, true, err
}
