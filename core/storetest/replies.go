package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// LostReplies checks how a [table.Service] handles a write with an unknown outcome. It may send the write again only if
// the write demands an ETag. Otherwise it makes one strong Get: the write has succeeded if the entity has its nonce; if
// not, the answer is OperationTimedOut.
//
// The Service must never guess 404, 409 or 412, and must never overwrite a later state.
func LostReplies(t *testing.T, h Harness) {
	run(t, h, []law{
		{"Writes", lostWrites},
		{"Twice", lostTwice},
		{"Tables", lostTables},
	})
}

var name = table.Name{Account: "acct", Table: "Replies"}

// service wraps the store under test in a faultyStore. It returns a Service over the faultyStore, and the faultyStore
// itself.
func (e *env) service() (*table.Service, *faultyStore) {
	e.Helper()
	f := newFaulty(e.Store)
	f.lagging = true
	s := table.New(f, table.Options{Now: e.clock.now, Rand: rand.Uint64})
	return s, f
}

// commitAsOther writes to the table as a client other than A. The store may refuse the write.
func (e *env) commitAsOther(doc table.RecordKey, m table.Mutation) {
	e.Helper()
	m.Nonce = 99
	_, err := e.commit(doc, m)
	if r := (*table.Refused)(nil); err != nil && !errors.As(err, &r) {
		e.Fatalf("Commit(%s): %s", describe([]table.Mutation{m}), reason(err))
	}
}

// declares reports whether the store declares the strengths in needs.
func (e *env) declares(needs Strengths) bool {
	return (e.has.Conditional || !needs.Conditional) && (e.has.AtomicCommit || !needs.AtomicCommit)
}

// recreateTable drops the table and creates it again. If exists is true, it also puts the entity p/r and returns its
// ETag.
func (e *env) recreateTable(s *table.Service, exists bool) (doc table.RecordKey, etag edm.Ticks) {
	e.Helper()
	doc = name.Key()
	if _, err := e.Store.ReadRecord(e.Context(), doc, table.Strong); err == nil {
		e.drop(doc)
	}
	if err := s.CreateTable(e.Context(), name); err != nil {
		e.Fatalf("CreateTable: %v", err)
	}
	if exists {
		etag = e.mustCommit(doc, put("p", "r", "first"))
	}
	return doc, etag
}

// table returns all rows of the partition p as text.
func (e *env) table(doc table.RecordKey) string {
	e.Helper()
	e.awaitReplicas()
	rows := ""
	r := table.ScanRequest{Ranges: []key.Range{{Start: key.PartitionFrom("p"), End: key.PartitionAfter("p")}}}
	for _, r := range slices.Concat(e.pages(doc, r, nil)...) {
		rows += "\n    " + formatRow(r)
	}
	return rows
}

// sendFirst sends the request of client A: one operation, or a transaction of several operations.
func (e *env) sendFirst(s *table.Service, ops []table.Operation) (edm.Ticks, error) {
	defer e.awaitReplicas()
	if len(ops) == 1 {
		return s.Write(e.Context(), name, ops[0])
	}
	return s.Transact(e.Context(), name, ops)
}

// code returns an error of the Service as text: its error code, or "ok" for nil.
func code(err error) string {
	var c *table.Error
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &c):
		return string(c.Code)
	}
	return "unexpected error: " + err.Error()
}

