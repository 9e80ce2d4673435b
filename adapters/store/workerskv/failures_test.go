package workerskv_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"edgetable/adapters/store/workerskv"
	"edgetable/core/key"
	"edgetable/core/table"
)

// TestConditions checks that without Options.BestEffort, inserts, ETags and batches get status 501, with a message
// that names a profile that supports them. With BestEffort, the store carries them out. All other operations must
// work with and without BestEffort.
func TestConditions(t *testing.T) {
	t.Parallel()
	op := func(a table.Action, any bool) table.Operation {
		return table.Operation{Action: a, PartitionKey: "p", RowKey: "r", IfMatch: table.Match{Any: any, Timestamp: 1}}
	}
	other := op(table.InsertOrReplace, true)
	other.RowKey = "s"
	for _, row := range []struct {
		what         string
		ops          []table.Operation
		want, effort table.Code
	}{
		{"insert or replace", []table.Operation{op(table.InsertOrReplace, true)}, "", ""},
		{"insert or merge", []table.Operation{op(table.InsertOrMerge, true)}, "", ""},
		{"update any", []table.Operation{op(table.Update, true)}, "", ""},
		{"merge any", []table.Operation{op(table.MergeEntity, true)}, "", ""},
		{"insert", []table.Operation{op(table.Insert, true)}, table.NotImplemented, table.EntityAlreadyExists},
		{"update by ETag", []table.Operation{op(table.Update, false)}, table.NotImplemented, table.UpdateConditionNotSatisfied},
		{"delete by ETag", []table.Operation{op(table.DeleteEntity, false)}, table.NotImplemented, table.UpdateConditionNotSatisfied},
		{"batch", []table.Operation{op(table.InsertOrReplace, true), other}, table.NotImplemented, ""},
		{"delete any", []table.Operation{op(table.DeleteEntity, true)}, "", ""},
		{"delete any again", []table.Operation{op(table.DeleteEntity, true)}, table.ResourceNotFound, table.ResourceNotFound},
	} {
		for _, effort := range []bool{false, true} {
			w := newWorld(t, 1)
			now := steady()
			s := w.isolate(now, workerskv.Options{BestEffort: effort})
			w.create(s, 1)
			if !strings.HasSuffix(row.what, "again") {
				w.commit(s, number("p", "r", 1))
			}
			w.settle()
			service := table.New(s, table.Options{Now: now, Rand: func() uint64 { return 7 }})
			name := table.Name{Account: "acct", Table: "One"}
			var err error
			if len(row.ops) == 1 {
				_, err = service.Write(t.Context(), name, row.ops[0])
			} else {
				_, err = service.Transact(t.Context(), name, row.ops)
			}
			want := row.want
			if effort {
				want = row.effort
			}
			var got *table.Error
			if errors.As(err, &got); want == "" && err != nil || want != "" && (got == nil || got.Code != want) {
				t.Errorf("%s, best effort %v: got %v, want %q", row.what, effort, err, want)
			}
			if want == table.NotImplemented && (got.Status() != 501 || !strings.Contains(got.Message, "profile with Durable Objects")) {
				t.Errorf("%s: %d %s", row.what, got.Status(), got.Message)
			}
		}
	}
}

