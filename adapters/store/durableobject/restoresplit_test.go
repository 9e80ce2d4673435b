package durableobject_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/restoring"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/testdata/rowstest"
)

var (
	restoreSeeds = flag.Int("restores", 200, "seeds of TestRestoreSplits")
	restoreSeed  = flag.Uint64("restore", 0, "the only seed of TestRestoreSplits")
)

// TestRestoreSplits restores tables whose ranges split and merge, to random times, and undoes some of
// these restores. The platform returns objects to slightly wrong times; the command is killed at any
// message; objects restart; messages are lost, late and repeated; and clients write meanwhile. A seed
// determines all of that. After each restore, the table must have the content that it had at the
// requested time.
func TestRestoreSplits(t *testing.T) {
	t.Parallel()
	if *restoreSeed != 0 {
		newRewinds(t, *restoreSeed).run()
		return
	}
	seeds := *restoreSeeds
	if testing.Short() {
		seeds = 20
	}
	var all rewinds
	for seed := range uint64(seeds) {
		w := newRewinds(t, seed+1)
		if w.run(); t.Failed() {
			t.Fatalf("seed %d: try -restore %d", w.seed, w.seed)
		}
		all.ended += w.ended
		all.undone += w.undone
		all.cancelled += w.cancelled
		all.apart += w.apart
		all.kills += w.kills
		all.otherMap += w.otherMap
	}
	t.Logf("%d restores, %d of them to other ranges, %d undone, %d cancelled, %d refused near a move, %d kills", all.ended, all.otherMap, all.undone, all.cancelled, all.apart, all.kills)
	if all.otherMap < seeds/2 || all.undone == 0 || all.cancelled == 0 || all.apart == 0 || all.kills < seeds {
		t.Error("too little happened")
	}
}

// rewinds is a table that is restored again and again.
type rewinds struct {
	*cloud
	past    *past
	t       *testing.T
	seed    uint64
	r       *rand.Rand
	now     edm.Ticks
	command *durableobject.Store
	client  *durableobject.Store
	replica *replica
	keys    [][]byte
	buckets uint16
	began   edm.Ticks

	model map[string]uint64    // the nonces of the entities, by key; 0 means deleted
	was   []moment             // the content of the table in the past; an entry is valid until the time of the next entry
	high  map[string]edm.Ticks // the highest Timestamp of each key

	faults  int // one message in this many has a fault; 0 means none
	left    int // messages until the command is killed; -1 means that it is not killed
	busy    bool
	delayed []durableobject.Call
	// These fields contain the writes of clients during a restore. A write in given was made before objects
	// returned to an earlier state. It remains only if the restore is cancelled. A write in kept was made
	// later, and remains in the restored table.
	given, kept map[string]uint64
	ends        map[edm.Ticks]map[string]uint64 // the key is the time at which a finished restore began; the value is the content before that restore

	ended, undone, cancelled, apart, kills, otherMap int
}

type moment struct {
	at    edm.Ticks
	model map[string]uint64 // nil while the content changes
}

const skew = 20 * edm.TicksPerSecond

