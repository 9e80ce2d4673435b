package pebblestore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// filler writes to a store whose disk becomes full. One goroutine per partition makes numbered
// commits. Each commit writes its number to two entities.
type filler struct {
	t     *testing.T
	disk  *quota
	store *pebblestore.Store
	wait  sync.WaitGroup

	mu    sync.Mutex
	acked [4]int // number of the last confirmed commit of each partition
}

func fillerKeys(partition int) (keys [2][]byte) {
	for i := range keys {
		keys[i] = key.Append(nil, fmt.Sprint("p", partition), fmt.Sprint("r", i))
	}
	return keys
}

func (f *filler) commit(s *pebblestore.Store, partition, n int) error {
	var m []table.Mutation
	for _, k := range fillerKeys(partition) {
		text := fmt.Sprintf("%d %s", n, strings.Repeat("x", 700))
		m = append(m, table.Mutation{Key: k, Properties: edm.AppendProperty(nil, "Text", edm.String(text))})
	}
	_, err := s.Commit(context.Background(), people, m)
	return err
}

// start starts one goroutine for each partition. Each goroutine makes n commits. It ends early if
// a commit is refused for lack of space.
func (f *filler) start(n int) {
	for p := range f.acked {
		f.wait.Go(func() {
			for i := 1; i <= n; i++ {
				err := f.commit(f.store, p, i)
				if errors.Is(err, table.ErrFull) {
					return
				}
				if err != nil {
					f.t.Errorf("commit %d: %v", i, err)
					return
				}
				f.mu.Lock()
				f.acked[p] = i
				f.mu.Unlock()
			}
		})
	}
}

func (f *filler) confirmed() [4]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.acked
}

// check reads all entities. Each partition must have the content of the last confirmed commit or of
// a later commit, never a part of a commit. If the parameter maybe is true, a read may also fail
// because the state is not durable yet.
func (f *filler) check(s *pebblestore.Store, acked [4]int, maybe bool) {
	f.t.Helper()
	for p, want := range acked {
		var got [2]int
		for i, k := range fillerKeys(p) {
			row, err := s.Get(f.t.Context(), people, k, table.Strong)
			if errors.Is(err, table.ErrNoEntity) {
				continue
			}
			if errors.Is(err, table.ErrFull) && maybe {
				return
			}
			if err != nil {
				f.t.Errorf("partition %d: %v", p, err)
				return
			}
			v, _ := row.Properties.Lookup("Text")
			fmt.Sscan(v.Text(), &got[i])
		}
		if got[0] != got[1] && !maybe || got[0] < want || got[1] < want {
			f.t.Errorf("partition %d has the commits %v, and %d is confirmed", p, got, want)
		}
	}
}

// crash opens and checks a copy of the disk, as the disk would be after a killed process or a power
// failure.
func (f *filler) crash(random *rand.Rand) {
	f.t.Helper()
	acked := f.confirmed()
	for _, percent := range []int{0, 50, 100} {
		place := f.disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: random})
		s, err := pebblestore.Open(f.options(place))
		if err != nil {
			f.t.Errorf("open a copy: %v", err)
			return
		}
		if acked != [4]int{} {
			f.check(s, acked, false)
		}
		if err := s.Close(); err != nil {
			f.t.Errorf("close a copy: %v", err)
		}
	}
}

func (f *filler) options(fs vfs.FS) pebblestore.Options {
	return pebblestore.Options{
		Dir: "data", FS: fs, Logf: func(string, ...any) {},
		Fatal: func(err error) { f.t.Errorf("fatal: %v", err) },
	}.Small()
}

// TestFullAtEachWrite makes the disk full at one file operation, while the store opens or during
// writes. Each run uses a later operation. The test checks that the process does not end and that
// reads work. A killed process must not lose data, and all operations must work when there is space
// again.
func TestFullAtEachWrite(t *testing.T) {
	t.Parallel()
	const commits = 100
	all := newQuota()
	f := &filler{t: t, disk: all}
	f.store = open(t, f.options(all))
	if err := create(t.Context(), f.store); err != nil {
		t.Fatal(err)
	}
	f.start(commits)
	f.wait.Wait()
	places, step := all.operations(), 3
	if places < 200 {
		t.Fatalf("only %d operations need space", places)
	}
	if testing.Short() {
		step = 29
	}
	for at := 1; at <= places && !t.Failed(); at += step {
		t.Logf("full at operation %d", at)
		f := &filler{t: t, disk: newQuota()}
		f.disk.left = at
		f.run(commits, rand.New(rand.NewPCG(uint64(at), 1)))
	}
}

func (f *filler) run(commits int, random *rand.Rand) {
	opened := make(chan error, 1)
	go func() {
		var err error
		if f.store, err = pebblestore.Open(f.options(f.disk)); err == nil {
			err = create(f.t.Context(), f.store)
		}
		opened <- err
	}()
	var err error
	select {
	case err = <-opened:
	case <-f.disk.hit:
		f.crash(random)
		f.disk.makeSpace()
		err = <-opened
	}
	if errors.Is(err, table.ErrFull) {
		f.disk.makeSpace()
		waitForSpace(f.store)
		err = create(f.t.Context(), f.store)
	}
	if err != nil {
		f.t.Error(err)
		return
	}
	f.start(commits)
	done := make(chan struct{})
	go func() { f.wait.Wait(); close(done) }()
	select {
	case <-done:
	case <-f.disk.hit:
		f.full(random)
	}
	f.disk.makeSpace()
	waitForSpace(f.store)
	<-done
	f.goOn(f.store, f.confirmed())
}

// goOn checks a store that has space again. The store must have all confirmed commits, accept
// writes, and be able to close and open.
func (f *filler) goOn(s *pebblestore.Store, acked [4]int) {
	waitForSpace(s)
	f.check(s, acked, false)
	for p := range acked {
		err := f.commit(s, p, acked[p]+1)
		for errors.Is(err, table.ErrFull) { // an operation that found no space earlier may mark the disk as full only now
			waitForSpace(s)
			err = f.commit(s, p, acked[p]+1)
		}
		if err != nil {
			f.t.Errorf("with space again: %v", err)
		}
		acked[p]++
	}
	if err := s.Close(); err != nil {
		f.t.Error(err)
	}
	s, err := pebblestore.Open(f.options(f.disk))
	if err != nil {
		f.t.Error(err)
		return
	}
	f.check(s, acked, false)
	if err := s.Close(); err != nil {
		f.t.Error(err)
	}
}

// waitForSpace waits until a store has noticed that there is space again.
func waitForSpace(s *pebblestore.Store) {
	for s.Measure(); s.Metrics().Full; s.Measure() {
		runtime.Gosched() // lets the waiting operations retry
	}
}

// full checks a store that has no disk space. It also checks a store on a copy of the disk.
func (f *filler) full(random *rand.Rand) {
	f.check(f.store, f.confirmed(), true)
	f.crash(random)
}
