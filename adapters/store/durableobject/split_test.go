package durableobject_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/testdata/rowstest"

	"github.com/anishathalye/porcupine"
)

var (
	splitSeeds = flag.Int("splits", 300, "seeds of TestSplits")
	splitAfter = flag.Uint64("splits-after", 0, "the seed before the first of TestSplits")
	splitSeed  = flag.Uint64("split", 0, "the only seed of TestSplits")
)

// TestSplits reads, writes and drops tables that split many times. Messages are lost, late and
// repeated, objects restart, and alarms ring late. A seed determines all of that. The history of each
// key is compared with a model of one entity.
func TestSplits(t *testing.T) {
	t.Parallel()
	if *splitSeed != 0 {
		newSplits(t, *splitSeed).run()
		return
	}
	total, left, joined, seeds := 0, 0, 0, *splitSeeds
	if testing.Short() {
		seeds = 20
	}
	for seed := range uint64(seeds) {
		w := newSplits(t, *splitAfter+seed+1)
		w.run()
		if total, left, joined = total+w.splits, left+w.left, joined+len(w.joined); t.Failed() {
			t.Fatalf("seed %d: try -split %d", w.seed, w.seed)
		}
	}
	t.Logf("%d splits and %d ranges that left in %d seeds, of which %d gave entities", total, left, seeds, joined)
	if total < 2*seeds || left == 0 || joined < seeds/10 {
		t.Errorf("%d seeds have only %d splits, and %d ranges left, %d with entities", seeds, total, left, joined)
	}
}

// A splits value is a table with a history of all its operations.
type splits struct {
	*cloud
	t       *testing.T
	seed    uint64
	r       *rand.Rand
	now     edm.Ticks
	stores  []*durableobject.Store
	replica *replica
	keys    [][]byte
	buckets uint16

	depth       int
	faultless   bool // whether no faults are injected
	faults      int  // one message in this many has a fault
	delayed     []durableobject.Call
	incarnation table.Incarnation
	lives       int
	gone        bool  // whether the table is, or may be, between a drop and the next create
	gaps        int   // number of drops after which the table was not certainly created again
	drops       int   // number of all drops
	time        int64 // logical time of calls and returns
	history     map[string][]porcupine.Operation
	issued      map[edm.Ticks]string
	splits      int
	left        int
	giving      map[string]string // names of ranges that copy their entities to a neighbour, by the name of the neighbour
	joined      map[string]bool   // the ranges that handed over their keys after copying their entities
	joins       bool              // whether ranges with entities are sometimes small and idle, so that they merge

	feeds     bool // whether the table has a feed
	followers []*follower
	acks      []ack // the confirmed commits
	dropped   int64 // when the last drop was begun
}

func newSplits(t *testing.T, seed uint64) *splits {
	w := &splits{
		t: t, seed: seed, r: rand.New(rand.NewPCG(seed, 3)), now: replicaStart,
		history: make(map[string][]porcupine.Operation), issued: make(map[edm.Ticks]string),
		giving: make(map[string]string), joined: make(map[string]bool),
	}
	clock := func() edm.Ticks { return w.now }
	w.cloud = newCloud(t, clock)
	w.rnd = w.r.Uint64
	w.bytes = 200 + w.r.Int64N(1200)
	w.rows = 1 + w.r.IntN(4)
	if w.r.IntN(3) == 0 {
		w.rate = 0.05
	}
	w.joins = w.r.IntN(3) == 0
	if w.r.IntN(3) == 0 {
		w.replica = newReplica(t, w.cloud, &w.now, seed)
		w.replica.harm = w.r.IntN(2) == 0
	}
	w.faults = 4 + w.r.IntN(40)
	w.buckets = uint16(1 + 2*(w.r.IntN(4)/3))
	for range 2 {
		w.stores = append(w.stores, w.store(clock, func(o *durableobject.Options) { o.Buckets = w.buckets }))
	}
	for p := range 6 + w.r.IntN(12) {
		for row := range 1 + w.r.IntN(2) {
			w.keys = append(w.keys, at(fmt.Sprintf("p%02d", p), fmt.Sprint(row)))
		}
	}
	w.network = func(c durableobject.Call) fate { return w.fate(c) }
	w.inside = func(c durableobject.Call) fate {
		w.count(c)
		if !w.faultless && w.r.IntN(6) == 0 { // the message arrives again, much later
			w.delayed = append(w.delayed, durableobject.Call{To: c.To, Message: bytes.Clone(c.Message)})
		}
		return w.fate(c)
	}
	w.between = w.meanwhile
	return w
}