func newRewinds(t *testing.T, seed uint64) *rewinds {
	w := &rewinds{t: t, seed: seed, r: rand.New(rand.NewPCG(seed, 7)), now: newClock().t, model: map[string]uint64{}, ends: map[edm.Ticks]map[string]uint64{}, high: map[string]edm.Ticks{}, left: -1}
	clock := func() edm.Ticks { return w.now }
	w.cloud = newCloud(t, clock)
	w.rnd = w.r.Uint64
	w.bytes = 200 + w.r.Int64N(800)
	w.rows = 1 + w.r.IntN(4)
	w.past = keepPast(t, w.cloud)
	w.past.misses = func(*node) edm.Ticks { return edm.Ticks(w.r.Int64N(int64(2*skew))) - skew }
	w.past.woken = func(n *node) {
		w.now += edm.TicksPerSecond / 1000
		switch w.r.IntN(3) {
		case 0:
			n.alarm = 0
		case 1:
			n.alarm = w.now
			w.alarmAt(w.now)
		}
	}
	if w.r.IntN(3) == 0 {
		w.replica = newReplica(t, w.cloud, &w.now, seed)
	}
	w.buckets = uint16(1 + 2*(w.r.IntN(4)/3))
	open := func() *durableobject.Store {
		return w.store(clock, func(o *durableobject.Options) { o.Buckets = w.buckets })
	}
	w.command, w.client = open(), open()
	for p := range 6 + w.r.IntN(12) {
		w.keys = append(w.keys, at(fmt.Sprintf("p%02d", p), "r"))
	}
	w.network = func(c durableobject.Call) fate {
		w.now++ // the time advances, so that a message from before the end of a restore also has an earlier time
		if w.busy || w.left < 0 {
			return fate{}
		}
		if w.left == 0 {
			return fate{lose: true, err: durableobject.ErrUnreachable}
		}
		w.left--
		w.meanwhile()
		return w.fate(c)
	}
	w.inside = func(c durableobject.Call) fate {
		if w.busy {
			return fate{}
		}
		return w.fate(c)
	}
	w.between = func(n *node, calls []durableobject.Call) bool {
		if w.busy || w.faults == 0 || w.r.IntN(w.faults) != 0 || calls[0].To == durableobject.Replica {
			return false
		}
		n.evict()
		return true
	}
	create(t, w.client, 1)
	w.began = w.now
	return w
}

func (w *rewinds) fate(c durableobject.Call) fate {
	if w.faults == 0 || w.r.IntN(w.faults) != 0 {
		return fate{}
	}
	switch w.r.IntN(5) {
	case 0:
		return fate{lose: true, err: durableobject.ErrUnreachable}
	case 1:
		return fate{err: durableobject.ErrLost}
	case 2:
		return fate{repeat: true}
	}
	w.delayed = append(w.delayed, durableobject.Call{To: c.To, Message: bytes.Clone(c.Message)})
	return fate{lose: true, err: durableobject.ErrLost}
}

// pass moves the clock and lets alarms ring.
func (w *rewinds) pass(d edm.Ticks) {
	for step := max(d/20, 1); d > 0; d -= step {
		if w.now += step; w.replica != nil {
			w.replica.land()
		}
		w.ring(w.now)
		w.honest()
	}
}

// The method honest checks the replica. Unless the replica reports that an object lags, the replica must have
// all changes that are older than three minutes. The function lastSync in wasm/worker relies on this rule.
func (w *rewinds) honest() {
	if w.replica == nil {
		return
	}
	incarnation, known := w.replica.lives[tableText]
	until := w.now - 180*edm.TicksPerSecond
	for source, since := range w.replica.marks {
		if strings.HasPrefix(source, durableobject.SourcesOf(incarnation)) {
			until = min(until, since)
		}
	}
	for _, n := range w.all() {
		if !known || !slices.ContainsFunc(n.rows.Rows, func(r rowstest.Row) bool {
			return (string(r.Key) == "mm" || string(r.Key) == "mr") && bytes.HasPrefix(r.Value, incarnation[:])
		}) {
			continue
		}
		for _, r := range n.rows.Rows {
			if r.Key[0] != 'e' {
				continue
			}
			row, err := table.ParseRow(r.Key[1:], r.Value)
			if v := w.replica.names[fmt.Sprintf("%x %x", incarnation, r.Key[1:])]; err != nil || row.Timestamp < until && v.ticks < row.Timestamp {
				w.t.Fatalf("seed %d: the replica says that it has all before %d of %x, and has %d of %q and not %d", w.seed, until, incarnation, v.ticks, r.Key[1:], row.Timestamp)
			}
		}
	}
}

func (w *rewinds) note() { w.was = append(w.was, moment{w.now, maps.Clone(w.model)}) }

// write writes an entity, and adds the outcome to a model.
func (w *rewinds) write(into map[string]uint64) {
	k := w.keys[w.r.IntN(len(w.keys))]
	m := table.Mutation{Key: k, Nonce: w.r.Uint64() | 1, Properties: edm.AppendProperty(nil, "v", edm.String(strings.Repeat("x", w.r.IntN(120))))}
	if w.r.IntN(4) == 0 {
		m = table.Mutation{Key: k, Nonce: m.Nonce, Kind: table.Delete, Condition: table.Present}
	}
	ticks, err := w.client.Commit(w.t.Context(), tableKey, []table.Mutation{m})
	_, refused := errors.AsType[*table.Refused](err)
	switch {
	case err == nil && m.Kind == table.Delete:
		into[string(k)] = 0
	case err == nil:
		into[string(k)] = m.Nonce
	case !errors.Is(err, table.ErrBusy) && !refused:
		w.t.Errorf("seed %d: a write: %v", w.seed, err)
	}
	if err == nil && ticks <= w.high[string(k)] {
		w.t.Errorf("seed %d: %q has the Timestamp %d after %d", w.seed, k, ticks, w.high[string(k)])
	}
	w.high[string(k)] = max(w.high[string(k)], ticks)
}

