package engine

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/testdata/rowstest"
)

// object is an engine with its rows and a clock that the test moves.
type object struct {
	*testing.T
	now    edm.Ticks
	rows   rowstest.Rows
	engine *Engine
	ids    uint64
}

func newObject(t *testing.T, replica string) *object {
	o := &object{T: t, now: 1000 * edm.TicksPerSecond}
	o.engine = New(Options{Now: func() edm.Ticks { return o.now }, Rand: o.rand, Replica: replica})
	return o
}

func (o *object) rand() uint64 { o.ids++; return o.ids }

// handle passes a message to the engine. The parameter before is nil for a new message. If a step made calls,
// before is that step, and answers contains the answers to the calls.
func (o *object) handle(m []byte, before *turn.Step, answers ...durableobject.Answer) turn.Step {
	o.Helper()
	var resume *turn.Resume
	if before != nil {
		resume = &turn.Resume{State: before.State, Answers: answers}
	}
	o.rows.Begin()
	step := o.engine.Handle(&o.rows, m, resume, nil)
	if step.Rollback {
		o.rows.Rollback()
	}
	return step
}

// demand reads the answer in a step (the result of Handle). The test fails if the answer has another error than
// the expected one.
func (o *object) demand(what string, s turn.Step, want error) message.Reader {
	o.Helper()
	if len(s.Calls) > 0 {
		o.Fatalf("%s: %d calls", what, len(s.Calls))
	}
	r, err := message.Result(s.Answer)
	if !errors.Is(err, want) || (err == nil) != (want == nil) {
		o.Errorf("%s: got %v, want %v", what, err, want)
	}
	return r
}

// This method fails the test if the addresses that a step calls are not the expected ones.
func (o *object) calls(what string, s turn.Step, want ...string) {
	o.Helper()
	var got []string
	for _, c := range s.Calls {
		got = append(got, c.To.Name)
	}
	if !reflect.DeepEqual(got, want) {
		o.Errorf("%s: calls %q, want %q", what, got, want)
	}
}

func (o *object) attempt(m []byte) []byte {
	message.Stamp(m, message.Attempt{ID: o.rand(), First: o.now})
	return m
}

func answer(m []byte) durableobject.Answer { return durableobject.Answer{Message: m} }

var (
	gone      = durableobject.Answer{Err: durableobject.ErrLost}
	tableKey  = table.RecordKey{Account: "acct", Table: "one"}
	tableText = tableKey.String()
	place     = message.Destination{Table: tableText, Buckets: 1}
)

func located(incarnation byte, deleting bool) durableobject.Answer {
	return answer(message.AppendNamed(message.AppendLocated(nil, &message.Located{
		Incarnation: table.Incarnation{incarnation}, Layout: message.Layout{Buckets: 1}, Deleting: deleting,
	}), &message.Named{}))
}

func get(row string) []byte { return message.Get(nil, &place, key.Append(nil, "p", row)) }

func (o *object) put(row string) []byte {
	m := []table.Mutation{{Key: key.Append(nil, "p", row), Properties: edm.AppendProperty(nil, "v", edm.String(row))}}
	return o.attempt(message.Commit(nil, &place, m))
}

// TestContinuation checks that a continuation is parsed as it was encoded, and that a malformed one yields
// the zero value, with which the message starts again.
func TestContinuation(t *testing.T) {
	t.Parallel()
	for _, c := range []turn.Continuation{
		{Kind: turn.Locates, Engine: 7, Generation: 1 << 60, Round: 2},
		{Kind: turn.Deletes, Key: tableText, Own: true, Incarnation: table.Incarnation{1, 2}, Round: 1, High: 5, Objects: []message.Object{{}, {Bucket: 999, Range: 1 << 31}}},
		{Kind: turn.Forgets, Own: true},
		{Kind: turn.Publishes, Batch: 1<<64 - 1},
		{Kind: turn.Splits, Batch: 7, Own: true, From: []byte("e")},
		{Kind: turn.Instructs, Generation: 3, Round: 1},
		{Kind: turn.Recalls, From: []byte("said")},
	} {
		b := c.Append(nil)
		if got := turn.ParseContinuation(b); !reflect.DeepEqual(got, c) {
			t.Errorf("%+v comes back as %+v", c, got)
		}
		for n := range b {
			if got := turn.ParseContinuation(b[:n]); got.Kind != 0 {
				t.Errorf("the first %d bytes of %+v are read as %+v", n, c, got)
			}
		}
	}
	if got := turn.ParseContinuation(bytes.Repeat([]byte{9}, 60)); got.Kind != 0 {
		t.Errorf("nonsense is read as %+v", got)
	}
}
