package dynamodb_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"edgetable/adapters/store/dynamodb"
	"edgetable/adapters/store/dynamodb/rebucket"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// instant is a monotonic and a wall clock that advance only when a store sleeps.
type instant struct{ time atomic.Int64 }

func (c *instant) pass(d time.Duration)   { c.time.Add(int64(d)) }
func (c *instant) elapsed() time.Duration { return time.Duration(c.time.Load()) }
func (c *instant) now() edm.Ticks         { return edm.MinDateTime + 1<<60 + edm.Ticks(c.time.Load()/100) }
func (c *instant) sleep(ctx context.Context, d time.Duration) error {
	c.pass(d)
	return ctx.Err()
}

func (c *instant) open(t testing.TB, name string, client dynamodb.Options) *dynamodb.Store {
	client.Table, client.Buckets = name, cmp.Or(client.Buckets, 3)
	client.Now, client.Elapsed, client.Sleep = c.now, c.elapsed, c.sleep
	return open(t, client)
}

// dying is the HTTP client of a process that dies at its nth write, or at its nth read.
// After that, all calls of the process fail.
type dying struct {
	left  int
	reads bool // whether the process dies at its nth read instead of its nth write
	done  bool // the server still applies the call at which the process dies

	mu   sync.Mutex // guards these fields, because buckets are read concurrently
	dead bool
}

func (d *dying) Do(r *http.Request) (*http.Response, error) {
	operation := strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "DynamoDB_20120810.")
	read := operation == "Query" || operation == "GetItem" || operation == "BatchGetItem"
	d.mu.Lock()
	lives := !d.dead
	if lives && read == d.reads {
		d.left--
		d.dead = d.left < 0
	}
	dies := lives && d.dead
	d.mu.Unlock()
	if !lives || dies && !d.done {
		return nil, errLost
	}
	answer, err := connections.Do(r)
	if dies && err == nil {
		answer.Body.Close()
		return nil, errLost
	}
	return answer, err
}

// model is the expected content of the table.
type model map[string]table.Row

func (m model) rows() (list []table.Row) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		list = append(list, m[k])
	}
	return list
}

// write commits a mutation, which must succeed, and records the mutation in the model.
func (m model) write(t testing.TB, s table.Store, mutation table.Mutation) {
	t.Helper()
	ticks := commit(t, s, mutation)
	if mutation.Kind == table.Delete {
		delete(m, string(mutation.Key))
		return
	}
	m[string(mutation.Key)] = table.Row{Key: mutation.Key, Timestamp: ticks, Nonce: mutation.Nonce, Properties: mutation.Properties}
}

// killed tests a table that Rebucket moves again and again. The processes that run
// Rebucket die during the moves.
type killed struct {
	*testing.T
	name   string
	clock  *instant
	others *dynamodb.Store
	model  model
	count  uint16 // number of buckets after the next move
	round  int
}

// change makes the table differ from its copy: it changes one entity, creates or deletes
// another entity, and makes a third entity large if it was small, or small if it was
// large.
func (k *killed) change() {
	k.round++
	small := edm.AppendProperty(nil, "round", edm.Int32(int32(k.round)))
	of := func(row string) []byte { return key.Append(nil, row, row) }
	k.model.write(k.T, k.others, table.Mutation{Key: of("changed"), Properties: small, Nonce: uint64(k.round)})
	if there := of("comes and goes"); k.round%2 == 0 {
		k.model.write(k.T, k.others, table.Mutation{Key: there, Kind: table.Delete})
		k.model.write(k.T, k.others, table.Mutation{Key: of("large"), Properties: large(400_000 + k.round)})
	} else {
		k.model.write(k.T, k.others, table.Mutation{Key: there, Properties: small})
		k.model.write(k.T, k.others, table.Mutation{Key: of("large"), Properties: small})
	}
}

// run rebuckets the table in a process. The argument via is the HTTP client of the
// process, and makes the process die. If this argument is nil, the process uses another
// client and does not die.
func (k *killed) run(via *dying) error {
	s := k.others
	if via != nil {
		s = k.clock.open(k.T, k.name, dynamodb.Options{Client: newClient(via)})
	}
	return s.Rebucket(k.Context(), people, rebucket.Options{Buckets: k.count, Report: func(p rebucket.Progress) error {
		if p.State == rebucket.Closing && via != nil {
			k.change() // makes differences that only the last comparison of the run can find
		}
		return nil
	}})
}