// Clients write to the table for some time, and then pause.
func (w *rewinds) live() {
	for range 20 + w.r.IntN(60) {
		for range w.r.IntN(4) {
			w.write(w.model)
			w.now += 1000
		}
		if w.r.IntN(30) == 0 {
			for _, k := range w.keys[:w.r.IntN(len(w.keys))] {
				if _, err := w.client.Commit(w.t.Context(), tableKey, []table.Mutation{{Key: k, Kind: table.Delete}}); err == nil {
					w.model[string(k)] = 0
				}
			}
			w.note()
			w.pass(90 * 60 * edm.TicksPerSecond) // long enough for empty ranges to merge
		}
		w.note()
		w.pass(edm.Ticks(w.r.Int64N(int64(40 * edm.TicksPerSecond))))
		if w.r.IntN(3) == 0 {
			w.pass(3 * skew)
		}
	}
	w.pass(120 * edm.TicksPerSecond)
}

// moment returns a random time at which clients paused, and the content of the table then.
func (w *rewinds) moment() (to edm.Ticks, had map[string]uint64) {
	for {
		i := w.r.IntN(len(w.was))
		from, end := w.was[i].at, w.now
		if i+1 < len(w.was) {
			end = w.was[i+1].at
		}
		from, end = max(from+skew, w.began+61*edm.TicksPerSecond), min(end-skew-100*edm.TicksPerSecond/1000, w.now-61*edm.TicksPerSecond)
		if w.was[i].model != nil && from < end {
			to = from + edm.Ticks(w.r.Int64N(int64(end-from)))
			return to, w.was[i].model
		}
	}
}

// The method current returns the restore that the catalog stores: the restore in progress, or else the last
// restore.
func (w *rewinds) current() (r *restoring.Restore) {
	r = &restoring.Restore{}
	for _, row := range w.node(durableobject.Catalog("acct", "")).rows.Rows {
		if string(row.Key) == "r"+tableText {
			r, _ = restoring.Read(message.Read(bytes.Clone(row.Value)))
		}
	}
	return r
}

// This method simulates other events while the command runs.
func (w *rewinds) meanwhile() {
	w.busy = true
	defer func() { w.busy = false }()
	for w.r.IntN(3) == 0 {
		switch w.r.IntN(4) {
		case 0:
			w.now += edm.Ticks(w.r.Int64N(int64(2 * edm.TicksPerSecond)))
			w.ring(w.now)
		case 1:
			w.evict()
		case 2:
			if w.current().Phase != restoring.Telling { // not in this phase: a late message could end the restore, and the running command would then begin a new one
				w.late()
			}
		default:
			switch w.current().Phase {
			case restoring.Freezing:
				w.write(w.given)
			case restoring.Returning, restoring.Settling, restoring.Telling:
				w.write(w.kept)
			}
		}
	}
}

// This method delivers a message that was delayed.
func (w *rewinds) late() {
	if n := len(w.delayed); n > 0 {
		i := w.r.IntN(n)
		c := w.delayed[i]
		w.delayed = slices.Delete(w.delayed, i, i+1)
		w.handle(w.t.Context(), c)
	}
}

