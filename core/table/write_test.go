package table_test

import (
	"context"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/testdata/memstore"
)

// lostCommit is a store that loses the replies to the next commits.
type lostCommit struct {
	table.Store
	lose    int    // number of replies that are still to be lost
	applied bool   // whether the first of these commits takes effect
	then    func() // what another client does afterwards
	commits int
	gets    int
	heavy   bool // whether a delete had properties
}

func (s *lostCommit) Get(ctx context.Context, t table.RecordKey, k []byte, c table.Consistency) (table.Row, error) {
	s.gets++
	return s.Store.Get(ctx, t, k, c)
}

func (s *lostCommit) Commit(ctx context.Context, t table.RecordKey, m []table.Mutation) (edm.Ticks, error) {
	s.commits++
	for i := range m {
		s.heavy = s.heavy || m[i].Kind == table.Delete && m[i].Properties != nil
	}
	if s.lose == 0 {
		return s.Store.Commit(ctx, t, m)
	}
	s.lose--
	if s.applied {
		s.applied = false
		if _, err := s.Store.Commit(ctx, t, m); err != nil {
			return 0, err
		}
		s.then()
	}
	return 0, table.ErrUnknown
}

// TestWriteAfterALostReply checks writes whose reply was lost: a write is reported as successful only if it took effect,
// is sent again only if that cannot overwrite a later write, and fails with a code that leaves the outcome open.
func TestWriteAfterALostReply(t *testing.T) {
	t.Parallel()
	const stored edm.Ticks = 1000
	any, match := table.Match{Any: true}, table.Match{Timestamp: stored}
	op := func(a table.Action, rk string, m table.Match) table.Operation {
		return table.Operation{Action: a, PartitionKey: "p", RowKey: rk, IfMatch: m, Properties: properties("B", 2)}
	}
	for _, tt := range []struct {
		why     string
		ops     []table.Operation
		lose    int
		applied bool
		later   bool // whether another client then writes the entities
		want    string
		commits int
	}{
		{"an insert that took effect", []table.Operation{op(table.Insert, "new", any)}, 1, true, false, "", 1},
		{"an insert that did not", []table.Operation{op(table.Insert, "new", any)}, 1, false, false, "OperationTimedOut", 1},
		{"an insert before another write", []table.Operation{op(table.Insert, "new", any)}, 1, true, true, "OperationTimedOut", 1},
		{"an upsert that did not", []table.Operation{op(table.InsertOrReplace, "old", any)}, 1, false, false, "OperationTimedOut", 1},
		{"an update of any state that did not", []table.Operation{op(table.Update, "old", any)}, 1, false, false, "OperationTimedOut", 1},
		{"an update of a state that took effect", []table.Operation{op(table.Update, "old", match)}, 1, true, false, "", 2},
		{"an update of a state that did not", []table.Operation{op(table.Update, "old", match)}, 1, false, false, "", 2},
		{"an update of a state before another write", []table.Operation{op(table.Update, "old", match)}, 1, true, true, "OperationTimedOut", 2},
		{"an update of a state that took effect, both replies lost", []table.Operation{op(table.Update, "old", match)}, 2, true, false, "", 2},
		{"an update of a state that did not, both replies lost", []table.Operation{op(table.Update, "old", match)}, 2, false, false, "OperationTimedOut", 2},
		{"a delete that took effect", []table.Operation{op(table.DeleteEntity, "old", any)}, 1, true, false, "OperationTimedOut", 1},
		{"a delete of a state that took effect", []table.Operation{op(table.DeleteEntity, "old", match)}, 1, true, false, "OperationTimedOut", 2},
		{"a delete of a state that did not", []table.Operation{op(table.DeleteEntity, "old", match)}, 1, false, false, "", 2},
		{"a delete and an insert that took effect", []table.Operation{op(table.DeleteEntity, "old", any), op(table.Insert, "new", any)}, 1, true, false, "", 1},
		{"a delete and an insert that did not", []table.Operation{op(table.DeleteEntity, "old", any), op(table.Insert, "new", any)}, 1, false, false, "OperationTimedOut", 1},
		{"two inserts that did not", []table.Operation{op(table.Insert, "new", any), op(table.Insert, "newer", any)}, 1, false, false, "OperationTimedOut", 1},
		{"an insert and a conditional update that did not", []table.Operation{op(table.Insert, "new", any), op(table.Update, "old", match)}, 1, false, false, "", 2},
	} {
		now := func() edm.Ticks { return stored }
		inner := memstore.New(now)
		store := &lostCommit{Store: inner}
		s := newServiceOver(t, store, now, table.Options{})
		if ticks, err := s.Write(t.Context(), people, op(table.Insert, "old", any)); err != nil || ticks != stored {
			t.Fatal(ticks, err)
		}
		store.commits, store.lose, store.applied = 0, tt.lose, tt.applied
		store.then = func() {
			for i := range tt.ops {
				if !tt.later {
					break
				}
				m := table.Mutation{Key: key.Append(nil, "p", tt.ops[i].RowKey), Nonce: 3, Properties: properties("C", 3)}
				if _, err := inner.Commit(t.Context(), people.Key(), []table.Mutation{m}); err != nil {
					t.Fatal(err)
				}
			}
		}
		var ticks edm.Ticks
		var err error
		if len(tt.ops) == 1 {
			ticks, err = s.Write(t.Context(), people, tt.ops[0])
			expect(t, tt.why, err, tt.want)
		} else if ticks, err = s.Transact(t.Context(), people, tt.ops); tt.want != "" {
			expect(t, tt.why, err, "0:"+tt.want)
		} else {
			expect(t, tt.why, err, "")
		}
		if store.commits != tt.commits || store.gets > 1 || store.heavy {
			t.Errorf("%s: %d commits, %d reads, a delete with properties: %t", tt.why, store.commits, store.gets, store.heavy)
		}
		last := tt.ops[len(tt.ops)-1]
		if row, getErr := s.Get(t.Context(), people, "p", last.RowKey, table.Strong); err == nil && last.Action != table.DeleteEntity && (getErr != nil || row.Timestamp != ticks) {
			t.Errorf("%s: Timestamp %d, stored %d, %v", tt.why, int64(ticks), int64(row.Timestamp), getErr)
		}
	}
}