// die starts a run in a process that dies at a call. Then it cleans up, either by another
// run or by an abort. It returns false if the first run finished before that call.
func (k *killed) die(via *dying, abort bool) bool {
	what := fmt.Sprintf("dies at call %d (read: %v, carried out: %v)", via.left, via.reads, via.done)
	k.count = 5 - bucketsOf(k.T, k.others) // the number of buckets alternates between 2 and 3
	k.change()
	err := k.run(via)
	if !via.dead {
		if err != nil {
			k.Errorf("without a fault: %v", err)
		}
		return false
	}
	// If the process died after the last step of the run, only items for Purge are left.
	m := table.Mutation{Key: key.Append(nil, "after", "it"), Properties: edm.AppendProperty(nil, "round", edm.Int32(int32(k.round)))}
	k.readAtOnce(what)
	switch {
	case abort:
		if err := k.others.Rebucket(k.Context(), people, rebucket.Options{Abort: true}); err != nil {
			k.Errorf("%s: abort: %v", what, err)
		}
	default:
		if _, err = k.others.Commit(k.Context(), people, []table.Mutation{m}); errors.Is(err, table.ErrBusy) {
			k.clock.pass(29 * time.Second)
			if _, err := k.others.Commit(k.Context(), people, []table.Mutation{m}); !errors.Is(err, table.ErrBusy) {
				k.Errorf("%s: after 29 s of watching: %v", what, err)
			}
			k.clock.pass(time.Second)
		}
	}
	k.model.write(k.T, k.others, m)
	sameRows(k.T, what+", written again", scanAll(k.T, k.others, 1000), k.model.rows())
	if err := k.run(nil); err != nil {
		k.Errorf("%s: the next run: %v", what, err)
	}
	sameRows(k.T, what+", run again", scanAll(k.T, k.others, 1000), k.model.rows())
	if n, r := bucketsOf(k.T, k.others), recordOf(k.T, k.others); n != k.count || string(r.Value) != "policies" {
		k.Errorf("%s: %d buckets, want %d; the record is %q", what, n, k.count, r.Value)
	}
	return !k.Failed()
}

// readAtOnce checks that a read does not wait, even if the table refuses writes. The only
// exception is an entity that differs between the table and its copy. There, the reader
// gets ErrBusy after three pauses. The reader's clock stands still during the pauses.
func (k *killed) readAtOnce(what string) {
	var pauses atomic.Int64
	s := open(k.T, dynamodb.Options{Table: k.name, Now: k.clock.now, Elapsed: k.clock.elapsed, Sleep: func(ctx context.Context, _ time.Duration) error {
		if pauses.Add(1) > 3 {
			return context.DeadlineExceeded
		}
		return ctx.Err()
	}})
	for _, want := range k.model {
		pauses.Store(0)
		row, err := s.Get(k.Context(), people, want.Key, table.Strong)
		switch {
		case err == nil:
			sameRows(k.T, what+", read at once", []table.Row{row}, []table.Row{want})
		case !errors.Is(err, table.ErrBusy):
			k.Errorf("%s, read at once: %q: %v", what, want.Key, err)
		}
	}
	pauses.Store(0)
	page, err := s.Scan(k.Context(), people, table.ScanRequest{Ranges: everything})
	switch {
	case err == nil:
		sameRows(k.T, what+", a page at once", page.Rows, k.model.rows()[:len(page.Rows)])
	case !errors.Is(err, table.ErrBusy):
		k.Errorf("%s, a page at once: %v", what, err)
	}
}

// TestRebucketKilled lets a run die at each of its calls. No entity may be lost, reads
// must not wait, writes must succeed after half a minute, and another run must finish.
// After that, Purge must remove all unused items.
func TestRebucketKilled(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		what        string
		reads, done bool
		step        int
	}{
		{"write refused", false, false, 1},
		{"write carried out", false, true, 1},
		{"read", true, false, 3},
	} {
		for _, abort := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/abort=%v", row.what, abort), func(t *testing.T) {
				t.Parallel()
				k := &killed{T: t, name: newTable(t), clock: new(instant), model: model{}}
				k.others = k.clock.open(t, k.name, dynamodb.Options{})
				create(t, k.others)
				d := recordOf(t, k.others)
				d.Value = []byte("policies")
				if _, err := k.others.WriteRecord(t.Context(), d); err != nil {
					t.Fatal(err)
				}
				k.count = 2
				if err := k.run(nil); err != nil { // the table begins with 2 buckets
					t.Fatal(err)
				}
				for i := range 8 {
					k.model.write(t, k.others, table.Mutation{Key: key.Append(nil, fmt.Sprint(i), "r"), Nonce: uint64(i)})
				}
				calls := 0
				for k.die(&dying{left: calls, reads: row.reads, done: row.done}, abort) {
					calls += row.step
				}
				if calls < 10 {
					t.Errorf("a run makes %d calls of this kind", calls)
				}
				k.clock.pass(2 * time.Hour)
				if err := k.others.Purge(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
				want := 1 + len(k.model)
				for _, r := range k.model {
					if dynamodb.SizeOf(r.Key, r.Properties) > dynamodb.Inline(1) {
						want += 2 // the two chunks of a large entity, of up to 350 KiB
					}
				}
				if got := allItems(t, k.name); got != want {
					t.Errorf("%d items are left after a purge, want %d: the record, entities and chunks", got, want)
				}
			})
		}
	}
}