// count counts splits and merges, by the messages between objects. A repeated message is counted once.
func (w *splits) count(c durableobject.Call) {
	switch op, r, _ := message.Open(c.Message); {
	case op == message.OpTake:
		if last := w.giving[c.To.Name]; last != "" {
			w.joined[last] = true
		}
	case op == message.OpJoin:
		w.giving[c.To.Name] = fmt.Sprint(c.To.Name, " ", w.left)
	case op == message.OpSwitch && r.Splitting().To == 0:
		w.left++
	case op == message.OpSwitch:
		w.splits++
	}
}

func (w *splits) fate(c durableobject.Call) (f fate) {
	if w.faultless || w.r.IntN(w.faults) != 0 {
		return f
	}
	lost := []error{durableobject.ErrLost, durableobject.ErrUnreachable, durableobject.ErrOverloaded}
	switch w.r.IntN(7) {
	case 0:
		return fate{lose: true, err: lost[w.r.IntN(len(lost))]}
	case 1, 2:
		return fate{err: durableobject.ErrLost}
	case 3:
		return fate{repeat: true}
	case 4:
		return fate{err: durableobject.ErrLost, repeat: true}
	case 5:
		return fate{foreign: true}
	}
	w.delayed = append(w.delayed, durableobject.Call{To: c.To, Message: bytes.Clone(c.Message)})
	return fate{lose: true, err: durableobject.ErrLost}
}

// This method simulates other events while an object waits.
func (w *splits) meanwhile(waiting *node, calls []durableobject.Call) (dead bool) {
	if w.faultless || w.depth >= 4 {
		return false
	}
	w.depth++
	defer func() { w.depth-- }()
	quick := calls[0].To == durableobject.Replica // a message with a batch to the replica must not take long
	for !quick && w.r.IntN(3) == 0 {
		w.act()
	}
	if !quick && w.r.IntN(3) == 0 {
		w.cloud.late = func() {
			w.depth++
			w.act()
			w.depth--
		}
	}
	if w.faultless || w.r.IntN(w.faults) != 0 {
		return false
	}
	w.restart(waiting)
	return w.r.IntN(2) == 0
}

// restart clears the memory of an object, and ends the first attempts of writes that wait for it, as
// the platform does.
func (w *splits) restart(n *node) {
	n.evict()
	w.delayed = slices.DeleteFunc(w.delayed, func(c durableobject.Call) bool {
		return c.Writes() && c.To.Name == n.id.Name
	})
}

func (w *splits) run() {
	w.create()
	for range 250 {
		w.act()
		if w.t.Failed() {
			return
		}
	}
	w.faultless = true
	w.settle()
	for n := 0; w.gone; n++ {
		if w.create(); n > 10 {
			w.t.Error("the table does not come back")
			return
		}
		w.settle()
	}
	w.scan(w.stores[0], 0)
	w.scan(w.stores[1], 3)
	for _, f := range w.followers {
		f.compare()
	}
	if w.feeds {
		w.fromStart()
	}
	if w.r.IntN(2) == 0 { // not in every run, so that some drops must reach all ranges of a table with many ranges
		w.vacate()
	}
	w.check()
	w.clean()
}

