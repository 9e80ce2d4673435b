package pebblestore

import (
	"encoding/json"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/adapters/store/pebblestore/internal/layout"
	"edgetable/core/commitlog"
)

// positionKey is the key of the [commitlog.Position] of a store that replays the log of another store.
var positionKey = layout.MetaKey("position")

// Position returns how far the store has replayed the log of another store. ok is false if the store replays no log.
func (s *Store) Position() (p commitlog.Position, ok bool, err error) {
	return storedPosition(s.db)
}

func storedPosition(from pebble.Reader) (p commitlog.Position, ok bool, err error) {
	v, err := layout.Get(from, positionKey)
	if v == nil || err != nil {
		return p, false, err
	}
	err = json.Unmarshal(v, &p)
	return p, true, err
}
