package dynamodb_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"edgetable/adapters/store/dynamodb"
	"edgetable/adapters/store/dynamodb/rebucket"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// fresh opens a store over the DynamoDB table of a test. Its long waits take no real
// time.
func fresh(t testing.TB, name string, e *elapsed) *dynamodb.Store {
	return open(t, dynamodb.Options{Table: name, Buckets: 3, Elapsed: e.now, Sleep: e.sleep})
}

// TestRebucket checks that after a run every entity is identical, to the bit, and can be
// written.
func TestRebucket(t *testing.T) {
	t.Parallel()
	w := newWorld(t, -1)
	e := new(elapsed)
	var wall time.Duration
	s := open(t, dynamodb.Options{Table: w.name, Buckets: 3, Elapsed: e.now, Sleep: e.sleep, Now: func() edm.Ticks { return now() + edm.Ticks(wall/100) }})
	fillOdd(t, s)
	before, document := scanAll(t, s, 1000), recordOf(t, s)
	cut, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: everything, Rows: 10})
	if err != nil || cut.Next == nil {
		t.Fatal(err)
	}
	items := allItems(t, w.name)
	for _, count := range []uint16{7, 2, 64, 1} {
		var states []rebucket.State
		var copied int
		err := s.Rebucket(t.Context(), people, rebucket.Options{Buckets: count, Report: func(p rebucket.Progress) error {
			if n := len(states); n == 0 || states[n-1] != p.State {
				states = append(states, p.State)
			}
			copied = max(copied, p.Copied)
			if p.State >= rebucket.Closing && p.Pause < 2200*time.Millisecond {
				t.Errorf("a pause of %v is foreseen, leases alone take longer", p.Pause)
			}
			return nil
		}})
		want := []rebucket.State{rebucket.Copying, rebucket.Closing, rebucket.Last, rebucket.Done}
		if err != nil || !slices.Equal(states, want) || copied != len(before) {
			t.Fatalf("to %d buckets: %v, states %v, %d copied of %d", count, err, states, copied, len(before))
		}
		sameRows(t, fmt.Sprint("to ", count), scanAll(t, s, 1000), before)
		for i := range before {
			row, err := s.Get(t.Context(), people, before[i].Key, table.Strong)
			if err != nil {
				t.Fatal(err)
			}
			sameRows(t, "by Get", []table.Row{row}, before[i:i+1])
		}
		d := recordOf(t, s)
		if string(d.Value) != "policies" || bucketsOf(t, s) != count || d.Incarnation == document.Incarnation || d.Revision == document.Revision {
			t.Errorf("to %d buckets: the document is %+v", count, d)
		}
		document = d
		wall += 2 * time.Hour
		if err := s.Purge(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if got := allItems(t, w.name); got != items {
			t.Errorf("%d items after the purge, want %d as before", got, items)
		}
	}
	sameRows(t, "a page goes on", append(cut.Rows, scanFrom(t, s, key.From(everything, cut.Next), 7)...), before)

	document.Value = []byte("new")
	if _, err := s.WriteRecord(t.Context(), document); err != nil {
		t.Errorf("the document cannot be written: %v", err)
	}
	m := table.Mutation{Key: before[5].Key, Condition: table.Unchanged, IfMatch: before[5].Timestamp - 1}
	if _, err := s.Commit(t.Context(), people, []table.Mutation{m}); !errors.Is(err, table.ErrChanged) {
		t.Errorf("an update on another ETag: %v", err)
	}
	m.IfMatch++
	if ticks := commit(t, s, m); ticks <= before[5].Timestamp {
		t.Errorf("an update on the ETag gave %d, not above %d", ticks, before[5].Timestamp)
	}
	for i := range before {
		commit(t, s, table.Mutation{Key: before[i].Key, Kind: table.Delete, Condition: table.Present})
	}
	if left := allItems(t, w.name); left != 1 {
		t.Errorf("%d items are left after all was deleted, want the record", left)
	}
}

