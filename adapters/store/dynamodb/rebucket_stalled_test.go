package dynamodb_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"edgetable/adapters/store/dynamodb"
	"edgetable/adapters/store/dynamodb/rebucket"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// gate is an HTTP client that can hold back one request of a process before the request
// reaches the server, and then hold back the reply.
type gate struct {
	armed            atomic.Bool
	waiting, arrived chan struct{} // the gate sends to the first channel when it holds back the request, and to the second when it holds back the reply
	through, reply   chan struct{} // the test sends to the first channel to release the request, and to the second to release the reply
}

func newGate() *gate {
	return &gate{waiting: make(chan struct{}), arrived: make(chan struct{}), through: make(chan struct{}), reply: make(chan struct{})}
}

func (g *gate) Do(r *http.Request) (*http.Response, error) {
	operation := strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "DynamoDB_20120810.")
	if operation == "GetItem" || !g.armed.CompareAndSwap(true, false) {
		return connections.Do(r)
	}
	g.waiting <- struct{}{}
	<-g.through
	answer, err := connections.Do(r)
	g.arrived <- struct{}{}
	<-g.reply
	return answer, err
}

// moment is a step of a run of Rebucket, as the reports of the run show it.
type moment int

const (
	copying moment = iota
	closing        // the run is about to refuse writes
	last           // the last comparison has finished
	done
)

// moments runs Rebucket. It passes each step of the run to the given callback.
func moments(s *dynamodb.Store, ctx context.Context, count uint16, at func(moment)) error {
	seen := copying - 1
	step := func(m moment) {
		if m > seen {
			seen = m
			at(m)
		}
	}
	err := s.Rebucket(ctx, people, rebucket.Options{Buckets: count, Report: func(p rebucket.Progress) error {
		switch {
		case p.State == rebucket.Copying:
			step(copying)
		case p.State == rebucket.Closing:
			step(closing)
		case p.State == rebucket.Last && p.Copied > 0:
			step(last)
		}
		return nil
	}})
	step(done)
	return err
}

// hurried opens a store that returns ErrBusy instead of waiting between attempts.
func (c *instant) hurried(t testing.TB, name string) *dynamodb.Store {
	return open(t, dynamodb.Options{Table: name, Now: c.now, Elapsed: c.elapsed, Sleep: func(context.Context, time.Duration) error {
		return context.DeadlineExceeded
	}})
}

// TestRebucketStalledWriter checks a write that is in flight while the table moves. The
// write must be acknowledged only if the table contains it afterwards. If the table does
// not contain the write, no reader may ever see it.
func TestRebucketStalledWriter(t *testing.T) {
	t.Parallel()
	upsert := table.Operation{Action: table.InsertOrReplace}
	insert := table.Operation{Action: table.Insert}
	for _, row := range []struct {
		why             string
		through, answer moment
		op              table.Operation
		batch           bool
		want            string // the error code of the write, or "ok"
		value           string
	}{
		{"it arrives before the seal, and so does the reply", copying, copying, upsert, false, "ok", "new"},
		{"it arrives before the seal, the reply afterwards", copying, done, upsert, false, "ok", "new"},
		{"it arrives just before the seal, the reply when all was compared", closing, last, upsert, false, "ok", "new"},
		{"it arrives when all was compared, the reply at once", last, last, upsert, false, "OperationTimedOut", "old"},
		{"it arrives when all was compared, the reply after the move", last, done, upsert, false, "OperationTimedOut", "old"},
		{"it arrives after the move", done, done, upsert, false, "OperationTimedOut", "old"},
		{"a batch arrives after the move", done, done, upsert, true, "OperationTimedOut", "old"},
		{"it is refused where the table was", done, done, insert, false, "ok", "new"},
		{"a batch is refused where the table was", done, done, insert, true, "ok", "new"},
		{"it is refused for what was there before the seal", copying, copying, insert, false, "EntityAlreadyExists", "old"},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			c, name, g, moved := new(instant), newTable(t), newGate(), make(chan struct{})
			others, hurried := c.open(t, name, dynamodb.Options{}), c.hurried(t, name)
			create(t, others)
			hot, k := key.Append(nil, "hot", "r"), key.Append(nil, "p", "r")
			put := func(v string) {
				commit(t, others, table.Mutation{Key: k, Properties: edm.AppendProperty(nil, "v", edm.String(v))})
			}
			put("old")
			writer := open(t, dynamodb.Options{
				Table: name, Client: newClient(g), Now: c.now, Elapsed: c.elapsed, Attempt: time.Minute,
				Sleep: func(context.Context, time.Duration) error { <-moved; return nil },
			})
			if _, err := writer.Get(t.Context(), people, k, table.Strong); err != nil {
				t.Fatal(err)
			}
			c.pass(time.Millisecond) // wait, so that the processes do not issue the same Timestamp
			service := table.New(writer, table.Options{Now: now, Rand: rand.Uint64})
			answer := make(chan error, 1)
			g.armed.Store(true)
			go func() {
				op := row.op
				op.PartitionKey, op.RowKey, op.IfMatch.Any = "p", "r", true
				op.Properties = edm.AppendProperty(nil, "v", edm.String("new"))
				var err error
				if ops := []table.Operation{op, op}; row.batch {
					ops[1].RowKey = "second"
					_, err = service.Transact(t.Context(), account, ops)
				} else {
					_, err = service.Write(t.Context(), account, op)
				}
				answer <- err
			}()
			<-g.waiting
			var got error
			err := moments(others, t.Context(), 5, func(m moment) {
				if m == done {
					close(moved)
					if row.op.Action == table.Insert && row.want == "ok" {
						commit(t, others, table.Mutation{Key: k, Kind: table.Delete})
					}
				}
				if m == row.through {
					g.through <- struct{}{}
					<-g.arrived
				}
				if m == last {
					switch r, err := hurried.Get(t.Context(), people, k, table.Strong); {
					case row.through == last && !errors.Is(err, table.ErrBusy):
						t.Errorf("what came too late is seen: %v", err)
					case row.through != last && err != nil, err == nil && r.Properties.Count() != 1:
						t.Errorf("Get during the last pass: %v", err)
					}
				}
				if m == row.answer {
					g.reply <- struct{}{}
					if m == copying {
						got = <-answer // the writer's request ends now, so later steps of the run cannot change its result
					}
				}
				if m == closing {
					commit(t, others, table.Mutation{Key: hot}) // a difference that the last pass must copy
				}
			})
			if err != nil {
				t.Fatalf("Rebucket: %v", err)
			}
			if row.answer != copying {
				got = <-answer
			}
			if code(got) != row.want {
				t.Errorf("the writer's answer is %s, want %s", code(got), row.want)
			}
			r, err := others.Get(t.Context(), people, k, table.Strong)
			if v, _ := r.Properties.Lookup("v"); err != nil || v.Text() != row.value {
				t.Errorf("there is %q, want %q; %v", v.Text(), row.value, err)
			}
		})
	}
}

