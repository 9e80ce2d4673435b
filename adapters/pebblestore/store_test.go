package pebblestore_test

import (
	"os"
	"testing"

	"edgetable/adapters/pebblestore"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		os.RemoveAll(built)
	}
	os.Exit(code)
}

// open opens a store that is closed with the test and must not fail.
func open(t testing.TB, o pebblestore.Options) *pebblestore.Store {
	t.Helper()
	if o.Fatal == nil {
		o.Fatal = func(err error) { t.Errorf("fatal: %v", err) }
	}
	s, err := pebblestore.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}
