package dynamodb_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"edgetable/adapters/store/dynamodb"
	"edgetable/adapters/store/dynamodb/rebucket"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// hook is an HTTP client that calls a function before each transaction.
type hook func()

func (h hook) Do(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.Header.Get("X-Amz-Target"), "TransactWriteItems") {
		h()
	}
	return connections.Do(r)
}

// TestRebucketCopiesWhatIsThere checks a write that arrives after the last comparison of
// its entity and before the entity is copied. The copy must contain the write, because
// the transaction requires that the entity has not changed since the comparison.
func TestRebucketCopiesWhatIsThere(t *testing.T) {
	t.Parallel()
	for _, deletes := range []bool{false, true} {
		c, name, g := new(instant), newTable(t), newGate()
		others := c.open(t, name, dynamodb.Options{})
		create(t, others)
		k := key.Append(nil, "p", "r")
		commit(t, others, table.Mutation{Key: k})
		writer := c.open(t, name, dynamodb.Options{Client: newClient(g), Attempt: time.Minute})
		if _, err := writer.Get(t.Context(), people, k, table.Strong); err != nil {
			t.Fatal(err)
		}
		sealed := false
		mover := c.open(t, name, dynamodb.Options{Client: newClient(hook(func() {
			if sealed {
				sealed = false
				g.through <- struct{}{}
				<-g.arrived
			}
		}))})
		answer := make(chan error, 1)
		err := mover.Rebucket(t.Context(), people, rebucket.Options{Buckets: 5, Report: func(p rebucket.Progress) error {
			switch p.State {
			case rebucket.Closing:
				commit(t, others, table.Mutation{Key: k}) // The entity now differs from the copy, so the last comparison will copy it.
				c.pass(time.Millisecond)
				g.armed.Store(true)
				go func() {
					m := table.Mutation{Key: k, Properties: edm.AppendProperty(nil, "v", edm.String("new"))}
					if deletes {
						m.Kind, m.Condition, m.Properties = table.Delete, table.Present, nil
					}
					_, err := writer.Commit(t.Context(), people, []table.Mutation{m})
					answer <- err
				}()
				<-g.waiting
			case rebucket.Last:
				sealed = p.Rows == 0 // the last comparison begins
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		g.reply <- struct{}{}
		if err := <-answer; !errors.Is(err, table.ErrUnknown) {
			t.Errorf("the writer: %v", err)
		}
		row, err := others.Get(t.Context(), people, k, table.Strong)
		if there := err == nil; there == deletes || there && row.Properties.Count() != 1 {
			t.Errorf("there is %v, %v", row, err)
		}
	}
}

// TestRebucketFencesFrozenRun checks a run that was suspended before a transaction into
// the copy. When it continues, it must write neither into a copy that has become the
// table, nor into a copy that was discarded.
func TestRebucketFencesFrozenRun(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		why  string
		then func(r *rivals) error
		want error
	}{
		{"another run has finished", func(r *rivals) error {
			err := r.b.Rebucket(r.Context(), people, rebucket.Options{Buckets: 5})
			r.model.write(r.T, r.b, table.Mutation{Key: key.Append(nil, "0", "r"), Kind: table.Delete})
			r.model.write(r.T, r.b, table.Mutation{Key: key.Append(nil, "1", "r")})
			return err
		}, rebucket.ErrSuperseded},
		{"it was aborted, and the copy removed", func(r *rivals) error {
			err := r.b.Rebucket(r.Context(), people, rebucket.Options{Abort: true})
			r.clock.pass(2 * time.Hour)
			return errors.Join(err, r.b.Purge(r.Context(), nil))
		}, rebucket.ErrAborted},
		{"the table was deleted, and the copy removed", func(r *rivals) error {
			err := drop(r.T, r.b)
			clear(r.model)
			r.clock.pass(2 * time.Hour)
			return errors.Join(err, r.b.Purge(r.Context(), nil))
		}, table.ErrNoTable},
	} {
		r := newRivals(t)
		transactions := 0
		a := r.clock.open(t, r.name, dynamodb.Options{Client: newClient(hook(func() {
			if transactions++; transactions == 2 { // the first transaction records the run as owner
				if err := row.then(r); err != nil {
					t.Errorf("%s: %v", row.why, err)
				}
			}
		}))})
		if err := a.Rebucket(t.Context(), people, rebucket.Options{Buckets: 5}); !errors.Is(err, row.want) {
			t.Errorf("%s: the run ended with %v, want %v", row.why, err, row.want)
		}
		if len(r.model) > 0 {
			sameRows(t, row.why, scanAll(t, r.b, 1000), r.model.rows())
		}
		r.clock.pass(2 * time.Hour)
		if err := r.b.Purge(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		items := len(r.model)
		if items > 0 {
			items++ // the record of the table is one more item
		}
		if got := allItems(t, r.name); got != items {
			t.Errorf("%s: %d items are left, want %d", row.why, got, items)
		}
	}
}