// The method restore runs the command for a restore, and returns the outcome. It kills some runs of the
// command, and then starts the command again.
func (w *rewinds) restore(to edm.Ticks) (r *restoring.Restore, why error) {
	w.was = append(w.was, moment{at: w.now})
	w.given, w.kept = map[string]uint64{}, map[string]uint64{}
	w.faults = 5 + w.r.IntN(60)
	last := w.current().ID
	for n := 0; ; n++ {
		if w.left = w.r.IntN(60); n > 40 {
			w.faults, w.left = 0, 1<<30
		}
		_, err := w.command.Restore(w.t.Context(), tableKey, to)
		r = w.current()
		switch {
		case r.ID == last && err != nil && strings.Contains(err.Error(), "othing was changed"):
			w.faults, w.left = 0, -1
			return nil, err
		case r.ID != last && (r.Phase == restoring.Finished || r.Phase == restoring.Cancelled):
			w.faults, w.left = 0, -1
			return r, err
		case n > 80:
			w.t.Fatalf("seed %d: the restore does not end: %v, %+v", w.seed, err, r)
		}
		w.kills++
		if w.r.IntN(2) == 0 {
			w.evict()
		}
		w.busy = true
		w.pass(edm.Ticks(w.r.Int64N(int64(20 * edm.TicksPerSecond))))
		if r.Phase == restoring.Telling || n > 40 {
			w.pass(100 * edm.TicksPerSecond)
		}
		w.busy = false
		if to != table.UndoRestore && r.ID != last && r.Phase <= restoring.Returning && w.r.IntN(6) == 0 {
			to = table.UndoRestore
		}
	}
}

// equals checks the content of the table.
func (w *rewinds) equals(what string, want map[string]uint64) {
	w.t.Helper()
	page, err := w.client.Scan(w.t.Context(), tableKey, table.ScanRequest{Ranges: []key.Range{{}}})
	for n := 0; errors.Is(err, table.ErrBusy) && n < 20; n++ { // the error is expected while keys are moved
		w.pass(10 * edm.TicksPerSecond)
		page, err = w.client.Scan(w.t.Context(), tableKey, table.ScanRequest{Ranges: []key.Range{{}}})
	}
	if err != nil {
		w.t.Fatalf("seed %d: %s: %v", w.seed, what, err)
	}
	got := map[string]uint64{}
	for i := range page.Rows {
		got[string(page.Rows[i].Key)] = page.Rows[i].Nonce
	}
	for _, k := range w.keys {
		if got[string(k)] != want[string(k)] {
			w.t.Errorf("seed %d: %s: %q is %x, want %x", w.seed, what, k, got[string(k)], want[string(k)])
		}
		row, err := w.client.Get(w.t.Context(), tableKey, k, table.Strong)
		if err != nil && !errors.Is(err, table.ErrNoEntity) || row.Nonce != got[string(k)] {
			w.t.Errorf("seed %d: %s: %q is %x alone, %v", w.seed, what, k, row.Nonce, err)
		}
	}
}

func with(model, written map[string]uint64) map[string]uint64 {
	model = maps.Clone(model)
	maps.Copy(model, written)
	return model
}

// settle delivers late messages, and lets splits that have begun finish.
func (w *rewinds) settle(what string) {
	w.note()
	for len(w.delayed) > 0 {
		w.late()
	}
	w.equals(what+", after late messages", w.model)
	w.pass(300 * edm.TicksPerSecond)
	w.equals(what+", when all is quiet", w.model)
	w.note()
	w.pass(30 * 60 * edm.TicksPerSecond)
	for _, n := range w.all() {
		for _, r := range n.rows.Rows {
			switch {
			case string(r.Key) == "mb":
				w.t.Errorf("seed %d: %s: %s is frozen", w.seed, what, n.id.Name)
			case string(r.Key) == "mr" && r.Value[20] != 0:
				w.t.Errorf("seed %d: %s: a split of %s does not end: %q", w.seed, what, n.id.Name, r.Value)
			case r.Key[0] == 's':
				w.t.Errorf("seed %d: %s: %s keeps the mark %q", w.seed, what, n.id.Name, r.Key)
			}
		}
	}
}

