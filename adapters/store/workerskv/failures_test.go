package workerskv_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"edgetable/adapters/store/workerskv"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// What needs a single writer says so, where none was declared, and what does not
// is done.
func TestRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	now := steady()
	s := table.New(w.isolate(now, workerskv.Options{}), table.Options{Now: now, Rand: func() uint64 { return 7 }})
	name := table.Name{Account: "acct", Table: "One"}
	if err := s.CreateTable(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	op := func(a table.Action, any bool) table.Operation {
		return table.Operation{Action: a, PartitionKey: "p", RowKey: "r", IfMatch: table.Match{Any: any, Timestamp: 1}}
	}
	other := op(table.InsertOrReplace, true)
	other.RowKey = "s"
	for _, row := range []struct {
		what string
		ops  []table.Operation
		want table.Code
	}{
		{"insert or replace", []table.Operation{op(table.InsertOrReplace, true)}, ""},
		{"insert or merge", []table.Operation{op(table.InsertOrMerge, true)}, ""},
		{"update any", []table.Operation{op(table.Update, true)}, ""},
		{"merge any", []table.Operation{op(table.MergeEntity, true)}, ""},
		{"insert", []table.Operation{op(table.Insert, true)}, table.NotImplemented},
		{"update by ETag", []table.Operation{op(table.Update, false)}, table.NotImplemented},
		{"delete by ETag", []table.Operation{op(table.DeleteEntity, false)}, table.NotImplemented},
		{"transaction", []table.Operation{op(table.InsertOrReplace, true), other}, table.NotImplemented},
		{"delete any", []table.Operation{op(table.DeleteEntity, true)}, ""},
		{"delete any of nothing", []table.Operation{op(table.DeleteEntity, true)}, table.ResourceNotFound},
	} {
		var err error
		if len(row.ops) == 1 {
			_, err = s.Write(t.Context(), name, row.ops[0])
		} else {
			_, err = s.Transact(t.Context(), name, row.ops)
		}
		w.wait(time.Second)
		var got *table.Error
		if errors.As(err, &got); row.want == "" && err != nil || row.want != "" && (got == nil || got.Code != row.want) {
			t.Errorf("%s: got %v, want %s", row.what, err, row.want)
		}
		if row.want == table.NotImplemented && (got.Status() != 501 || !strings.Contains(got.Message, "single writer")) {
			t.Errorf("%s: %d %s", row.what, got.Status(), got.Message)
		}
	}
}

// A write of which it is not known whether it was done is sent again only where
// nobody else can have written since.
func TestLostPuts(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		what    string
		single  bool
		faults  []error
		applied bool
		want    error
		puts    int
		there   bool
	}{
		{"any writer, lost", false, []error{errLost}, false, table.ErrUnknown, 1, false},
		{"any writer, applied", false, []error{errLost}, true, table.ErrUnknown, 1, true},
		{"any writer, refused", false, []error{workerskv.ErrRefused}, false, table.ErrBusy, 1, false},
		{"single writer, lost", true, []error{errLost}, false, nil, 2, true},
		{"single writer, applied", true, []error{errLost}, true, nil, 2, true},
		{"single writer, refused", true, []error{workerskv.ErrRefused}, false, nil, 2, true},
		{"single writer, applied, then refused", true, []error{errLost, workerskv.ErrRefused, workerskv.ErrRefused}, true, table.ErrUnknown, 3, true},
		{"single writer, lost for good", true, []error{errLost, errLost, errLost}, false, table.ErrUnknown, 3, false},
		{"single writer, refused for good", true, []error{workerskv.ErrRefused, workerskv.ErrRefused, workerskv.ErrRefused}, false, table.ErrBusy, 3, false},
	} {
		w := newWorld(t, 1)
		s := w.isolate(steady(), workerskv.Options{SingleWriter: row.single})
		w.create(s, 1)
		before := w.cloud.writes
		faults := row.faults
		w.cloud.fault = func(string) (error, bool) {
			if len(faults) == 0 {
				return nil, false
			}
			err := faults[0]
			faults = faults[1:]
			return err, row.applied && errors.Is(err, errLost)
		}
		_, err := s.Commit(t.Context(), tableName, []table.Mutation{number("p", "r", 1)})
		if !errors.Is(err, row.want) || (err == nil) != (row.want == nil) {
			t.Errorf("%s: got %v, want %v", row.what, err, row.want)
		}
		if puts := w.cloud.writes - before; puts != row.puts {
			t.Errorf("%s: %d puts, want %d", row.what, puts, row.puts)
		}
		w.settle()
		if _, err := s.Get(t.Context(), tableName, key.Append(nil, "p", "r"), table.Strong); (err == nil) != row.there {
			t.Errorf("%s: Get got %v", row.what, err)
		}
	}
}