// settle lets all alarms ring until none is left.
func (w *splits) settle() {
	for _, c := range w.delayed {
		w.handle(w.t.Context(), c)
	}
	w.delayed = nil
	if w.replica != nil {
		w.replica.harm = false
	}
	for range 4000 {
		w.pass(edm.TicksPerSecond / 2)
		w.ring(w.now)
	}
}

// vacate deletes the first entities of the table, and moves the clock by some hours. Then it checks that no
// range is empty, except the last range of a bucket. A range must notice without a write that it is empty, and
// merge.
func (w *splits) vacate() {
	for _, k := range w.keys[:w.r.IntN(len(w.keys)+1)] {
		w.commit(w.stores[0], []table.Mutation{{Key: k, Kind: table.Delete, Condition: table.Present}})
	}
	for range 300 {
		w.pass(60 * edm.TicksPerSecond)
		w.ring(w.now)
		if !w.joins { // a read counts as load
			w.checkServed()
		}
	}
	for bucket := range w.buckets {
		answer := w.handle(w.t.Context(), durableobject.Call{To: durableobject.Catalog("acct", ""), Message: message.Ranges(nil, tableText, bucket)})
		r, err := message.Result(answer.Message)
		r.Located()
		known := r.Named()
		if w.feeds {
			r.Traits()
		}
		if err != nil || !r.Done() || len(known.Begun) > 0 {
			w.t.Errorf("seed %d: bucket %d has %+v, %v", w.seed, bucket, known, err)
			return
		}
		for _, one := range known.Ranges[:max(len(known.Ranges), 1)-1] {
			n := w.node(durableobject.Range(tableText, w.buckets, bucket, one.ID, ""))
			if !slices.ContainsFunc(n.rows.Rows, func(r rowstest.Row) bool { return r.Key[0] == 'e' }) {
				w.t.Errorf("seed %d: %s stays and is empty", w.seed, n.id.Name)
			}
		}
	}
}

// checkServed checks that each key is served. No message is lost at this time, so no key may be
// unavailable for longer than one exchange of messages.
func (w *splits) checkServed() {
	for _, k := range w.keys {
		if _, err := w.stores[0].Get(w.t.Context(), tableKey, k, table.Strong); err != nil && !errors.Is(err, table.ErrNoEntity) {
			w.t.Errorf("seed %d: %q is not served: %v", w.seed, k, err)
		}
	}
}

// clean checks that no object keeps data that only a split needs, and that a drop leaves nothing in any
// range.
func (w *splits) clean() {
	for _, n := range w.all() {
		for _, r := range n.rows.Rows {
			if r.Key[0] == 's' || r.Key[0] == 'o' || !w.feeds && (r.Key[0] == 'f' || r.Key[0] == 'F') {
				w.t.Errorf("seed %d: %s keeps %q", w.seed, n.id.Name, r.Key)

			}
		}
	}
	if w.replica != nil {
		w.converged()
	}
	w.drop()
	w.settle()
	for _, n := range w.all() {
		for _, r := range n.rows.Rows {
			if w.feeds && (r.Key[0] == 'f' || r.Key[0] == 'F') {
				continue // these rows belong to the feed, which keeps them for some days
			}
			// With OpForget, the catalog confirms that it has recorded the highest Timestamp. If OpForget was
			// lost, the row of the clock stays.
			if string(r.Key) != "mc" && !strings.HasPrefix(n.id.Name, "catalog/") || r.Key[0] == 'g' || r.Key[0] == 'd' {
				w.t.Errorf("seed %d: after the drop %s keeps %q", w.seed, n.id.Name, r.Key)
			}
		}
	}
}