var times = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z`)

func (w *rewinds) run() {
	w.note()
	for range 3 {
		if w.live(); w.t.Failed() {
			return
		}
		to, had := w.moment()
		r, err := w.restore(to)
		if r == nil {
			w.refused(to, err)
			continue
		}
		before := with(w.model, w.given)
		if r.Phase == restoring.Cancelled {
			w.cancelled++
			w.model = before
			w.settle("a restore that was given up")
			continue
		}
		if r.Undo { // the restore had ended before the command to undo it; so the command undid the restore that was last finished
			w.undone++
			if known := w.ends[r.To]; known != nil {
				before = known
			}
			w.model = with(before, w.kept)
			w.equals("a restore that was undone", w.model)
			w.settle("undone")
			continue
		}
		w.ended++
		w.ends[r.StartedAt] = before
		if slices.ContainsFunc(r.Objects, func(o restoring.Returned) bool { return !o.Returns }) {
			w.otherMap++
		}
		w.model = with(had, w.kept)
		w.equals(fmt.Sprintf("restored to %s", to), w.model)
		if w.settle("restored"); w.t.Failed() || w.r.IntN(2) == 0 {
			continue
		}
		if w.r.IntN(2) == 0 {
			w.live()
		}
		for range 5 {
			if r, err = w.restore(table.UndoRestore); r == nil || r.Phase != restoring.Cancelled {
				break
			}
			w.cancelled++
			w.model = with(w.model, w.given)
			w.settle("an undo that was given up")
		}
		if r == nil || r.Phase != restoring.Finished {
			w.t.Errorf("seed %d: an undo: %v %+v", w.seed, err, r)
			return
		}
		w.undone++
		w.model = with(before, w.kept)
		w.settle("undone")
	}
	w.end()
}

// If keys were moving at the requested time, the restore is refused, and the error must name possible times.
func (w *rewinds) refused(to edm.Ticks, err error) {
	w.model = with(w.model, w.given)
	w.equals("a restore that was refused", w.model)
	w.note()
	if !strings.Contains(err.Error(), "within a minute") {
		w.t.Errorf("seed %d: %v", w.seed, err)
		return
	}
	w.apart++
	for _, text := range times.FindAllString(err.Error(), -1) {
		other, err := edm.ParseDateTime(text)
		if err != nil || other == to {
			w.t.Errorf("seed %d: the time %s: %v", w.seed, text, err)
		}
		answer := w.handle(w.t.Context(), durableobject.Call{To: durableobject.Catalog("acct", ""), Message: restoring.Tell(nil, tableText, &restoring.Restore{ID: w.r.Uint64() | 1, To: other, StartedAt: w.now})})
		if _, err := message.Result(answer.Message); err != nil {
			w.t.Errorf("seed %d: %s is named and refused: %v", w.seed, text, err)
			continue
		}
		if _, err := w.command.Restore(w.t.Context(), tableKey, table.UndoRestore); err != nil {
			w.t.Errorf("seed %d: it is given up: %v", w.seed, err)
		}
	}
}

// At the end of a run, the replica must have the table. Then the table is dropped, and the drop must reach all
// objects.
func (w *rewinds) end() {
	if w.replica != nil {
		w.pass(30 * 60 * edm.TicksPerSecond)
		d, err := w.client.ReadRecord(w.t.Context(), tableKey, table.Strong)
		if err != nil {
			w.t.Fatal(err)
		}
		have := 0
		for name, v := range w.replica.names {
			if strings.HasPrefix(name, fmt.Sprintf("%x ", d.Incarnation)) && v.value != nil {
				have++
			} else if v.value != nil && !strings.HasPrefix(name, "document ") {
				w.t.Errorf("seed %d: the replica keeps %s", w.seed, name)
			}
		}
		want := 0
		for _, nonce := range w.model {
			if nonce != 0 {
				want++
			}
		}
		if have != want || len(w.replica.marks) > 0 {
			w.t.Errorf("seed %d: the replica has %d of %d entities, marks %v", w.seed, have, want, w.replica.marks)
		}
	}
	d, err := w.client.ReadRecord(w.t.Context(), tableKey, table.Strong)
	if err == nil {
		err = w.client.Drop(w.t.Context(), tableKey, d.Revision)
	}
	if err != nil {
		w.t.Errorf("seed %d: a drop: %v", w.seed, err)
	}
	w.pass(600 * edm.TicksPerSecond)
	for _, n := range w.all() {
		for _, r := range n.rows.Rows {
			if string(r.Key) != "mc" && (!strings.HasPrefix(n.id.Name, "catalog/") || strings.ContainsAny(string(r.Key[:1]), "gdhr")) {
				w.t.Errorf("seed %d: after the drop %s keeps %q", w.seed, n.id.Name, r.Key)
			}
		}
	}
}
