package dynamodb_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"edgetable/adapters/store/dynamodb"
	"edgetable/adapters/store/dynamodb/rebucket"
	"edgetable/core/key"
	"edgetable/core/table"
)

// rivals contains a table of a few entities, and two processes a and b that use the
// table.
type rivals struct {
	*testing.T
	name  string
	clock *instant
	a, b  *dynamodb.Store
	model model
}

func newRivals(t *testing.T) *rivals {
	r := &rivals{T: t, name: newTable(t), clock: new(instant), model: model{}}
	r.a, r.b = r.clock.open(t, r.name, dynamodb.Options{}), r.clock.open(t, r.name, dynamodb.Options{})
	create(t, r.a)
	for i := range 10 {
		r.model.write(t, r.b, table.Mutation{Key: key.Append(nil, fmt.Sprint(i), "r")})
	}
	return r
}

// TestRebucketRivals checks runs of Rebucket during which another process acts, for
// example starts a run of its own. It checks the result of the run and the state of the
// table afterwards.
func TestRebucketRivals(t *testing.T) {
	t.Parallel()
	run := func(r *rivals, count uint16) error {
		return r.b.Rebucket(r.Context(), people, rebucket.Options{Buckets: count})
	}
	cut := errors.New("cut")
	for _, row := range []struct {
		what    string
		at      []moment
		do      func(r *rivals) error
		want    error
		buckets uint16 // final number of buckets; 0 means that the table was deleted
	}{
		{"a second run comes to its end", []moment{copying, closing, last}, func(r *rivals) error { return run(r, 5) }, rebucket.ErrSuperseded, 5},
		{"a second run takes over and ends early", []moment{copying, closing, last}, func(r *rivals) error {
			err := r.b.Rebucket(r.Context(), people, rebucket.Options{Buckets: 5, Report: func(rebucket.Progress) error { return cut }})
			if !errors.Is(err, cut) {
				return err
			}
			r.model.write(r.T, r.b, table.Mutation{Key: key.Append(nil, "5", "r")})
			return nil
		}, rebucket.ErrSuperseded, 3},
		{"an abort", []moment{copying, closing, last}, func(r *rivals) error {
			return r.b.Rebucket(r.Context(), people, rebucket.Options{Abort: true})
		}, rebucket.ErrAborted, 3},
		{"an abort and another run to another number", []moment{copying, closing, last}, func(r *rivals) error {
			if err := r.b.Rebucket(r.Context(), people, rebucket.Options{Abort: true}); err != nil {
				return err
			}
			return run(r, 7)
		}, table.ErrNoTable, 7},
		{"the table is deleted", []moment{copying, closing, last}, func(r *rivals) error { return drop(r.T, r.b) }, table.ErrNoTable, 0},
		{"the table is deleted and made again", []moment{copying, closing, last}, func(r *rivals) error {
			if err := drop(r.T, r.b); err != nil {
				return err
			}
			clear(r.model)
			other := r.clock.open(r.T, r.name, dynamodb.Options{Buckets: 4})
			_, err := other.WriteRecord(r.Context(), table.Record{Key: people, Incarnation: table.Incarnation{9}})
			return err
		}, table.ErrNoTable, 4},
		{"it is taken for dead", []moment{last}, func(r *rivals) error {
			m := table.Mutation{Key: key.Append(nil, "5", "r")}
			if _, err := r.b.Commit(r.Context(), people, []table.Mutation{m}); !errors.Is(err, table.ErrBusy) {
				return fmt.Errorf("Commit: %w", err)
			}
			r.clock.pass(30 * time.Second)
			r.model.write(r.T, r.b, m)
			return nil
		}, rebucket.ErrSilent, 3},
		{"it is slow, but lives", []moment{last}, func(r *rivals) error {
			m := table.Mutation{Key: key.Append(nil, "5", "r")}
			for range 2 {
				if _, err := r.b.Commit(r.Context(), people, []table.Mutation{m}); !errors.Is(err, table.ErrBusy) {
					return fmt.Errorf("Commit: %w", err)
				}
				r.clock.pass(29 * time.Second)
			}
			return nil
		}, nil, 5},
		{"the document is written", []moment{copying, closing, last}, func(r *rivals) error {
			d := recordOf(r.T, r.b)
			d.Value = []byte("new")
			_, err := r.b.WriteRecord(r.Context(), d)
			return err
		}, nil, 5},
	} {
		for _, at := range row.at {
			t.Run(fmt.Sprintf("%s at %d", row.what, at), func(t *testing.T) {
				t.Parallel()
				r := newRivals(t)
				err := moments(r.a, t.Context(), 5, func(m moment) {
					if m == closing && at != copying {
						r.model.write(t, r.b, table.Mutation{Key: key.Append(nil, "new", "r")}) // a difference that the last pass must copy
					}
					if m != at {
						return
					}
					if err := row.do(r); err != nil {
						t.Fatalf("what others do: %v", err)
					}
				})
				want := row.want
				if at == last && want == rebucket.ErrSuperseded && row.buckets == 5 {
					want = nil // no error, because the other run has done the step that this run was about to do
				}
				if !errors.Is(err, want) {
					t.Errorf("the run ended with %v, want %v", err, want)
				}
				if row.buckets == 0 {
					if _, err := r.b.ReadRecord(t.Context(), people, table.Strong); !errors.Is(err, table.ErrNoRecord) {
						t.Errorf("the table: %v", err)
					}
					clear(r.model)
				} else {
					sameRows(t, "afterwards", scanAll(t, r.b, 1000), r.model.rows())
					r.model.write(t, r.b, table.Mutation{Key: key.Append(nil, "after", "it")})
					if n := bucketsOf(t, r.b); n != row.buckets {
						t.Errorf("%d buckets, want %d", n, row.buckets)
					}
					for _, o := range []rebucket.Options{{Abort: true}, {Buckets: 6}} {
						if err := r.b.Rebucket(t.Context(), people, o); err != nil {
							t.Errorf("later: %v", err)
						}
					}
					sameRows(t, "after another", scanAll(t, r.b, 1000), r.model.rows())
				}
				r.clock.pass(2 * time.Hour)
				if err := r.b.Purge(t.Context(), nil); err != nil {
					t.Errorf("Purge: %v", err)
				}
				items := len(r.model)
				if row.buckets > 0 {
					items++
				}
				if got := allItems(t, r.name); got != items {
					t.Errorf("%d items are left, want %d", got, items)
				}
			})
		}
	}
}

func drop(t testing.TB, s *dynamodb.Store) error {
	return s.Drop(t.Context(), people, recordOf(t, s).Revision)
}
