package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"

	"github.com/anishathalye/porcupine"
)

// Concurrency runs many clients of two stores over the same data, and compares their replies with a sequential model. A
// history of replies is correct if each operation can be assigned a moment between its call and its return, so that the
// model, in the order of these moments, returns the same replies.
//
// The rule depends on the strengths of the store:
//
//   - With ExactDrop, a Drop takes effect at one moment; without it, gradually between its call and its return.
//   - With SnapshotPage, a page is read at one moment; without it, each row at its own moment.
//   - Without Linearizable, reads have no order, but must not return a value that no Commit wrote. Writes still have an
//     order if the store is Conditional.
//   - In a Lossy fixture, a write with an unknown outcome takes effect at any moment after its call, or never.
func Concurrency(t *testing.T, h Harness) {
	run(t, h, []law{
		{"Entities", func(e *env) { histories(e, false) }},
		{"Tables", func(e *env) { histories(e, true) }},
		{"Converges", convergenceLaw},
	})
}

const clients = 5

// extent returns the number of rounds, and of operations per client and round. A Lossy fixture has shorter rounds,
// because writes with an unknown outcome overlap all later operations.
func (e *env) extent() (rounds, commands int) {
	if e.Lossy {
		return 10, 20
	}
	return 5, e.repetitions(40, 25)
}

func histories(e *env, tables bool) {
	stores := [2]table.Store{e.Store, e.second(e.clock.now)}
	l := laws{
		exactDrop:       e.has.ExactDrop,
		acrossDeletes:   e.has.TimestampsAcrossProcesses || e.Share == nil,
		singlePartition: !e.has.SnapshotPage,
	}
	rounds, commands := e.extent()
	for round := range rounds {
		name := tableKey(fmt.Sprint("round", round))
		h := &history{e: e, name: name, tables: tables, incarnation: incarnation()}
		if !tables {
			first := client{history: h, id: clients, store: e.Store}
			for unknown(first.create()) {
			}
		}
		var all sync.WaitGroup
		begin := make(chan struct{})
		for id := range clients {
			c := &client{history: h, id: id, store: stores[id%2], rnd: rand.New(rand.NewPCG(uint64(round), uint64(id)))}
			all.Go(func() {
				<-begin
				c.work(commands)
			})
		}
		close(begin)
		all.Wait()
		if e.Failed() {
			return
		}
		if !e.has.Linearizable {
			h.checkWritten()
			if !e.has.Conditional || tables {
				continue
			}
			h.operations = slices.DeleteFunc(h.operations, func(op porcupine.Operation) bool {
				return op.Input.(step).mutations == nil && op.Input.(step).method != "create"
			})
		}
		result := porcupine.CheckOperationsTimeout(l.model(), h.operations, 5*time.Minute)
		if result != porcupine.Ok {
			e.Errorf("round %d: no order explains this history (%s):\n%s", round, result, h)
			return
		}
	}
}

// history contains the operations of all clients on one table, and their results.
type history struct {
	e           *env
	name        table.RecordKey
	tables      bool              // whether clients create and drop the table
	incarnation table.Incarnation // the incarnation of the table, unless clients create and drop it
	time        atomic.Int64      // logical time of calls and returns, as the number of events so far

	mu         sync.Mutex
	operations []porcupine.Operation
}

// String returns the operations as text, in the order of their calls.
func (h *history) String() string {
	slices.SortFunc(h.operations, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	var b strings.Builder
	for _, op := range h.operations {
		fmt.Fprintf(&b, "%4d–%4d client %d: %s\n", op.Call, op.Return, op.ClientId, describeStep(op.Input.(step), op.Output.(answer)))
	}
	return b.String()
}

func (h *history) add(in step, call int64, out answer) {
	end := h.time.Add(1)
	in.id = end
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case errors.Is(out.err, table.ErrBusy) || h.e.lacksStrength(out.err, in.mutations):
		return // the operation had no effect, and its error does not tell whether the table exists
	case unknown(out.err) && h.e.Lossy && (in.method == "commit" || in.method == "create" || in.method == "drop"):
		end = never
	case strings.HasPrefix(reason(out.err), "unexpected") || unknown(out.err):
		h.e.Errorf("%s: no failure was injected", describeStep(in, out))
		return
	}
	record := func(in step, out answer) {
		h.operations = append(h.operations, porcupine.Operation{ClientId: in.client, Input: in, Call: call, Output: out, Return: end})
	}
	switch {
	case in.method == "scan" && out.err == nil && !h.e.has.SnapshotPage:
		for i := range universe {
			one := answer{cells: out.cells}
			if !out.cells[i].there {
				one.err = table.ErrNoEntity
			}
			record(step{method: "get", client: in.client, key: i}, one)
		}
	default:
		record(in, out)
		if in.method == "drop" && (out.err == nil || end == never) && !h.e.has.ExactDrop {
			in.method = "dropped"
			record(in, out)
		}
	}
}

// client runs one operation after another.
type client struct {
	*history
	id    int
	store table.Store
	rnd   *rand.Rand
	known [len(universe)]edm.Ticks // the last known Timestamp of each key
	count uint64
}

