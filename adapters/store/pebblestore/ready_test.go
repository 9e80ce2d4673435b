package pebblestore_test

import (
	"testing"

	"edgetable/adapters/store/pebblestore"
)

// TestReady checks that Ready returns nil for a working store. The store must be able to start
// again afterwards.
func TestReady(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, o := range []pebblestore.Options{{Memory: true}, {Dir: dir}, {Dir: dir}} {
		s, err := pebblestore.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Ready(); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
