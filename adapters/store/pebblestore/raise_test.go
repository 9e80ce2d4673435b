package pebblestore_test

import (
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

// TestRaiseKeepsReservation checks that Raise never lowers the reservation of commit numbers. So the numbers of the
// next process are higher than every number that this process may have issued.
func TestRaiseKeepsReservation(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	now := edm.Ticks(1e15)
	o := pebblestore.Options{Dir: "data", FS: fs, Logf: func(string, ...any) {}, Now: func() edm.Ticks { return now }}
	s, err := pebblestore.Open(o)
	must.OK(t, err)
	create := func(name string) edm.Ticks {
		r := table.NewRecord(table.Name{Account: "acme", Table: name}, table.Incarnation{byte(len(name))})
		revision, err := s.WriteRecord(t.Context(), r)
		must.OK(t, err)
		return revision.Written()
	}
	create("A")
	must.OK(t, s.Raise(now))
	now += table.Reservation / 2
	last := create("AB")
	must.OK(t, s.Close())
	s, err = pebblestore.Open(o)
	must.OK(t, err)
	if started := s.Started(); started < last {
		t.Errorf("the next process begins at %d, and %d was issued", started, last)
	}
	must.OK(t, errors.Join(s.Close()))
}
