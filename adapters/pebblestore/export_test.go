package pebblestore

import "github.com/cockroachdb/pebble/v2"

// DB is the database below the store, to measure it alone.
func (s *Store) DB() *pebble.DB { return s.db }