// converged checks that the replica is equal to the table.
func (w *splits) converged() {
	want := map[string]string{}
	page, err := w.stores[0].Scan(w.t.Context(), tableKey, everything)
	if err != nil {
		w.t.Fatal(err)
	}
	for i := range page.Rows {
		want[string(page.Rows[i].Key)] = string(table.AppendRow(nil, &page.Rows[i]))
	}
	prefix := fmt.Sprintf("%x ", w.incarnation)
	for name, v := range w.replica.names {
		if k, ok := strings.CutPrefix(name, prefix); ok && v.value != nil {
			found := false
			for key, value := range want {
				if fmt.Sprintf("%x", key) == k {
					found = true
					if value != string(v.value) {
						w.t.Errorf("seed %d: the replica has another %s", w.seed, k)
					}
					delete(want, key)
				}
			}
			if !found {
				w.t.Errorf("seed %d: only the replica has %s", w.seed, k)
			}
		}
	}
	for k := range want {
		w.t.Errorf("seed %d: the replica lacks %q", w.seed, k)

	}
	for source := range w.replica.marks {
		w.t.Errorf("seed %d: %s says that it lags", w.seed, source)
	}
}

// act makes one random thing happen.
func (w *splits) act() {
	if len(w.followers) > 0 && w.r.IntN(6) == 0 {
		w.followers[w.r.IntN(len(w.followers))].read()
	}
	store := w.stores[w.r.IntN(2)]
	switch n := w.r.IntN(100); {
	case n < 40:
		w.write(store)
	case n < 50:
		w.get(store)
	case n < 58:
		w.scan(store, w.r.IntN(5))
	case n < 75:
		w.ring(w.now)
	case n < 88:
		most := int64(10 * edm.TicksPerSecond)
		if w.depth > 0 {
			most /= 20 // the message waits for a few seconds at most
		}
		w.pass(edm.Ticks(w.r.Int64N(most)))
	case n < 89 && w.depth == 0 && (w.joins || w.r.IntN(3) == 0):
		w.pass(3700 * edm.TicksPerSecond)
	case n < 92:
		if w.joins && w.depth == 0 { // engines that start later also get another maximum size
			w.bytes = 200 + w.r.Int64N(1200)*w.r.Int64N(20)
		}
		for _, o := range w.all() {
			if w.r.IntN(3) == 0 {
				w.restart(o)
			}
		}
	case n < 96 && len(w.delayed) > 0:
		for range 1 + w.r.IntN(3) {
			if len(w.delayed) > 0 {
				i := w.r.IntN(len(w.delayed))
				c := w.delayed[i]
				w.delayed = slices.Delete(w.delayed, i, i+1)
				w.handle(w.t.Context(), c)
			}
		}
	case n < 97 && w.depth == 0: // the first partitions become empty
		i := w.r.IntN(len(w.keys))
		for _, k := range w.keys[:i] {
			w.commit(store, []table.Mutation{{Key: k, Kind: table.Delete, Condition: table.Present}})
		}
	case n == 98 && w.depth < 2 && w.r.IntN(4) == 0:
		w.drop()
	case w.gone && w.depth < 2:
		w.create()
	}
}

// This method moves the clock. Writes to the replica arrive when their time has come.
func (w *splits) pass(d edm.Ticks) {
	if w.now += d; w.replica != nil {
		w.replica.land()
	}
}

func (w *splits) tick() int64 { w.time++; return w.time }

func (w *splits) create() {
	if !w.gone && w.lives > 0 {
		return
	}
	var err error
	for range 20 {
		w.lives++ // a create with an unknown outcome may be applied later, so each create has its own incarnation
		incarnation := table.Incarnation{byte(w.lives), byte(w.lives >> 8)}
		r := table.Record{Key: tableKey, Incarnation: incarnation}
		if w.feeds {
			r.Traits = &table.Traits{Feed: &table.Feed{Keep: 7 * 24 * 3600 * edm.TicksPerSecond}}
		}
		_, err = w.stores[0].WriteRecord(w.t.Context(), r)
		if err == nil {
			w.incarnation = incarnation
			break
		}
		d, e := w.stores[0].ReadRecord(w.t.Context(), tableKey, table.Strong)
		if e == nil && (w.faultless || d.Incarnation == incarnation) {
			w.incarnation, err = d.Incarnation, nil // the record has an earlier incarnation if the drop was not carried out
			break
		}
		w.pass(edm.TicksPerSecond)
	}
	if err == nil && w.gone {
		w.gaps--
	}
	w.gone = err != nil
}

