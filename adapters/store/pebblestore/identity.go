package pebblestore

import (
	"crypto/rand"
	"encoding/hex"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/adapters/store/pebblestore/internal/layout"
)

// Identity returns the identity of the store, by which its backups are recognized. A copy of the store, such as a
// restored backup, has the same identity.
func (s *Store) Identity() (string, error) {
	if id := s.identity.Load(); id != nil {
		return *id, nil
	}
	return "", nil // The store is open for reading only, and an earlier version wrote the directory.
}

// loadIdentity reads the identity of the store from the database. If there is none, it stores the identity from the
// file TABLES, or a new one.
func (s *Store) loadIdentity(readOnly bool) error {
	v, err := layout.Get(s.db, layout.IdentityKey)
	if err != nil || v == nil && readOnly {
		return err
	}
	if v == nil {
		if v, err = hex.DecodeString(s.copied.Store); len(v) != 16 || err != nil {
			v = make([]byte, 16)
			rand.Read(v)
		}
		if err := s.db.Set(layout.IdentityKey, v, &pebble.WriteOptions{Sync: !s.memory}); err != nil {
			return err
		}
	}
	identity := hex.EncodeToString(v)
	s.identity.Store(&identity)
	return nil
}

// signature returns the identity that new data files get.
func (s *Store) signature() string {
	if id := s.identity.Load(); id != nil {
		return *id
	}
	return s.copied.Store // Open may write a data file before it has read the identity from the database
}
