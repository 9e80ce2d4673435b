package pebblestore

import (
	"encoding/json"

	"edgetable/adapters/store/pebblestore/logship"
	"edgetable/core/edm"
)

// positionKey holds the [Position] of a store that follows the log of another one.
var positionKey = []byte{spaceMeta, 'p', 'o', 's', 'i', 't', 'i', 'o', 'n'}

// Position says how far a store follows the log of another one. The store has exactly the timeline's commits up to
// Number. It includes every write that returned before Synced.
type Position struct {
	Timeline string    `json:"timeline"`
	Number   edm.Ticks `json:"number"`
	Synced   edm.Ticks `json:"synced"`
	// Term is the term of the last piece; zero if it is not known.
	Term logship.Term `json:"term,omitzero"`
}

// Position returns how far the store follows another one. ok is false if it does not follow one.
func (s *Store) Position() (p Position, ok bool, err error) {
	v, err := stored(s.db, positionKey)
	if v == nil || err != nil {
		return p, false, err
	}
	err = json.Unmarshal(v, &p)
	return p, true, err
}