// TestRebucketStalledReader checks a read that is in flight while the table moves. The
// read must return a state that the table had at some time during the read.
func TestRebucketStalledReader(t *testing.T) {
	t.Parallel()
	c, name, g := new(instant), newTable(t), newGate()
	others := c.open(t, name, dynamodb.Options{})
	create(t, others)
	k := key.Append(nil, "p", "r")
	commit(t, others, table.Mutation{Key: k})
	reader := c.open(t, name, dynamodb.Options{Client: newClient(g), Attempt: time.Minute})
	if _, err := reader.Get(t.Context(), people, k, table.Strong); err != nil {
		t.Fatal(err)
	}
	g.armed.Store(true) // holds back the next Query
	var page table.Page
	answer := make(chan error, 1)
	go func() {
		var err error
		page, err = reader.Scan(t.Context(), people, table.ScanRequest{Ranges: everything})
		answer <- err
	}()
	<-g.waiting
	if err := moments(others, t.Context(), 5, func(moment) {}); err != nil {
		t.Fatal(err)
	}
	ticks := commit(t, others, table.Mutation{Key: k})
	g.through <- struct{}{}
	<-g.arrived
	g.reply <- struct{}{}
	if err := <-answer; err != nil || len(page.Rows) != 1 || page.Rows[0].Timestamp != ticks {
		t.Errorf("it found %d entities, want the one written at %d; %v", len(page.Rows), ticks, err)
	}
}

// TestRebucketReadsDuringLastPass checks that during the last pass all entities can be
// read, except the entities that still differ between the table and its copy.
func TestRebucketReadsDuringLastPass(t *testing.T) {
	t.Parallel()
	c, name := new(instant), newTable(t)
	s, hurried := c.open(t, name, dynamodb.Options{}), c.hurried(t, name)
	create(t, s)
	row := func(i int) []byte { return key.Append(nil, string(rune('a'+i)), "r") }
	for i := range 10 {
		commit(t, s, table.Mutation{Key: row(i)})
	}
	looked := false
	err := s.Rebucket(t.Context(), people, rebucket.Options{Buckets: 5, Report: func(p rebucket.Progress) error {
		if p.State == rebucket.Closing {
			commit(t, s, table.Mutation{Key: row(4)})
			commit(t, s, table.Mutation{Key: row(7), Kind: table.Delete})
			commit(t, s, table.Mutation{Key: row(10)})
		}
		if p.State != rebucket.Last || looked {
			return nil
		}
		looked = true
		for i := range 12 {
			var want error
			switch i {
			case 4, 7, 10:
				want = table.ErrBusy
			case 11:
				want = table.ErrNoEntity
			}
			if _, err := hurried.Get(t.Context(), people, row(i), table.Strong); !errors.Is(err, want) {
				t.Errorf("Get of %d: %v, want %v", i, err, want)
			}
		}
		for _, x := range []struct {
			why        string
			from, rows int
			found      int
			next       int // row at which the next page begins; 0 means that there is no next page
		}{
			{"up to what has changed", 0, 100, 4, 4},
			{"not up to it", 0, 2, 2, 2},
			{"up to what is gone", 5, 100, 2, 7},
			{"up to what is new", 8, 100, 2, 10},
			{"behind all of it", 11, 100, 0, 0},
		} {
			page, err := hurried.Scan(t.Context(), people, table.ScanRequest{Ranges: key.From(everything, row(x.from)), Rows: x.rows})
			if err != nil || len(page.Rows) != x.found || (page.Next == nil) != (x.next == 0) || x.next > 0 && string(page.Next) > string(row(x.next)) {
				t.Errorf("a page %s: %d entities, Next %q, %v", x.why, len(page.Rows), page.Next, err)
			}
		}
		if _, err := hurried.Scan(t.Context(), people, table.ScanRequest{Ranges: key.From(everything, row(4))}); !errors.Is(err, table.ErrBusy) {
			t.Errorf("a page that begins with what has changed: %v", err)
		}
		return nil
	}})
	if err != nil || !looked {
		t.Fatal(err, looked)
	}
	if list := scanAll(t, s, 1000); len(list) != 10 {
		t.Errorf("%d entities, want 10", len(list))
	}
}