// The method drop tries to drop the table. If a drop has certainly happened, the method records it.
func (w *splits) drop() {
	if w.gone {
		return
	}
	store := w.stores[w.r.IntN(2)]
	d, err := store.ReadRecord(w.t.Context(), tableKey, table.Strong)
	if err != nil || w.gone {
		return
	}
	w.gaps++
	w.drops++
	call := w.tick()
	w.dropped = call
	err = store.Drop(w.t.Context(), tableKey, d.Revision)
	for range 20 {
		if err == nil {
			break
		}
		if _, e := store.ReadRecord(w.t.Context(), tableKey, table.Strong); errors.Is(e, table.ErrNoRecord) {
			err = nil
			break
		}
		w.pass(edm.TicksPerSecond)
		err = store.Drop(w.t.Context(), tableKey, d.Revision)
	}
	end := w.tick()
	if err != nil {
		end = math.MaxInt64 // the drop may still be carried out
	}
	for _, k := range w.keys {
		w.record(k, call, end, entityStep{drop: true}, entityAnswer{})
	}
	w.gone = true
}

// write changes one entity, or two entities of a partition.
func (w *splits) write(store *durableobject.Store) {
	k := w.keys[w.r.IntN(len(w.keys))]
	list := []table.Mutation{w.mutation(k)}
	if i := slices.IndexFunc(w.keys, func(o []byte) bool {
		return !bytes.Equal(o, k) && bytes.Equal(key.Partition(o), key.Partition(k))
	}); i >= 0 && w.r.IntN(3) == 0 {
		list = append(list, w.mutation(w.keys[i]))
	}
	w.commit(store, list)
}

func (w *splits) mutation(k []byte) table.Mutation {
	m := table.Mutation{Key: k, Nonce: w.r.Uint64(), Properties: edm.AppendProperty(nil, "v", edm.String(strings.Repeat("x", w.r.IntN(120))))}
	switch w.r.IntN(6) {
	case 0:
		m.Condition = table.Absent
	case 1:
		m.Condition = table.Present
	case 2:
		m.Kind, m.Condition, m.Properties = table.Delete, table.Present, nil
	}
	return m
}

func (w *splits) commit(store *durableobject.Store, list []table.Mutation) {
	call, gaps := w.tick(), w.gap()
	ticks, err := store.Commit(w.t.Context(), tableKey, list)
	end := w.tick()
	refused, isRefused := errors.AsType[*table.Refused](err)
	switch {
	case errors.Is(err, table.ErrBusy):
		return
	case errors.Is(err, table.ErrNoTable):
		w.hadGap(gaps, "a write")
		return
	case err == nil:
		if other, ok := w.issued[ticks]; ok {
			w.t.Errorf("seed %d: Timestamp %d is that of %q and of %q", w.seed, ticks, other, list[0].Key)
		}
		w.issued[ticks] = string(list[0].Key)
		w.acks = append(w.acks, ack{ticks, call, len(list)})
	case errors.Is(err, table.ErrUnknown):
		end = math.MaxInt64
	case !isRefused:
		w.t.Errorf("seed %d: a write: %v", w.seed, err)
		return
	}
	for i, m := range list {
		answer := entityAnswer{ticks: ticks, unknown: errors.Is(err, table.ErrUnknown)}
		if isRefused {
			if refused.Index != i {
				continue // unknown, because another mutation of the batch was refused
			}
			answer.refused = refused.Err.Error()
		}
		w.record(m.Key, call, end, entityStep{write: true, mutation: m}, answer)
	}
}

// This method returns the number of all drops, or -1 if the table may be absent now.
func (w *splits) gap() int {
	if w.gaps > 0 || w.gone {
		return -1
	}
	return w.drops
}