func (c *client) work(commands int) {
	for range commands {
		runtime.Gosched() // this makes the operations of different clients overlap even on a fast store
		n := c.rnd.IntN(20)
		switch {
		case c.tables && c.id < 2 && n < 6:
			c.drop()
		case c.tables && n < 8:
			_ = c.create() // the method create adds its result to the history
		case n < 11:
			c.get(c.rnd.IntN(len(universe)))
		case n < 13:
			c.scan()
		default:
			c.commit(c.mutations())
		}
	}
}

func (c *client) create() error {
	call := c.time.Add(1)
	d := table.Record{Key: c.name, Incarnation: c.incarnation}
	if c.tables {
		d.Incarnation = incarnation()
	}
	r, err := c.store.WriteRecord(c.e.Context(), d)
	c.add(step{method: "create", client: c.id}, call, answer{err: err, revision: r})
	return err
}

func (c *client) drop() {
	call := c.time.Add(1)
	d, err := c.store.ReadRecord(c.e.Context(), c.name, table.Strong)
	c.add(step{method: "read", client: c.id}, call, answer{err: err, revision: d.Revision})
	if err != nil {
		return
	}
	call = c.time.Add(1)
	err = c.store.Drop(c.e.Context(), c.name, d.Revision)
	c.add(step{method: "drop", client: c.id, revision: d.Revision}, call, answer{err: err})
}

func (c *client) get(k int) {
	call := c.time.Add(1)
	row, err := c.store.Get(c.e.Context(), c.name, []byte(universe[k]), table.Strong)
	out := answer{err: err}
	if err == nil {
		out.cells[k] = cellOf(row)
		c.known[k] = row.Timestamp
	}
	c.add(step{method: "get", client: c.id, key: k}, call, out)
}

func (c *client) scan() {
	call := c.time.Add(1)
	page, err := c.store.Scan(c.e.Context(), c.name, table.ScanRequest{Ranges: []key.Range{{}}})
	out := answer{err: err}
	for _, r := range page.Rows {
		if i := position(r.Key); i >= 0 {
			out.cells[i] = cellOf(r)
		} else {
			c.e.Errorf("Scan returned %s, which nobody wrote", formatRow(r))
		}
	}
	if page.Next != nil {
		c.e.Errorf("Scan without a budget ended at %q after %d rows", page.Next, len(page.Rows))
	}
	c.add(step{method: "scan", client: c.id}, call, out)
}

func (c *client) commit(m []table.Mutation) {
	call := c.time.Add(1)
	ticks, err := c.store.Commit(c.e.Context(), c.name, m)
	for _, one := range m {
		if err == nil && one.Kind != table.Delete {
			c.known[position(one.Key)] = ticks
		}
	}
	c.add(step{method: "commit", client: c.id, mutations: m}, call, answer{err: err, ticks: ticks})
}

// mutations returns one to three mutations of one partition. Without AtomicCommit, it returns only one. Without
// Conditional, it returns only puts without a condition.
func (c *client) mutations() []table.Mutation {
	first := 3 * c.rnd.IntN(2)
	rows := c.rnd.Perm(3)[:1+c.rnd.IntN(6)/3+c.rnd.IntN(2)]
	if !c.e.has.AtomicCommit {
		rows = rows[:1]
	}
	var m []table.Mutation
	c.count++
	for _, r := range rows {
		one := table.Mutation{
			Key:   []byte(universe[first+r]),
			Kind:  table.Kind(c.rnd.IntN(3)),
			Nonce: uint64(c.id)<<32 | c.count,
		}
		if one.Condition = table.Condition(c.rnd.IntN(4)); one.Kind == table.Delete {
			one.Condition = table.Present + table.Condition(c.rnd.IntN(2))
		}
		if len(rows) > 1 && c.rnd.IntN(3) > 0 && one.Kind != table.Delete {
			one.Condition = table.Always // remove the condition of most mutations, because most batches would otherwise be refused
		}
		if !c.e.has.Conditional {
			one.Kind, one.Condition = table.Put, table.Always
		}
		if one.Condition == table.Unchanged {
			one.IfMatch = c.known[first+r]
		}
		if one.Kind != table.Delete {
			one.Properties = edm.AppendProperty(nil, []string{"v", "w"}[c.rnd.IntN(2)], edm.Int64(int64(one.Nonce)))
		}
		m = append(m, one)
	}
	return m
}

// checkWritten checks a store without Linearizable. A read may return a value only if a Commit of this value to this
// key began before the read returned.
func (h *history) checkWritten() {
	begun := make(map[string]int64)
	for _, op := range h.operations {
		for _, m := range op.Input.(step).mutations {
			begun[fmt.Sprint(m.Nonce, string(m.Key))] = op.Call
		}
	}
	for _, op := range h.operations {
		for i, c := range op.Output.(answer).cells {
			call, ok := begun[fmt.Sprint(c.nonce, universe[i])]
			if c.there && (!ok || call > op.Return) {
				h.e.Errorf("a read showed what nobody had written: %s", describeStep(op.Input.(step), op.Output.(answer)))
			}
		}
	}
}
