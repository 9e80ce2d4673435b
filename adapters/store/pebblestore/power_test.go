package pebblestore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// TestPowerLoss simulates power failures at 1000 random points during concurrent writes. After each
// failure, the file system has all synced writes and a random part of the other writes. The test
// checks that every state that a reply has shown still exists.
func TestPowerLoss(t *testing.T) {
	t.Parallel()
	points, each := 1000, 50
	if testing.Short() {
		points = 100
	}
	for round := range points / each {
		w := newPowered(t, uint64(round), each)
		w.run()
	}
}

// churned is a table that the test continually creates and drops.
var churned = table.RecordKey{Account: "acct", Table: "churned"}

// powered is a store during concurrent calls. At random points, powered copies the file system as it
// would be after a power failure. It opens a store on the copy, and compares the content with the
// replies so far.
type powered struct {
	t         *testing.T
	fs        *vfs.MemFS
	store     *pebblestore.Store
	histories []*history
	churn     *history   // history of a table; state[0] is the incarnation (creation) of the table; state[1] is the commit of its entity; 0 means absent
	all       []*history // the fields histories and churn in one list
	latest    atomic.Int64
	stopped   atomic.Bool

	mu     sync.Mutex // guards the following fields, and serializes crashes
	random *rand.Rand
	left   int          // number of crashes that the test still makes
	soon   atomic.Int64 // number of replies and syncs until the next crash
}

const frozen = edm.Ticks(638_000_000_000_000_000)

func newPowered(t *testing.T, seed uint64, crashes int) *powered {
	w := &powered{t: t, fs: vfs.NewCrashableMem(), random: rand.New(rand.NewPCG(seed, 2)), left: crashes}
	w.soon.Store(100)
	w.churn = newHistory(9)
	for n := range 4 {
		w.histories = append(w.histories, newHistory(n))
	}
	w.all = append(slices.Clone(w.histories), w.churn)
	w.store = w.open(slowLogs{w.fs, w}, frozen)
	if err := create(t.Context(), w.store); err != nil {
		t.Fatal(err)
	}
	return w
}

// open opens a store on a file system, with a clock that always returns now.
func (w *powered) open(fs vfs.FS, now edm.Ticks) *pebblestore.Store {
	s, err := pebblestore.Open(pebblestore.Options{
		Dir:   "data",
		FS:    fs,
		Now:   func() edm.Ticks { return now },
		Fatal: func(err error) { w.t.Errorf("fatal: %v", err) },
	}.Small())
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *powered) run() {
	var load sync.WaitGroup
	start := func(step func(*rand.Rand) error, seed uint64) {
		load.Go(func() {
			random := rand.New(rand.NewPCG(seed, 3))
			for !w.stopped.Load() {
				if err := step(random); err != nil {
					w.t.Error(err)
					w.stopped.Store(true)
				}
				w.point()
			}
		})
	}
	for n, h := range w.histories {
		start(func(*rand.Rand) error { return w.write(h) }, uint64(n))
		start(w.read, uint64(n)+10)
	}
	start(func(*rand.Rand) error { return w.createOrDrop() }, 20)
	start(w.readChurned, 21)
	load.Wait()
	if err := w.store.Close(); err != nil {
		w.t.Error(err)
	}
}

// issued updates the highest Timestamp that a reply has shown.
func (w *powered) issued(ts edm.Ticks) {
	for {
		old := w.latest.Load()
		if int64(ts) <= old || w.latest.CompareAndSwap(old, int64(ts)) {
			return
		}
	}
}

func (w *powered) write(h *history) error {
	m := h.next()
	i := h.last()
	ts, err := w.store.Commit(context.Background(), people, m)
	if err != nil {
		return fmt.Errorf("commit %d of %s: %w", i, h.partition, err)
	}
	w.issued(ts)
	return h.recordReply("its own commit", i, func(state) bool { return true })
}

// read makes one random call whose reply shows a state: a read of an existing or absent entity, a
// commit that is refused, or a scan.
func (w *powered) read(random *rand.Rand) error {
	ctx := context.Background()
	h := w.histories[random.IntN(len(w.histories))]
	k := random.IntN(len(state{}))
	from := h.known()
	switch random.IntN(3) {
	case 0:
		row, err := w.store.Get(ctx, people, h.key(k), table.Strong)
		if errors.Is(err, table.ErrNoEntity) {
			return h.recordReply("an absent entity", from, func(s state) bool { return s[k] == 0 })
		}
		if err != nil {
			return err
		}
		w.issued(row.Timestamp)
		i, err := h.written(k, row)
		if err != nil {
			return err
		}
		return h.recordReply("an entity", from, func(s state) bool { return s[k] == i })
	case 1:
		m := table.Mutation{Key: h.key(k), Condition: table.Unchanged, IfMatch: 1}
		_, err := w.store.Commit(ctx, people, []table.Mutation{m})
		switch {
		case errors.Is(err, table.ErrNoEntity):
			return h.recordReply("a refusal for absence", from, func(s state) bool { return s[k] == 0 })
		case errors.Is(err, table.ErrChanged):
			return h.recordReply("a refusal for presence", from, func(s state) bool { return s[k] != 0 })
		}
		return fmt.Errorf("a commit that had to be refused: %w", err)
	}
	known := make([]int, len(w.histories))
	for n, h := range w.histories {
		known[n] = h.known()
	}
	states, err := readAll(ctx, w.store, people, w.histories)
	if err != nil {
		return err
	}
	for n, h := range w.histories {
		if err := h.recordReply("a page", known[n], func(s state) bool { return s == states[n] }); err != nil {
			return err
		}
	}
	return nil
}

