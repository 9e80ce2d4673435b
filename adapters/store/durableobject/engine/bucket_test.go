package engine

import (
	"errors"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// TestBucketAsksTheCatalog checks that a bucket asks the catalog only until it has a marker, the row that
// says which incarnation it serves.
func TestBucketAsksTheCatalog(t *testing.T) {
	t.Parallel()
	elsewhere := answer(message.AppendNamed(message.AppendLocated(nil, &message.Located{Incarnation: table.Incarnation{1}, Layout: message.Layout{Buckets: 2}}), &message.Named{}))
	for _, tt := range []struct {
		what   string
		answer durableobject.Answer
		want   error
		serves bool
	}{
		{"the table is here", located(1, false), table.ErrNoEntity, true},
		{"no table", answer(message.Fail(nil, table.ErrNoTable)), table.ErrNoTable, false},
		{"the table is being deleted", located(1, true), table.ErrNoTable, false},
		{"the catalog is of another version", answer(message.Foreign(nil)), table.ErrBusy, false},
	} {
		o := newObject(t, "")
		first := o.handle(get("r"), nil)
		o.calls(tt.what, first, "catalog/acct")
		o.demand(tt.what, o.handle(get("r"), &first, tt.answer), tt.want)
		if again := o.handle(get("r"), nil); (len(again.Calls) == 0) != tt.serves {
			t.Errorf("%s: then the bucket calls %d objects", tt.what, len(again.Calls))
		}
	}
	o := newObject(t, "")
	first := o.handle(get("r"), nil)
	if r := o.handle(get("r"), &first, elsewhere); message.StatusOf(r.Answer) != message.StatusMoved {
		t.Errorf("a table with two buckets: status %d", message.StatusOf(r.Answer))
	}
}

// TestBucketGivesUp checks that a bucket asks the catalog three times if it gets no answer, and then answers
// ErrBusy.
func TestBucketGivesUp(t *testing.T) {
	t.Parallel()
	o := newObject(t, "")
	step := o.handle(get("r"), nil)
	for n := range turn.Rounds - 1 {
		if step = o.handle(get("r"), &step, gone); len(step.Calls) != 1 {
			t.Fatalf("round %d: %d calls", n, len(step.Calls))
		}
	}
	o.demand("the last round", o.handle(get("r"), &step, gone), table.ErrBusy)
}

// TestBucketIgnoresAnswersFromBeforeADrop checks that a bucket ignores an answer that the catalog sent before
// a drop. Otherwise the answer would revive the dropped incarnation.
func TestBucketIgnoresAnswersFromBeforeADrop(t *testing.T) {
	t.Parallel()
	o := newObject(t, "")
	first := o.handle(get("r"), nil)
	o.demand("drop", o.handle(message.Drop(nil, table.Incarnation{1}, false), nil), nil)
	second := o.handle(get("r"), &first, located(1, false))
	o.calls("the old answer", second, "catalog/acct")
	o.demand("the new answer", o.handle(get("r"), &second, answer(message.Fail(nil, table.ErrNoTable))), table.ErrNoTable)
	if len(o.rows.Rows) != 0 {
		t.Errorf("%d rows", len(o.rows.Rows))
	}
}

// TestBucketKeepsItsHighWater checks that a dropped bucket stores its highest Timestamp until
// OpForget says that the catalog has recorded it.
func TestBucketKeepsItsHighWater(t *testing.T) {
	t.Parallel()
	o := newObject(t, "")
	write := o.put("r")
	first := o.handle(write, nil)
	ticks := o.demand("commit", o.handle(write, &first, located(1, false)), nil)
	written := ticks.Ticks()
	for range 2 {
		r := o.demand("drop", o.handle(message.Drop(nil, table.Incarnation{1}, false), nil), nil)
		if high := r.Ticks(); high < written {
			t.Errorf("drop answers %d, below %d", high, written)
		}
	}
	o.demand("forget too little", o.handle(message.Forget(nil, written-1), nil), nil)
	if len(o.rows.Rows) != 1 {
		t.Errorf("%d rows", len(o.rows.Rows))
	}
	o.demand("forget", o.handle(message.Forget(nil, 1<<62), nil), nil)
	if len(o.rows.Rows) != 0 {
		t.Errorf("%d rows are left", len(o.rows.Rows))
	}
}

// TestCommitDoesNotResumeInAnotherEngine checks that a commit that waits for the catalog continues only
// in the engine that began it. Another engine may not know that a later attempt of the commit was carried
// out meanwhile.
func TestCommitDoesNotResumeInAnotherEngine(t *testing.T) {
	t.Parallel()
	o := newObject(t, "")
	write := o.put("r")
	first := o.handle(write, nil)
	o.engine = newObject(t, "").engine
	o.engine.answers.Engine = 1000
	o.demand("commit", o.handle(write, &first, located(1, false)), message.ErrAgain)
}

// TestBucketLimitsRows checks that a row too large for SQLite is refused before it is written, even if core
// permits it.
func TestBucketLimitsRows(t *testing.T) {
	t.Parallel()
	o := newObject(t, "")
	m := make([]table.Mutation, 2)
	m[0].Key, m[1].Key = key.Append(nil, "p", "r"), key.Append(nil, "p", "s")
	for len(m[1].Properties) < storage.MaxRow {
		m[1].Properties = edm.AppendProperty(m[1].Properties, "v", edm.Binary(make([]byte, 64<<10)))
	}
	write := o.attempt(message.Commit(nil, &place, m))
	first := o.handle(write, nil)
	_, err := message.Result(o.handle(write, &first, located(1, false)).Answer)
	if limit, ok := errors.AsType[*table.Error](err); !ok || limit.Code != table.EntityTooLarge || len(o.rows.Rows) != 0 {
		t.Errorf("got %v, and %d rows", err, len(o.rows.Rows))
	}
}

// TestBucketAsksOnceForEachMessage checks that each of many concurrent messages asks the catalog only once
// while the table does not exist.
func TestBucketAsksOnceForEachMessage(t *testing.T) {
	t.Parallel()
	o := newObject(t, "")
	waiting := make([]turn.Step, 100)
	for i := range waiting {
		waiting[i] = o.handle(get("r"), nil)
	}
	for i := range waiting {
		o.demand("the answer", o.handle(get("r"), &waiting[i], answer(message.Fail(nil, table.ErrNoTable))), table.ErrNoTable)
	}
}
