package workerd_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// registers has the history of operations on each partition. Each partition behaves like a
// register (a variable with one value). The value is that of the partition's only entity, or the value that
// its last batch wrote to all its entities. A history is correct if it is linearizable: there is an order of
// the operations in which a register gives the same answers. In this order, each operation happens at a
// moment between its call and its return.
type registers struct {
	time atomic.Int64 // logical clock

	mu      sync.Mutex
	history map[string][]porcupine.Operation
}

// registerStep is an operation on a register (a variable with one value). Its kind is read, put, insert,
// delete or change. A change replaces an old value by a new value; the old value is in the field was.
type registerStep struct{ kind, value, was string }

// registerAnswer is the status of an operation, and the value that it read; "" means that there was no
// value.
type registerAnswer struct {
	status int // 0 if there was no response
	value  string
}

// unknown reports whether, after this answer, the write may or may not have been carried out.
func (a registerAnswer) unknown() bool { return a.status == 0 || a.status == 500 }

// add adds an operation with the time of its call. An operation with an unknown outcome may take effect at
// any later time before the server ends.
func (r *registers) add(name string, in registerStep, call int64, out registerAnswer) {
	op := porcupine.Operation{Input: in, Call: call, Output: out, Return: r.time.Add(1)}
	switch {
	case out.status == 503, out.unknown() && in.kind == "read":
		return // a refused operation and a read without an answer change nothing, so the history is complete without them
	case out.unknown():
		op.Return = math.MaxInt64
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.history == nil {
		r.history = map[string][]porcupine.Operation{}
	}
	r.history[name] = append(r.history[name], op)
}

// ended must be called when the server has ended. Operations with an unknown outcome cannot take effect after this
// moment.
func (r *registers) ended() {
	now := r.time.Add(1)
	for _, history := range r.history {
		for i := range history {
			history[i].Return = min(history[i].Return, now)
		}
	}
}

// check fails the test unless all histories are linearizable.
func (r *registers) check(t *testing.T) {
	t.Helper()
	operations := 0
	for name, history := range r.history {
		operations += len(history)
		if result := inOrder(history); result != porcupine.Ok {
			slices.SortFunc(history, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
			var b strings.Builder
			for _, op := range history {
				fmt.Fprintf(&b, "%5d–%5d %+v → %+v\n", op.Call, op.Return, op.Input, op.Output)
			}
			t.Errorf("%s: no order explains this history (%s):\n%s", name, result, &b)
		}
	}
	t.Logf("%d operations of %d partitions have an order", operations, len(r.history))
}

// inOrder checks whether the history of a register (a variable with one value) is linearizable.
func inOrder(history []porcupine.Operation) porcupine.CheckResult {
	model := (&porcupine.NondeterministicModel{
		Init: func() []any { return []any{""} },
		Step: func(state, in, out any) (next []any) {
			for _, s := range afterStep(state.(string), in.(registerStep), out.(registerAnswer)) {
				next = append(next, s)
			}
			return next
		},
	}).ToModel()
	return porcupine.CheckOperationsTimeout(model, history, 5*time.Minute)
}

// afterStep returns the values that a register (an entity) may have after an operation. The arguments are the
// value before the operation, the operation, and its answer. If the answer is impossible, afterStep returns
// no value.
func afterStep(s string, in registerStep, out registerAnswer) []string {
	next, applies, refused := in.value, true, 0
	switch in.kind {
	case "read":
		if out.value != s {
			return nil
		}
		return []string{s}
	case "insert":
		applies, refused = s == "", 409
	case "delete":
		next, applies, refused = "", s != "", 404
	case "change":
		if applies, refused = s == in.was, 412; s == "" {
			refused = 404
		}
	}
	switch {
	case out.unknown() && applies:
		return []string{s, next}
	case out.unknown(), !applies && out.status == refused:
		return []string{s}
	case applies && out.status < 300:
		return []string{next}
	}
	return nil
}

// TestRegisters checks the model of a register (a variable with one value): which answers the model accepts.
// The operations are sequential; a killed server may or may not have carried out one of them.
func TestRegisters(t *testing.T) {
	t.Parallel()
	type step = struct {
		registerStep
		registerAnswer
	}
	put := step{registerStep{"put", "1", ""}, registerAnswer{204, ""}}
	lost := step{registerStep{"put", "2", ""}, registerAnswer{0, ""}}
	read := func(value string) step { return step{registerStep{"read", "", ""}, registerAnswer{200, value}} }
	other := func(kind, was string, status int) step {
		return step{registerStep{kind, "3", was}, registerAnswer{status, ""}}
	}
	for _, tt := range []struct {
		what  string
		want  porcupine.CheckResult
		steps []step
	}{
		{"a write is read", porcupine.Ok, []step{put, read("1")}},
		{"a write is lost", porcupine.Illegal, []step{put, read("")}},
		{"an unknown write was carried out", porcupine.Ok, []step{put, lost, read("2"), read("2")}},
		{"an unknown write was not", porcupine.Ok, []step{put, lost, read("1"), read("1")}},
		{"an unknown write comes after a kill", porcupine.Illegal, []step{put, lost, read("1"), read("2")}},
		{"an entity is inserted twice", porcupine.Illegal, []step{put, other("insert", "", 201)}},
		{"a refused insert", porcupine.Ok, []step{put, other("insert", "", 409), read("1")}},
		{"an insert is refused without a reason", porcupine.Illegal, []step{other("insert", "", 409)}},
		{"a change of another value", porcupine.Illegal, []step{put, other("change", "0", 204)}},
		{"a refused change of another value", porcupine.Ok, []step{put, other("change", "0", 412), read("1")}},
		{"a change of the value", porcupine.Ok, []step{put, other("change", "1", 204), read("3")}},
		{"a deleted entity comes back", porcupine.Illegal, []step{put, other("delete", "", 204), read("1")}},
		{"a deletion finds nothing", porcupine.Illegal, []step{put, other("delete", "", 404)}},
	} {
		var r registers
		for _, s := range tt.steps {
			r.add("p", s.registerStep, r.time.Add(1), s.registerAnswer)
			if s.unknown() {
				r.ended()
			}
		}
		if got := inOrder(r.history["p"]); got != tt.want {
			t.Errorf("%s: %s", tt.what, got)
		}
	}
}
