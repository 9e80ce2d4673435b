package dynamodb_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"edgetable/adapters/dynamodb"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// hook is the way of a process to the server that is told of each transaction.
type hook func()

func (h hook) Do(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.Header.Get("X-Amz-Target"), "TransactWriteItems") {
		h()
	}
	return connections.Do(r)
}

// A write that arrives between the last look at an entity and its copy is copied:
// the transaction demands that the entity is what was looked at.
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
		err := mover.Rebucket(t.Context(), people, dynamodb.RebucketOptions{Buckets: 5, Report: func(p dynamodb.RebucketProgress) error {
			switch p.State {
			case dynamodb.RebucketClosing:
				commit(t, others, table.Mutation{Key: k}) // so that it is to be copied
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
			case dynamodb.RebucketLast:
				sealed = p.Rows == 0 // it begins
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