// TestRebucketNothing starts runs that are refused, and runs that have nothing to do. Such a run must write nothing.
func TestRebucketNothing(t *testing.T) {
	t.Parallel()
	s, w := overWire(t, dynamodb.Options{Buckets: 3})
	settings, none := table.RecordKey{Account: "acct"}, table.RecordKey{Account: "acct", Table: "none"}
	if _, err := s.WriteRecord(t.Context(), table.Record{Key: settings, Value: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	w.take()
	for _, row := range []struct {
		why   string
		key   table.RecordKey
		o     rebucket.Options
		want  error
		state rebucket.State
	}{
		{"no buckets", people, rebucket.Options{}, rebucket.ErrBuckets, 0},
		{"too many", people, rebucket.Options{Buckets: dynamodb.MaxBuckets + 1}, rebucket.ErrBuckets, 0},
		{"no table", none, rebucket.Options{Buckets: 5}, table.ErrNoTable, 0},
		{"settings of an account", settings, rebucket.Options{Buckets: 5}, table.ErrNoTable, 0},
		{"no table to abort", none, rebucket.Options{Abort: true}, table.ErrNoTable, 0},
		{"the buckets it has", people, rebucket.Options{Buckets: 3}, nil, rebucket.Unchanged},
		{"nothing to abort", people, rebucket.Options{Abort: true}, nil, rebucket.Unchanged},
	} {
		var last rebucket.State
		row.o.Report = func(p rebucket.Progress) error { last = p.State; return nil }
		if err := s.Rebucket(t.Context(), row.key, row.o); !errors.Is(err, row.want) || last != row.state {
			t.Errorf("%s: %v, %v; want %v, %v", row.why, err, last, row.want, row.state)
		}
		for _, operation := range operations(w.take()) {
			if operation != "GetItem" && operation != "Query" {
				t.Errorf("%s: %s was called", row.why, operation)
			}
		}
	}
}

// TestRebucketMaxPause checks that a run stops if writes would be refused for longer than
// MaxPause. A later run must use the copy that the first run made.
func TestRebucketMaxPause(t *testing.T) {
	t.Parallel()
	e := new(elapsed)
	s := fresh(t, newTable(t), e)
	create(t, s)
	for i := range 30 {
		commit(t, s, table.Mutation{Key: key.Append(nil, fmt.Sprint(i), "r")})
	}
	run := func(o rebucket.Options) (copied int, err error) {
		o.Report = func(p rebucket.Progress) error {
			if p.State == rebucket.Copying {
				copied += p.Copied
				e.time.Add(int64(time.Second)) // before each report, one second of simulated time passes
			}
			return nil
		}
		return copied, s.Rebucket(t.Context(), people, o)
	}
	var long *rebucket.PauseError
	copied, err := run(rebucket.Options{Buckets: 5, MaxPause: 3 * time.Second})
	if !errors.As(err, &long) || long.Expected != 4200*time.Millisecond || copied != 30 {
		t.Fatalf("%v, %d copied", err, copied)
	}
	commit(t, s, table.Mutation{Key: key.Append(nil, "0", "r")})
	var other *rebucket.UnfinishedError
	if _, err := run(rebucket.Options{Buckets: 6}); !errors.As(err, &other) || other.Buckets != 5 {
		t.Errorf("to another number: %v", err)
	}
	var number *rebucket.UnfinishedError
	if _, err := run(rebucket.Options{Buckets: 3}); !errors.As(err, &number) {
		t.Errorf("to the present number while a run to another is not finished: %v", err)
	}
	copied, err = run(rebucket.Options{Buckets: 5, MaxPause: 5 * time.Second})
	if err != nil || copied != 1 {
		t.Errorf("it goes on with %d entities copied again, want the one that changed; %v", copied, err)
	}
	if n := bucketsOf(t, s); n != 5 {
		t.Errorf("%d buckets", n)
	}
}

// TestRebucketReportEnds checks that an error from Report ends the run at any moment, and
// that the table then accepts writes.
func TestRebucketReportEnds(t *testing.T) {
	t.Parallel()
	s := fresh(t, newTable(t), new(elapsed))
	fillOdd(t, s)
	want := scanAll(t, s, 1000)
	cut := errors.New("cut")
	for n := 0; ; n++ {
		left := n
		err := s.Rebucket(t.Context(), people, rebucket.Options{Buckets: 5, Report: func(p rebucket.Progress) error {
			if left--; left < 0 && p.State != rebucket.Done {
				return cut
			}
			return nil
		}})
		if err == nil {
			break
		}
		if !errors.Is(err, cut) {
			t.Fatal(err)
		}
		want[0].Timestamp = commit(t, s, table.Mutation{Key: want[0].Key, Properties: want[0].Properties, Nonce: want[0].Nonce})
	}
	sameRows(t, "after all", scanAll(t, s, 1000), want)
	if n := bucketsOf(t, s); n != 5 {
		t.Errorf("%d buckets", n)
	}
}

// TestRebucketContextEnds checks that the table accepts writes at once if the context of a run ends while the run
// forbids writes.
func TestRebucketContextEnds(t *testing.T) {
	t.Parallel()
	s := fresh(t, newTable(t), new(elapsed))
	create(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	err := s.Rebucket(ctx, people, rebucket.Options{Buckets: 5, Report: func(p rebucket.Progress) error {
		if p.State == rebucket.Last {
			_, err := s.Commit(t.Context(), people, []table.Mutation{{Key: key.Append(nil, "p", "r")}})
			if !errors.Is(err, table.ErrBusy) {
				t.Errorf("Commit under the seal: %v", err)
			}
			cancel()
		}
		return nil
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Rebucket: %v", err)
	}
	commit(t, s, table.Mutation{Key: key.Append(nil, "p", "r")})
}