// While it is not known whether a single writer wrote, no condition is judged by
// what was there before: what is seen to be there is not written over.
func TestUnknownIsNotForgotten(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 2; n++ {
		w := newWorld(t, 1)
		s := w.isolate(steady(), workerskv.Options{SingleWriter: true})
		w.create(s, 1)
		faults := []error{errLost, workerskv.ErrRefused, workerskv.ErrRefused}
		w.cloud.fault = func(string) (error, bool) {
			if len(faults) == 0 {
				return nil, false
			}
			err := faults[0]
			faults = faults[1:]
			return err, errors.Is(err, errLost)
		}
		batch := []table.Mutation{number("p", "r", 1), number("p", "s", 1)}[:n]
		for i := range batch {
			batch[i].Condition = table.Absent
		}
		if _, err := s.Commit(t.Context(), tableName, batch); !errors.Is(err, table.ErrUnknown) {
			t.Fatal(err)
		}
		seen := func() bool {
			_, err := s.Get(t.Context(), tableName, batch[0].Key, table.Strong)
			return err == nil
		}
		for !seen() {
			w.wait(time.Second)
		}
		for range 20 {
			if _, err := s.Commit(t.Context(), tableName, batch); !errors.Is(err, table.ErrBusy) {
				t.Fatalf("%d inserts of what is there: %v", n, err)
			}
		}
		w.settle()
		if _, err := s.Commit(t.Context(), tableName, batch); !errors.Is(err, table.ErrExists) {
			t.Errorf("%d inserts, later: %v", n, err)
		}
		batch[0].Condition = table.Present
		if _, err := s.Commit(t.Context(), tableName, batch[:1]); err != nil {
			t.Error(err)
		}
	}
}

// Whose time ends before the put has written nothing, and knows it.
func TestTimeEndsBeforeThePut(t *testing.T) {
	t.Parallel()
	for _, batch := range [][]table.Mutation{{merge("r", "n")}, {merge("r", "n"), merge("s", "n")}} {
		w := newWorld(t, 1)
		h := &hooked{Namespace: w.cloud, name: workerskv.EntityName(1, batch[0].Key)}
		s := w.isolate(steady(), workerskv.Options{Namespace: h, SingleWriter: true})
		w.create(s, 1)
		ctx, cancel := context.WithCancel(t.Context())
		h.read = cancel
		before := w.cloud.writes
		if _, err := s.Commit(ctx, tableName, batch); !errors.Is(err, context.Canceled) || errors.Is(err, table.ErrUnknown) {
			t.Errorf("%d mutations: %v", len(batch), err)
		}
		if w.cloud.writes != before {
			t.Errorf("%d mutations: %d writes", len(batch), w.cloud.writes-before)
		}
	}
}

// What cannot be read is not guessed, and to write is not begun.
func TestBlind(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	s := w.isolate(steady(), workerskv.Options{SingleWriter: true})
	w.create(s, 1)
	w.settle()
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
		"ReadRecord":  func() error { _, err := s.ReadRecord(t.Context(), tableName); return err },
		"ListRecords": func() error { _, err := s.ListRecords(t.Context(), "acct", "", 10); return err },
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

// A partition takes as much in transactions as its journal holds, and a single
// writer as much as is remembered, and then more when time has passed.
func TestFull(t *testing.T) {
	t.Parallel()
	for what, o := range map[string]workerskv.Options{
		"the journal": {SingleWriter: true, Memory: 1 << 30},
		"the memory":  {SingleWriter: true, Memory: 10 << 20},
	} {
		w := newWorld(t, 1)
		s := w.isolate(steady(), o)
		w.create(s, 1)
		in := func(row string) string { return "p" }
		if what == "the memory" {
			in = func(row string) string { return row }
		}
		large := edm.AppendProperty(nil, "large", edm.Binary(make([]byte, 900_000)))
		commit := func(row string) error {
			_, err := s.Commit(t.Context(), tableName, []table.Mutation{
				{Key: key.Append(nil, in(row), row+"a"), Properties: large}, {Key: key.Append(nil, in(row), row+"b"), Properties: large},
			})
			return err
		}
		var err error
		n := 0
		for ; err == nil && n < 50; n++ {
			err = commit(string(rune('A' + n)))
		}
		if !errors.Is(err, table.ErrBusy) {
			t.Fatalf("%s is never full: %v", what, err)
		}
		for range 4 {
			w.settle()
			_ = commit("again")
		}
		if err := commit("last"); err != nil {
			t.Errorf("%s is full for ever: %v", what, err)
		}
		want := 0
		for _, m := range []string{"a", "b"} {
			for i := range n - 1 {
				if _, err := s.Get(t.Context(), tableName, key.Append(nil, in(string(rune('A'+i))), string(rune('A'+i))+m), table.Strong); err == nil {
					want++
				}
			}
		}
		if want != 2*(n-1) {
			t.Errorf("%s: of %d entities %d are there", what, 2*(n-1), want)
		}
	}
}
