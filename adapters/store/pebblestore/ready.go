package pebblestore

import "github.com/cockroachdb/pebble/v2"

// readyKey has no value. Ready writes it to check that writes become durable.
var readyKey = []byte{spaceMeta, 'r', 'e', 'a', 'd', 'y'}

// Ready writes to the store and waits until the write is durable.
func (s *Store) Ready() error {
	return s.db.Set(readyKey, nil, &pebble.WriteOptions{Sync: !s.memory}) // memory has no log to sync
}