// An operation found no table. The parameter before is the result of the method gap before the operation. If
// the table certainly existed during the whole operation, the test fails.
func (w *splits) hadGap(before int, what string) {
	if before == w.drops && w.gaps == 0 && !w.gone {
		w.t.Errorf("seed %d: %s found no table", w.seed, what)
	}
}

func (w *splits) record(k []byte, call, end int64, in entityStep, out entityAnswer) {
	w.history[string(k)] = append(w.history[string(k)], porcupine.Operation{Input: in, Output: out, Call: call, Return: end})
}

func (w *splits) get(store *durableobject.Store) {
	k := w.keys[w.r.IntN(len(w.keys))]
	call, gaps := w.tick(), w.gap()
	row, err := store.Get(w.t.Context(), tableKey, k, table.Strong)
	end := w.tick()
	switch {
	case err == nil:
		w.record(k, call, end, entityStep{}, entityAnswer{ticks: row.Timestamp, nonce: row.Nonce, there: true})
	case errors.Is(err, table.ErrNoEntity):
		w.record(k, call, end, entityStep{}, entityAnswer{})
	case errors.Is(err, table.ErrNoTable):
		w.hadGap(gaps, "a read")
	case !errors.Is(err, table.ErrBusy):
		w.t.Errorf("seed %d: a read: %v", w.seed, err)
	}
}

// scan reads the table page by page. Each page counts as a read of each key that it covers.
func (w *splits) scan(store *durableobject.Store, rows int) {
	from := []byte(nil)
	for range 200 {
		call, gaps := w.tick(), w.gap()
		page, err := store.Scan(w.t.Context(), tableKey, table.ScanRequest{Ranges: []key.Range{{Start: from}}, Rows: rows})
		end := w.tick()
		switch {
		case errors.Is(err, table.ErrNoTable):
			w.hadGap(gaps, "a page")
			return
		case errors.Is(err, table.ErrBusy):
			return
		case err != nil:
			w.t.Errorf("seed %d: a page: %v", w.seed, err)
			return
		case rows > 0 && len(page.Rows) > rows:
			w.t.Errorf("seed %d: a page of %d rows has %d", w.seed, rows, len(page.Rows))
		}
		passed := key.Range{Start: from, End: page.Next}
		i := 0
		for _, k := range w.keys {
			if !passed.Contains(k) {
				continue
			}
			if i < len(page.Rows) && bytes.Equal(page.Rows[i].Key, k) {
				w.record(k, call, end, entityStep{}, entityAnswer{ticks: page.Rows[i].Timestamp, nonce: page.Rows[i].Nonce, there: true})
				i++
				continue
			}
			w.record(k, call, end, entityStep{}, entityAnswer{})
		}
		if i < len(page.Rows) {
			w.t.Errorf("seed %d: a page from %q to %q has %q, which is not in order", w.seed, from, page.Next, page.Rows[i].Key)
			return
		}
		if page.Next == nil {
			return
		}
		if bytes.Compare(page.Next, from) <= 0 {
			w.t.Errorf("seed %d: a page from %q goes on at %q", w.seed, from, page.Next)
			return
		}
		from = page.Next
	}
	w.t.Errorf("seed %d: the pages do not end", w.seed)
}

// check compares the history of each key with the model.
func (w *splits) check() {
	for _, k := range w.keys {
		h := w.history[string(k)]
		if result := porcupine.CheckOperationsTimeout(entityModel, h, time.Minute); result != porcupine.Ok {
			slices.SortFunc(h, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
			var list strings.Builder
			for _, op := range h {
				fmt.Fprintf(&list, "%d-%d %s\n", op.Call, op.Return, entityModel.DescribeOperation(op.Input, op.Output))
			}
			w.t.Errorf("seed %d: no order explains the history of %q (%s):\n%s", w.seed, k, result, list.String())
			return
		}
	}
}
