package dynamodb_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"edgetable/adapters/store/dynamodb"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// world contains two processes, a and b, that share one DynamoDB table. Only the test
// moves their clocks.
type world struct {
	*testing.T
	name string
	a, b *dynamodb.Store
	// The field elapsed contains the monotonic clocks of the processes a and b, and the field wall contains their wall clocks.
	elapsed [2]atomic.Int64
	wall    [2]atomic.Int64
	asleep  chan time.Duration // process a sends the duration when it begins to sleep
	awake   chan error         // the test sends the result of the sleep, which ends the sleep
}

func newWorld(t *testing.T, lease time.Duration) *world {
	w := &world{T: t, name: newTable(t), asleep: make(chan time.Duration), awake: make(chan error)}
	process := func(i int) *dynamodb.Store {
		w.wall[i].Store(int64(now()))
		return open(t, dynamodb.Options{
			Table: w.name, Buckets: 3, Lease: lease,
			Now:     func() edm.Ticks { return edm.Ticks(w.wall[i].Load()) },
			Elapsed: func() time.Duration { return time.Duration(w.elapsed[i].Load()) },
			Sleep: func(ctx context.Context, d time.Duration) error {
				if i == 1 || d < time.Second {
					return ctx.Err()
				}
				w.asleep <- d
				return <-w.awake
			},
		})
	}
	w.a, w.b = process(0), process(1)
	return w
}

// pass moves the two clocks of process i forward.
func (w *world) pass(i int, d time.Duration) {
	w.elapsed[i].Add(int64(d))
	w.wall[i].Add(int64(d / 100))
}

func (w *world) put(s *dynamodb.Store, row, v string) error {
	_, err := s.Commit(w.Context(), people, []table.Mutation{{
		Key: key.Append(nil, "p", row), Properties: edm.AppendProperty(nil, "v", edm.String(v)),
	}})
	return err
}

func (w *world) drop(s *dynamodb.Store) error {
	d, err := s.ReadRecord(w.Context(), people, table.Strong)
	if err != nil {
		return err
	}
	return s.Drop(w.Context(), people, d.Revision)
}

func (w *world) recreate(s *dynamodb.Store, n byte) error {
	_, err := s.WriteRecord(w.Context(), table.Record{Key: people, Incarnation: table.Incarnation{n}})
	return err
}

func (w *world) expect(what string, got, want error) {
	w.Helper()
	if !errors.Is(got, want) {
		w.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func (w *world) items() int {
	w.Helper()
	out, err := newClient(nil).Scan(w.Context(), &sdk.ScanInput{TableName: aws.String(w.name), Select: "COUNT"})
	if err != nil {
		w.Fatal(err)
	}
	return int(out.Count)
}

// TestDropWaitsForLeases checks that a process with a cached record can write to a table
// until its lease ends. Drop must return only after that. Until Drop returns, no table
// with this name can be created.
func TestDropWaitsForLeases(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	create(t, w.a)
	w.expect("B caches the record", w.put(w.b, "1", "x"), nil)

	dropped := make(chan error)
	go func() { dropped <- w.drop(w.a) }()
	d := <-w.asleep
	if d <= 2*time.Second {
		t.Errorf("Drop waits %v, no longer than a lease of 2 s", d)
	}
	w.expect("under its lease B may write", w.put(w.b, "2", "x"), nil)
	w.expect("the name is not free", w.recreate(w.b, 2), table.ErrBeingDeleted)
	_, err := w.b.ReadRecord(t.Context(), people, table.Strong)
	w.expect("nor is there a table of it", err, table.ErrNoRecord)
	list, err := w.b.ListRecords(t.Context(), "table/", "", 10, table.Strong)
	if len(list) != 0 || err != nil {
		t.Errorf("ListRecords: %d, %v", len(list), err)
	}
	w.pass(1, 2*time.Second)
	w.expect("B's lease has ended", w.put(w.b, "3", "x"), table.ErrNoTable)
	w.awake <- nil
	w.expect("Drop", <-dropped, nil)
	w.expect("absence is not cached", w.recreate(w.a, 2), nil)
	w.expect("the new table", w.put(w.b, "4", "x"), nil)
	_, err = w.b.Get(t.Context(), people, key.Append(nil, "p", "1"), table.Strong)
	w.expect("shares nothing with the old", err, table.ErrNoEntity)
}

// TestLeases checks which changes of the two clocks end a lease.
func TestLeases(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		why           string
		elapsed, wall time.Duration
		ends          bool
	}{
		{"nothing passed", 0, 0, false},
		{"almost all of it", 1999 * time.Millisecond, 1999 * time.Millisecond, false},
		{"all of it", 2 * time.Second, 2 * time.Second, true},
		{"the process was frozen: only the wall clock went on", 0, 3 * time.Second, true},
		{"the wall clock was set back a little: nobody knows how long it was", time.Millisecond, -time.Millisecond, true},
		{"the wall clock stands", 2 * time.Second, 0, true},
	} {
		w := newWorld(t, 0)
		create(t, w.a)
		w.expect(row.why, w.put(w.b, "1", "x"), nil)
		dropped := make(chan error)
		go func() { dropped <- w.drop(w.a) }()
		<-w.asleep
		w.elapsed[1].Add(int64(row.elapsed))
		w.wall[1].Add(int64(row.wall / 100))
		var want error
		if row.ends {
			want = table.ErrNoTable
		}
		w.expect(row.why, w.put(w.b, "2", "x"), want)
		w.awake <- nil
		w.expect(row.why, <-dropped, nil)
	}
	w := newWorld(t, -1)
	create(t, w.a)
	w.expect("without leases", w.put(w.b, "1", "x"), nil)
	w.expect("nothing is waited for", w.drop(w.a), nil)
	w.expect("and nothing cached", w.put(w.b, "2", "x"), table.ErrNoTable)
}

// TestDropCutOff checks that the name of a table becomes free again if the process that
// drops the table dies. Another process can then reuse the name. But the time of a lease
// must have passed since this process first saw that the table is being deleted.
func TestDropCutOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	create(t, w.a)
	w.expect("put", w.put(w.b, "1", "x"), nil)
	dropped := make(chan error)
	go func() { dropped <- w.drop(w.a) }()
	<-w.asleep
	w.awake <- context.Canceled
	w.expect("Drop", <-dropped, table.ErrUnknown)

	w.expect("B begins to watch", w.recreate(w.b, 2), table.ErrBeingDeleted)
	w.pass(1, 2*time.Second)
	w.expect("not long enough", w.recreate(w.b, 2), table.ErrBeingDeleted)
	w.pass(1, time.Second)
	w.expect("A has just begun", w.recreate(w.a, 3), table.ErrBeingDeleted)
	w.expect("B has watched long enough", w.recreate(w.b, 2), nil)
	w.expect("there is one now", w.recreate(w.a, 3), table.ErrRevision)
	w.expect("put", w.put(w.a, "2", "x"), nil)
}