// TestFailedWrites checks the error after a failed write. It is ErrBusy if KV has refused the write, so that nothing
// was applied. After any other failure the write may have been applied, and the error is ErrUnknown.
func TestFailedWrites(t *testing.T) {
	t.Parallel()
	one := []table.Mutation{number("p", "r", 1)}
	two := append(one[:1:1], number("p", "s", 1))
	for _, row := range []struct {
		what    string
		m       []table.Mutation
		faults  []error // errors of the writes, in order
		applied bool    // whether a write is applied although its reply is lost
		want    error
		there   string
	}{
		{"lost", one, []error{errLost}, false, table.ErrUnknown, ""},
		{"applied, the reply lost", one, []error{errLost}, true, table.ErrUnknown, "p/r=1 "},
		{"refused", one, []error{workerskv.ErrRefused}, false, table.ErrBusy, ""},
		{"all refused", two, []error{workerskv.ErrRefused, workerskv.ErrRefused}, false, table.ErrBusy, ""},
		{"one refused", two, []error{nil, workerskv.ErrRefused}, false, table.ErrUnknown, "p/r=1 "},
		{"one lost", two, []error{nil, errLost}, true, table.ErrUnknown, "p/r=1 p/s=1 "},
	} {
		w := newWorld(t, 1)
		w.cloud.inOrder = true
		s := w.isolate(steady(), workerskv.Options{BestEffort: true})
		w.create(s, 1)
		faults := row.faults
		w.cloud.fault = func(string) (error, bool) {
			err := faults[0]
			faults = faults[1:]
			return err, row.applied && errors.Is(err, errLost)
		}
		_, err := s.Commit(t.Context(), tableName, row.m)
		if !errors.Is(err, row.want) {
			t.Errorf("%s: got %v, want %v", row.what, err, row.want)
		}
		w.settle()
		if got := w.show(s, partition("p"), 0); got != row.there {
			t.Errorf("%s: KV has %q, want %q", row.what, got, row.there)
		}
	}
}

// TestSecondWriteWithinASecond checks that a second write of an entity within a second gets ServerBusy, because KV
// accepts one write per second to a name.
func TestSecondWriteWithinASecond(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	s := w.isolate(steady(), workerskv.Options{})
	w.create(s, 1)
	w.commit(s, number("p", "r", 1))
	if _, err := s.Commit(t.Context(), tableName, []table.Mutation{number("p", "r", 2)}); !errors.Is(err, table.ErrBusy) {
		t.Errorf("at once: %v", err)
	}
	w.wait(time.Second)
	w.commit(s, number("p", "r", 3))
	w.settle()
	if got := w.show(s, partition("p"), 0); got != "p/r=3 " {
		t.Errorf("KV has %s", got)
	}
}

// TestTimeEndsBeforeTheWrite checks that a request whose deadline passes before its write returns the error of the
// context and writes nothing.
func TestTimeEndsBeforeTheWrite(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	m := number("p", "r", 1)
	m.Kind = table.Merge
	h := &hooked{Namespace: w.cloud, name: workerskv.EntityName(1, m.Key)}
	s := w.isolate(steady(), workerskv.Options{Namespace: h})
	w.create(s, 1)
	ctx, cancel := context.WithCancel(t.Context())
	h.read = cancel
	before := w.cloud.writes
	if _, err := s.Commit(ctx, tableName, []table.Mutation{m}); !errors.Is(err, context.Canceled) || errors.Is(err, table.ErrUnknown) {
		t.Error(err)
	}
	if w.cloud.writes != before {
		t.Errorf("%d writes", w.cloud.writes-before)
	}
}

// TestUnreadable checks that every call fails with ErrBusy, and writes nothing, while KV cannot be read.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	s := w.isolate(steady(), workerskv.Options{})
	w.create(s, 1)
	w.cloud.blind = errLost
	before := w.cloud.writes
	calls := map[string]func() error{
		"Get": func() error {
			_, err := s.Get(t.Context(), tableName, key.Append(nil, "p", "r"), table.Strong)
			return err
		},
		"Commit": func() error {
			_, err := s.Commit(t.Context(), tableName, []table.Mutation{number("p", "r", 1)})
			return err
		},
		"Scan": func() error {
			_, err := s.Scan(t.Context(), tableName, table.ScanRequest{Ranges: []key.Range{{}}})
			return err
		},
		"ReadRecord":  func() error { _, err := s.ReadRecord(t.Context(), tableName, table.Strong); return err },
		"ListRecords": func() error { _, err := s.ListRecords(t.Context(), "acct", "", 10, table.Strong); return err },
		"WriteRecord": func() error {
			_, err := s.WriteRecord(t.Context(), table.Record{Key: table.RecordKey{Account: "acct", Table: "new"}})
			return err
		},
		"Drop": func() error { return s.Drop(t.Context(), tableName, "x") },
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, table.ErrBusy) || !errors.Is(err, errLost) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if w.cloud.writes != before {
		t.Errorf("%d writes", w.cloud.writes-before)
	}
}
