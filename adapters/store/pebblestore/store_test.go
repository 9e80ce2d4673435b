package pebblestore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/edm"
	"edgetable/core/storetest"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		fmt.Fprintln(os.Stderr, child(dir, os.Args))
		os.Exit(1)
	}
	code := m.Run()
	if built != "" {
		os.RemoveAll(built)
	}
	os.Exit(code)
}

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

var people = table.RecordKey{Account: "acct", Table: "people"}

// create creates the table people, unless the table exists.
func create(ctx context.Context, s *pebblestore.Store) error {
	d := table.Record{Key: people, Incarnation: table.Incarnation{1}}
	if _, err := s.WriteRecord(ctx, d); err != nil && !errors.Is(err, table.ErrRevision) {
		return err
	}
	return nil
}

// harness returns the harness with which the test suite for all stores opens a store in a directory
// or in memory.
func harness(memory bool) storetest.Harness {
	return func(t testing.TB, now func() edm.Ticks) storetest.Fixture {
		o := pebblestore.Options{
			Memory: memory,
			Now:    now,
			Fatal:  func(err error) { t.Errorf("fatal: %v", err) },
			Logf:   t.Logf,
		}
		if memory {
			return storetest.Fixture{Store: open(t, o), Strengths: storetest.Home("Pebble in memory")}
		}
		o.Dir = t.TempDir()
		s, err := pebblestore.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return storetest.Fixture{
			Store:     s,
			Strengths: storetest.Home("Pebble on disk"),
			Backup: func() func(func() edm.Ticks) table.Store {
				restored := o
				restored.Dir = filepath.Join(t.TempDir(), "restored")
				must.OK(t, s.Checkpoint(context.Background(), restored.Dir))
				return func(now func() edm.Ticks) table.Store {
					restored.Now = now
					again, err := pebblestore.Open(restored)
					must.OK(t, err)
					t.Cleanup(func() { again.Close() })
					return again
				}
			},
			Restart: func(now func() edm.Ticks) table.Store {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				o.Now = now
				if s, err = pebblestore.Open(o); err != nil {
					t.Fatal(err)
				}
				return s
			},
		}
	}
}

func TestStore(t *testing.T) {
	t.Run("Directory", func(t *testing.T) { storetest.Run(t, harness(false)) })
	t.Run("Memory", func(t *testing.T) { storetest.Run(t, harness(true)) })
}