// createOrDrop does the next step of a cycle with the churned table. It creates the table, puts an
// entity, or drops the table.
func (w *powered) createOrDrop() error {
	ctx := context.Background()
	i := w.churn.last() + 1
	var err error
	switch i % 3 {
	case 1:
		w.churn.add(state{int32(i)})
		incarnation := table.Incarnation{2, byte(i), byte(i >> 8), byte(i >> 16)}
		_, err = w.store.WriteRecord(ctx, table.Record{Key: churned, Value: []byte(strconv.Itoa(i)), Incarnation: incarnation})
	case 2:
		w.churn.add(state{int32(i - 1), int32(i)})
		_, err = w.store.Commit(ctx, churned, []table.Mutation{{Key: w.churn.key(1), Properties: w.churn.properties(1, int32(i))}})
	default:
		w.churn.add(state{})
		var d table.Record
		if d, err = w.store.ReadRecord(ctx, churned, table.Strong); err == nil {
			err = w.store.Drop(ctx, churned, d.Revision)
		}
	}
	if err != nil {
		return fmt.Errorf("step %d of the churned table: %w", i, err)
	}
	return w.churn.recordReply("its own commit", i, func(state) bool { return true })
}

func (w *powered) readChurned(random *rand.Rand) error {
	from := w.churn.known()
	if random.IntN(2) == 0 {
		i, err := incarnation(w.store)
		if err != nil {
			return err
		}
		return w.churn.recordReply("a record", from, func(s state) bool { return s[0] == i })
	}
	row, err := w.store.Get(context.Background(), churned, w.churn.key(1), table.Strong)
	switch {
	case errors.Is(err, table.ErrNoTable):
		return w.churn.recordReply("no table", from, func(s state) bool { return s[0] == 0 })
	case errors.Is(err, table.ErrNoEntity):
		return w.churn.recordReply("an empty table", from, func(s state) bool { return s[0] != 0 && s[1] == 0 })
	case err != nil:
		return err
	}
	i, err := w.churn.written(1, row)
	if err != nil {
		return err
	}
	return w.churn.recordReply("an entity", from, func(s state) bool { return s[1] == i })
}

// incarnation returns the incarnation of the churned table, or 0 if the table does
// not exist.
func incarnation(s *pebblestore.Store) (int32, error) {
	d, err := s.ReadRecord(context.Background(), churned, table.Strong)
	if errors.Is(err, table.ErrNoRecord) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	i, err := strconv.Atoi(string(d.Value))
	return int32(i), err
}

// point is called after each reply and before each sync of the log, where the test can simulate a
// power failure.
func (w *powered) point() {
	if w.soon.Add(-1) == 0 {
		w.crash()
	}
}

// crash makes a copy of the file system as it would be if the power failed now. It compares the copy
// with the replies so far.
func (w *powered) crash() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped.Load() {
		return
	}
	var known []int
	for _, h := range w.all {
		known = append(known, h.known())
	}
	latest := edm.Ticks(w.latest.Load())
	fs := w.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50 * w.random.IntN(3), RNG: w.random})

	fs, known, latest = w.check(fs, known, latest)
	if w.random.IntN(4) == 0 { // a second crash directly after the restart
		w.check(fs, known, latest)
	}
	w.soon.Store(1 + w.random.Int64N(60))
	if w.left--; w.left == 0 || w.t.Failed() {
		w.stopped.Store(true)
	}
}

// check opens the store on fs after a crash, and reads and checks its whole content. It returns the
// file system as it would be after a second crash. It also returns the commits and the highest
// Timestamp that replies have shown before the second crash.
func (w *powered) check(fs *vfs.MemFS, known []int, latest edm.Ticks) (*vfs.MemFS, []int, edm.Ticks) {
	ctx := context.Background()
	s := w.open(fs, frozen-edm.TicksPerSecond)
	defer s.Close()
	states, err := readAll(ctx, s, people, w.histories)
	if err != nil {
		w.t.Error(err)
		return fs, known, latest
	}
	is, err := incarnation(s)
	if err != nil {
		w.t.Error(err)
	}
	churn := state{is}
	row, err := s.Get(ctx, churned, w.churn.key(1), table.Strong)
	switch {
	case err == nil:
		if churn[1], err = w.churn.written(1, row); err != nil {
			w.t.Error(err)
		}
	case errors.Is(err, table.ErrNoTable) && is == 0, errors.Is(err, table.ErrNoEntity) && is != 0:
	default:
		w.t.Errorf("incarnation %d, Get: %v", is, err)
	}
	states = append(states, churn)
	for n, h := range w.all {
		if known[n], err = h.find(states[n], known[n]); err != nil {
			w.t.Errorf("after a crash: %v", err)
		}
	}
	// A new Timestamp must be higher than all Timestamps that replies have shown.
	m := table.Mutation{Key: key.Append(nil, "q", ""), Condition: table.Absent}
	ts, err := s.Commit(ctx, people, []table.Mutation{m})
	if err != nil || ts <= latest {
		w.t.Errorf("after a crash: Commit = %d, %v; the last Timestamp was %d", ts, err, latest)
	}
	m.Kind, m.Condition = table.Delete, table.Present
	if latest, err = s.Commit(ctx, people, []table.Mutation{m}); err != nil {
		w.t.Errorf("after a crash: Delete: %v", err)
	}
	return fs.CrashClone(vfs.CrashCloneCfg{}), known, latest
}