// TestPurge checks that Purge removes all items of dropped tables and nothing else. Purge
// must not remove them too early, and must complete the work of an interrupted Purge.
func TestPurge(t *testing.T) {
	t.Parallel()
	w := newWorld(t, -1)
	create(t, w.a)
	const rows = 70
	for i := range rows {
		_, err := w.a.Commit(t.Context(), people, []table.Mutation{{Key: key.Append(nil, fmt.Sprint("p", i), "r")}})
		w.expect("put", err, nil)
	}
	_, err := w.a.Commit(t.Context(), people, []table.Mutation{{Key: key.Append(nil, "p", "large"), Properties: large(900_000)}})
	w.expect("put a large one", err, nil)
	const chunks = 3
	w.expect("drop", w.drop(w.a), nil)
	w.expect("create", w.recreate(w.a, 2), nil)
	w.expect("put", w.put(w.a, "1", "new"), nil)
	if got, want := w.items(), rows+1+chunks+1+2; got != want {
		t.Fatalf("%d items, want %d: entities, chunks, the note, and the new table with one entity", got, want)
	}
	w.expect("purge", w.a.Purge(t.Context(), nil), nil)
	if got, want := w.items(), rows+1+chunks+1+2; got != want {
		t.Errorf("%d items after a purge at once, want %d: operations may be under way", got, want)
	}
	w.pass(0, 2*time.Hour)
	cut := errors.New("cut")
	steps := 0
	for {
		err := w.a.Purge(t.Context(), func(p dynamodb.Progress) error { return cut })
		if err == nil {
			break
		}
		w.expect("purge", err, cut)
		steps++
	}
	if steps < 5 {
		t.Errorf("the purge was cut off %d times", steps)
	}
	if got := w.items(); got != 2 {
		t.Errorf("%d items are left, want the record of the new table and its entity", got)
	}
	_, err = w.a.Get(t.Context(), people, key.Append(nil, "p", "1"), table.Strong)
	w.expect("the new table", err, nil)
}

// TestPurgeFreesName checks that Purge removes a table whose Drop was interrupted, and
// frees its name.
func TestPurgeFreesName(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	create(t, w.a)
	dropped := make(chan error)
	go func() { dropped <- w.drop(w.a) }()
	<-w.asleep
	w.awake <- context.Canceled
	w.expect("Drop", <-dropped, table.ErrUnknown)
	w.pass(1, 2*time.Hour)
	var p dynamodb.Progress
	w.expect("purge", w.b.Purge(t.Context(), func(now dynamodb.Progress) error { p = now; return nil }), nil)
	if p.Tables != 1 || w.items() != 0 {
		t.Errorf("purged %+v, %d items are left", p, w.items())
	}
	w.expect("the name is free", w.recreate(w.a, 2), nil)
}

func large(size int) (p edm.Properties) {
	for i := 0; size > 0; i++ {
		n := min(size, 64_000)
		p = edm.AppendProperty(p, fmt.Sprint("Large", i), edm.Binary(make([]byte, n)))
		size -= n
	}
	return p
}