// lostWrites tests a client A whose Commit fails or loses its reply, while other clients write. It runs all
// combinations of A's write, the fault, and the other writes.
func lostWrites(e *env) {
	s, f := e.service()
	for _, a := range attempts {
		for _, m := range writesBetween {
			if !e.declares(a.needs) || !e.declares(m.needs) {
				continue // the store does not support this write
			}
			for _, fault := range []struct {
				what string
				failure
			}{
				{"was throttled", failure{effect: notApplied, err: table.ErrBusy}},
				{"was lost on its way", failure{effect: notApplied, err: table.ErrUnknown}},
				{"was applied, its reply lost", failure{effect: replyLost, err: table.ErrUnknown}},
				{"was delayed", failure{effect: applyLate, err: table.ErrUnknown}},
			} {
				what := fmt.Sprintf("%s: A's Commit %s; %s; A goes on", a.what, fault.what, m.what)
				doc, etag := e.recreateTable(s, a.exists)
				var later string
				fault.then = func() {
					if m.do != nil {
						m.do(e, doc)
					}
					later = e.table(doc)
				}
				f.fail(onCommit, fault.failure)
				commits, gets := f.count(onCommit), f.count(onGet)
				ticks, err := e.sendFirst(s, a.operations(etag))
				commits, gets = f.count(onCommit)-commits, f.count(onGet)-gets

				applied, alone := fault.effect == replyLost, m.do == nil
				want := string(table.OperationTimedOut)
				again := false // whether the store must apply the second attempt of client A
				switch {
				case errors.Is(fault.err, table.ErrBusy):
					want = string(table.ServerBusy)
				case applied && (a.shows == elsewhere || a.shows == atRow && alone):
					want = "ok" // the Get finds an entity with the nonce of client A
				case !applied && alone && a.conditioned:
					want, again = "ok", true
				}
				if code(err) != want {
					e.Errorf("%s: got %s, want %s", what, code(err), want)
				}
				if most := map[bool]int{false: 1, true: 2}[a.conditioned]; commits > most || gets > 1 {
					e.Errorf("%s: it took %d Commits and %d Gets, want at most %d and 1", what, commits, gets, most)
				}
				after := e.table(doc)
				if again == (after == later) {
					e.Errorf("%s: a write over a later state, or none that was answered as done\nbefore A went on%s\nthen%s", what, later, after)
				}
				if err == nil && alone {
					e.checkWrite(what, doc, a.operations(etag), ticks)
				}
				f.deliver()
				if got := e.table(doc); a.conditioned && (again || !alone) && got != after {
					e.Errorf("%s; the delayed Commit arrives: it was conditioned on an ETag\nbefore%s\nthen%s", what, after, got)
				}
			}
		}
	}
}

// checkWrite checks the entities of a successful write. A deleted entity must be absent, and any other must have the
// Timestamp of the write.
func (e *env) checkWrite(what string, doc table.RecordKey, ops []table.Operation, ticks edm.Ticks) {
	e.Helper()
	for _, op := range ops {
		row, err := e.get(doc, at(op.PartitionKey, op.RowKey))
		if gone := errors.Is(err, table.ErrNoEntity); gone != (op.Action == table.DeleteEntity) || !gone && row.Timestamp != ticks {
			e.Errorf("%s: it was answered with Timestamp %d, and there is %s", what, ticks, shown(row, err))
		}
	}
}

// lostTwice makes several calls in a row fail.
func lostTwice(e *env) {
	s, f := e.service()
	lost := func(effects ...effect) (list []failure) {
		for _, x := range effects {
			list = append(list, failure{effect: x, err: table.ErrUnknown})
		}
		return list
	}
	busy := []failure{{err: table.ErrBusy}}
	update, insert := onETag(table.Update), one(table.InsertOrReplace)
	for _, row := range []struct {
		what    string
		ops     func(edm.Ticks) []table.Operation
		needs   Strengths
		commits []failure
		gets    []failure
		want    string
	}{
		{"an upsert applied, then its Get lost", insert, Strengths{}, lost(replyLost), lost(notApplied), "OperationTimedOut"},
		{"an upsert applied, then its Get throttled", insert, Strengths{}, lost(replyLost), busy, "OperationTimedOut"},
		{"an upsert lost, then its Get lost", insert, Strengths{}, lost(notApplied), lost(replyLost), "OperationTimedOut"},
		{"both Commits lost", update, conditional, lost(notApplied, notApplied), nil, "OperationTimedOut"},
		{"the second applied", update, conditional, lost(notApplied, replyLost), nil, "ok"},
		{"the first applied, the second lost", update, conditional, lost(replyLost, notApplied), nil, "ok"},
		{"the first applied, then all lost", update, conditional, lost(replyLost, notApplied), lost(notApplied), "OperationTimedOut"},
		{"both late", update, conditional, lost(applyLate, applyLate), nil, "OperationTimedOut"},
		{"lost, then throttled", update, conditional, append(lost(notApplied), busy...), nil, "OperationTimedOut"},
		{"applied, then throttled", update, conditional, append(lost(replyLost), busy...), nil, "ok"},
	} {
		if !e.declares(row.needs) {
			continue
		}
		doc, etag := e.recreateTable(s, true)
		f.fail(onCommit, row.commits...)
		f.fail(onGet, row.gets...)
		ticks, err := e.sendFirst(s, row.ops(etag))
		if code(err) != row.want {
			e.Errorf("%s: got %s, want %s", row.what, code(err), row.want)
		}
		if err == nil {
			e.checkWrite(row.what, doc, row.ops(etag), ticks)
		}
		f.deliver()
		f.reset()
	}
}
