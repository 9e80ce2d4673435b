package pebblestore

import (
	"crypto/rand"
	"encoding/hex"

	"github.com/cockroachdb/pebble/v2"
)

// identityKey holds 16 random bytes, made when the store is first opened.
var identityKey = []byte{spaceMeta, 'i', 'd', 'e', 'n', 't', 'i', 't', 'y'}

// Identity returns a name of the store, so that its backups are not mistaken for those
// of another one. A copy of the store, such as a restored backup, has the same name.
func (s *Store) Identity() (string, error) {
	if err := s.standIn.refuse(); err != nil {
		return "", err
	}
	v, err := stored(s.db, identityKey)
	if v != nil || err != nil {
		return hex.EncodeToString(v), err
	}
	b := make([]byte, 16)
	rand.Read(b) // it never fails
	return hex.EncodeToString(b), s.db.Set(identityKey, b, &pebble.WriteOptions{Sync: !s.memory})
}
