package dynamodb_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"edgetable/adapters/store/dynamodb"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/storetest"
	"edgetable/core/table"
)

// TestStoreOverFaults runs the storetest suite over a faulty DynamoDB, which throttles, reports conflicts, ends pages
// early, and leaves a part of every batch unprocessed. It also loses replies of reads. In tests that handle unknown
// outcomes, it loses replies of writes too.
func TestStoreOverFaults(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var ambiguous atomic.Bool // replies of writes may be lost too
	rnd := rand.New(rand.NewPCG(7, 7))
	always := func(operation string) (f fault) {
		mu.Lock()
		defer mu.Unlock()
		write := operation == "PutItem" || operation == "UpdateItem" || operation == "DeleteItem" || operation == "TransactWriteItems"
		switch n := rnd.IntN(100); {
		case n < 4:
			f.how = throttled
		case n < 8 && write:
			f.how = conflicting
		case n >= 8 && n < 12 && !write:
			f.how = []how{lost, applied, broken, brokenAfter}[n-8]
		case n >= 8 && n < 14 && write && ambiguous.Load():
			f.how = []how{lost, applied, broken, brokenAfter, delayed, delayed}[n-8]
		case n < 40:
			f.how = partly
		}
		return f
	}
	h := harness(dynamodb.Options{Client: newClient(&wire{t: t, always: always}), Buckets: 2})
	t.Run("Records", func(t *testing.T) { storetest.Records(t, h) })
	t.Run("Entities", func(t *testing.T) { storetest.Entities(t, h) })
	t.Run("Timestamps", func(t *testing.T) { storetest.Timestamps(t, h) })
	t.Run("Incarnations", func(t *testing.T) { storetest.Incarnations(t, h) })
	ambiguous.Store(true)
	t.Run("Concurrency", func(t *testing.T) { storetest.Concurrency(t, h) })
}

// attempt is a write by process A. The entities p/a and p/b exist before the write, with v = "old".
type attempt struct {
	what      string
	operation string // the call that fails
	do        func(f *faulty) error
	// If the write is applied, the entity p/a has the value in the field after; "" means that the write deletes the entity.
	after string
	// conditioned means that the write requires an ETag, so that the Service may safely send the write again.
	conditioned bool
	// nonceless means that the write leaves no nonce (a random number that identifies the write). So no stored entity shows
	// whether the write was applied.
	nonceless bool
}

// faulty is a Service whose calls to DynamoDB fail on command.
type faulty struct {
	*table.Service
	t    *testing.T
	wire *wire
	etag edm.Ticks // ETag of p/a
}

var account = table.Name{Account: "acct", Table: "people"}

func (f *faulty) op(a table.Action, row, v string) table.Operation {
	op := table.Operation{Action: a, PartitionKey: "p", RowKey: row, Properties: edm.AppendProperty(nil, "v", edm.String(v))}
	op.IfMatch.Any = true
	return op
}

func (f *faulty) write(a table.Action, etag bool) error {
	op := f.op(a, "a", "new")
	if etag {
		op.IfMatch = table.Match{Timestamp: f.etag}
	}
	if a == table.Insert {
		op.RowKey = "new"
	}
	_, err := f.Write(f.t.Context(), account, op)
	return err
}

func (f *faulty) batch(etag bool, actions ...table.Action) error {
	ops := []table.Operation{f.op(actions[0], "a", "new"), f.op(actions[1], "b", "new")}
	if etag {
		ops[0].IfMatch = table.Match{Timestamp: f.etag}
	}
	_, err := f.Transact(f.t.Context(), account, ops)
	return err
}

var attempts = []attempt{
	{"insert", "PutItem", func(f *faulty) error { return f.write(table.Insert, false) }, "old", false, false},
	{"upsert", "PutItem", func(f *faulty) error { return f.write(table.InsertOrReplace, false) }, "new", false, false},
	{"update *", "PutItem", func(f *faulty) error { return f.write(table.Update, false) }, "new", false, false},
	{"update etag", "PutItem", func(f *faulty) error { return f.write(table.Update, true) }, "new", true, false},
	{"merge *", "UpdateItem", func(f *faulty) error { return f.write(table.MergeEntity, false) }, "new", false, false},
	{"merge etag", "UpdateItem", func(f *faulty) error { return f.write(table.MergeEntity, true) }, "new", true, false},
	{"insert or merge", "UpdateItem", func(f *faulty) error { return f.write(table.InsertOrMerge, false) }, "new", false, false},
	{"delete *", "DeleteItem", func(f *faulty) error { return f.write(table.DeleteEntity, false) }, "", false, true},
	{"delete etag", "DeleteItem", func(f *faulty) error { return f.write(table.DeleteEntity, true) }, "", true, true},
	{"batch of upserts", "TransactWriteItems", func(f *faulty) error { return f.batch(false, table.InsertOrReplace, table.InsertOrMerge) }, "new", false, false},
	{"batch on an etag", "TransactWriteItems", func(f *faulty) error { return f.batch(true, table.Update, table.DeleteEntity) }, "new", true, false},
	{"batch of deletes", "TransactWriteItems", func(f *faulty) error { return f.batch(false, table.DeleteEntity, table.DeleteEntity) }, "", false, true},
}

