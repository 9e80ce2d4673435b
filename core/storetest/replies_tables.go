package storetest

import (
	"errors"

	"edgetable/core/table"
)

// lostTables checks requests that create or delete a table when a reply of the store is lost. They must never get 404
// or 409, and never delete the later table of another client.
func lostTables(e *env) {
	s, f := e.service()
	lost := func(x effect) failure { return failure{effect: x, err: table.ErrUnknown} }
	const (
		gone   = "no table"
		ours   = "A's table"
		theirs = "B's table"
	)
	doc := name.Key()
	others := func(steps ...string) func() {
		return func() {
			for _, step := range steps {
				if step == "deletes" {
					e.drop(doc)
					continue
				}
				e.write(table.Record{Key: doc, Value: []byte(theirs), Incarnation: incarnation()})
				e.mustCommit(doc, put("p", "theirs", ""))
			}
		}
	}
	create := func() error { return s.CreateTable(e.Context(), name) }
	remove := func() error { return s.DeleteTable(e.Context(), name) }
	for _, row := range []struct {
		what   string
		exists bool // whether the table exists before the request
		method method
		do     func() error
		fault  failure
		then   func()
		code   table.Code // the expected error code; "" if the request succeeds
		state  string
	}{
		{"create throttled", false, onWriteRecord, create, failure{err: table.ErrBusy}, nil, table.ServerBusy, gone},
		{"create lost", false, onWriteRecord, create, lost(notApplied), nil, table.OperationTimedOut, gone},
		{"create applied", false, onWriteRecord, create, lost(replyLost), nil, "", ours},
		{"create lost, B creates", false, onWriteRecord, create, lost(notApplied), others("creates"), table.OperationTimedOut, theirs},
		{"create applied, B deletes", false, onWriteRecord, create, lost(replyLost), others("deletes"), table.OperationTimedOut, gone},
		{"create applied, B deletes and creates", false, onWriteRecord, create, lost(replyLost), others("deletes", "creates"), table.OperationTimedOut, theirs},
		{"delete throttled", true, onDrop, remove, failure{err: table.ErrBusy}, nil, table.ServerBusy, ours},
		{"delete lost", true, onDrop, remove, lost(notApplied), nil, table.OperationTimedOut, ours},
		{"delete applied", true, onDrop, remove, lost(replyLost), nil, table.OperationTimedOut, gone},
		{"delete lost, B deletes and creates", true, onDrop, remove, lost(notApplied), others("deletes", "creates"), table.OperationTimedOut, theirs},
		{"delete applied, B creates", true, onDrop, remove, lost(replyLost), others("creates"), table.OperationTimedOut, theirs},
	} {
		if _, err := e.Store.ReadRecord(e.Context(), doc, table.Strong); err == nil {
			e.drop(doc)
		}
		if row.exists {
			if err := create(); err != nil {
				e.Fatalf("CreateTable: %v", err)
			}
		}
		row.fault.then = row.then
		f.fail(row.method, row.fault)
		want := "ok"
		if row.code != "" {
			want = string(row.code)
		}
		if got := code(row.do()); got != want {
			e.Errorf("%s: got %s, want %s", row.what, got, want)
		}
		e.awaitReplicas()
		state := ours
		d, err := e.Store.ReadRecord(e.Context(), doc, table.Strong)
		switch {
		case errors.Is(err, table.ErrNoRecord):
			state = gone
		case err != nil:
			e.Fatal(err)
		case string(d.Value) == theirs:
			state = theirs
			if n := len(e.all(doc)); n != 1 {
				e.Errorf("%s: B's table has %d entities, want 1", row.what, n)
			}
		}
		if state != row.state {
			e.Errorf("%s: there is %s, want %s", row.what, state, row.state)
		}
	}
}