// TestFaults combines every kind of write with every kind of failure, and with a write or a delete by another process
// B in between. A write that was not applied must not be acknowledged. A write must not be refused because of its own
// effect, nor be applied over a later state.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, a := range attempts {
		t.Run(a.what, func(t *testing.T) {
			t.Parallel()
			for _, how := range []how{throttled, conflicting, lost, applied, broken, brokenAfter} {
				for _, between := range []string{"", "update", "delete"} {
					testFault(t, a, how, between)
				}
			}
		})
	}
}

func testFault(t *testing.T, a attempt, how how, between string) {
	what := fmt.Sprintf("%s, %s, then B's %q", a.what, how, between)
	f := &faulty{t: t, wire: &wire{t: t}}
	name := newTable(t)
	mine := open(t, dynamodb.Options{Table: name, Client: newClient(f.wire)})
	others := open(t, dynamodb.Options{Table: name})
	f.Service = table.New(mine, table.Options{Now: now, Rand: rand.Uint64})
	b := table.New(others, table.Options{Now: now, Rand: rand.Uint64})
	if err := b.CreateTable(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{"a", "b"} {
		ticks, err := b.Write(t.Context(), account, f.op(table.Insert, row, "old"))
		if err != nil {
			t.Fatal(err)
		}
		if row == "a" {
			f.etag = ticks
		}
	}
	later := ""
	then := func() {
		var err error
		switch between {
		case "update":
			later = "B's"
			_, err = b.Write(t.Context(), account, f.op(table.InsertOrReplace, "a", later))
		case "delete":
			_, err = b.Write(t.Context(), account, f.op(table.DeleteEntity, "a", ""))
			if code(err) == "ResourceNotFound" {
				err = nil // the delete by process A was applied before that by process B
			}
		}
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	f.wire.fail(a.operation, fault{how, then})
	err := a.do(f)
	calls := operations(f.wire.take())

	definite := how == throttled || how == conflicting
	transaction := a.operation == "TransactWriteItems"
	done := how == applied || how == brokenAfter
	// The default is "ok". Some of the cases below expect another result.
	want := []string{"ok"}
	switch {
	case definite && between == "":
	case definite && a.what == "insert":
	case definite && between == "update" && a.conditioned:
		want = []string{"UpdateConditionNotSatisfied"}
	case definite && between == "update":
	case definite: // process B has deleted the entity
		switch a.what {
		case "upsert", "insert or merge", "batch of upserts":
		default:
			want = []string{"ResourceNotFound"}
		}
	case a.what == "insert" && done:
	case transaction && done:
		// The token makes DynamoDB answer the second request without applying it again.
	case transaction && between == "":
	case transaction:
		// Process B changes the entity after the failed first attempt. The store then repeats the transaction with the
		// same token. If the transaction has no condition, DynamoDB applies it. Otherwise, DynamoDB refuses the
		// transaction, and the store cannot know whether the first attempt was applied.
		want = []string{"ok", "OperationTimedOut"}
	case a.conditioned && !done && between == "":
	case done && between == "" && !a.nonceless:
	default:
		want = []string{"OperationTimedOut"}
	}
	if !slices.Contains(want, code(err)) {
		t.Errorf("%s: got %s, want one of %v; calls %v", what, code(err), want, calls)
	}
	f.check(what, a, between, later, err == nil, definite, done, others)
}

// check compares the stored entities with the reply to the write by process A.
func (f *faulty) check(what string, a attempt, between, later string, ok, definite, done bool, s *dynamodb.Store) {
	f.t.Helper()
	row, err := s.Get(f.t.Context(), people, key.Append(nil, "p", "a"), table.Strong)
	got := ""
	if err == nil {
		v, _ := row.Properties.Lookup("v")
		got = v.Text()
	} else if !errors.Is(err, table.ErrNoEntity) {
		f.t.Fatal(err)
	}
	transaction := a.operation == "TransactWriteItems"
	switch {
	case a.what == "insert":
		_, err := s.Get(f.t.Context(), people, key.Append(nil, "p", "new"), table.Strong)
		if there := err == nil; there != (ok || done) {
			f.t.Errorf("%s: inserted: %v", what, there)
		}
	case between == "" && ok && got != a.after:
		f.t.Errorf("%s: answered as done, and there is %q", what, got)
	case between != "" && !definite && !transaction && got != later:
		f.t.Errorf("%s: there is %q, a write over B's later state", what, got)
	case between != "" && done && got != later:
		f.t.Errorf("%s: there is %q, a second write over B's later state", what, got)
	case between != "" && a.conditioned && got != later:
		f.t.Errorf("%s: there is %q, though the ETag was gone", what, got)
	}
}

func code(err error) string {
	var e *table.Error
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &e):
		return string(e.Code)
	}
	return err.Error()
}
