package pebblestore_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

// fewFiles is a file system whose operations fail as if the process, or the machine, had no
// free file descriptor.
type fewFiles struct {
	*vfs.MemFS
	cause error

	mu     sync.Mutex
	random *rand.Rand
	share  float64 // share of the operations that fail, from 0 to 1
	left   int     // number of operations before all operations fail; negative while they fail
	asked  int
	hit    chan struct{} // closed when the first operation fails
}

func newFewFiles(seed uint64, left int, share float64) *fewFiles {
	f := &fewFiles{
		MemFS: vfs.NewCrashableMem(), left: left, share: share, hit: make(chan struct{}),
		cause: syscall.EMFILE, random: rand.New(rand.NewPCG(seed, 1)),
	}
	if seed%2 == 1 {
		f.cause = syscall.ENFILE
	}
	return f
}

// fail returns the error of an operation that must fail, or nil.
func (f *fewFiles) fail(op string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	f.left--
	if f.left >= 0 && f.random.Float64() >= f.share {
		return nil
	}
	select {
	case <-f.hit:
	default:
		close(f.hit)
	}
	return fmt.Errorf("%s: %w", op, f.cause)
}

// count returns the number of operations so far. It may grow at any time because of compactions.
func (f *fewFiles) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked
}

// end makes descriptors available again.
func (f *fewFiles) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left, f.share = 1<<30, 0
}

func (f *fewFiles) Create(path string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := f.fail("create"); err != nil {
		return nil, err
	}
	return f.MemFS.Create(path, c)
}

func (f *fewFiles) Open(path string, o ...vfs.OpenOption) (vfs.File, error) {
	if err := f.fail("open"); err != nil {
		return nil, err
	}
	return f.MemFS.Open(path, o...)
}

func (f *fewFiles) OpenReadWrite(path string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	if err := f.fail("open to write"); err != nil {
		return nil, err
	}
	return f.MemFS.OpenReadWrite(path, c, o...)
}

func (f *fewFiles) OpenDir(path string) (vfs.File, error) {
	if err := f.fail("open a directory"); err != nil {
		return nil, err
	}
	return f.MemFS.OpenDir(path)
}

func (f *fewFiles) List(path string) ([]string, error) {
	if err := f.fail("list"); err != nil {
		return nil, err
	}
	return f.MemFS.List(path)
}

// ReuseForWrite may fail before or after it has renamed the file, like ReuseForWrite of the operating system's files.
func (f *fewFiles) ReuseForWrite(old, path string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := f.fail("reuse"); err != nil {
		return nil, err
	}
	file, err := f.MemFS.ReuseForWrite(old, path, c)
	if err != nil {
		return nil, err
	}
	if err := f.fail("reuse a renamed file"); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

func (f *fewFiles) Link(old, path string) error {
	if err := f.fail("link"); err != nil {
		return err
	}
	return f.MemFS.Link(old, path)
}

func (f *fewFiles) Rename(old, path string) error {
	if err := f.fail("rename"); err != nil {
		return err
	}
	return f.MemFS.Rename(old, path)
}

func (f *fewFiles) Remove(path string) error {
	if err := f.fail("remove"); err != nil {
		return err
	}
	return f.MemFS.Remove(path)
}

// writers is a load on a store without file descriptors. Each writer commits to its own partition.
type writers struct {
	t     *testing.T
	files *fewFiles
	store *pebblestore.Store
	ended chan struct{} // closed when there are descriptors again
	wait  sync.WaitGroup

	mu      sync.Mutex
	acked   [4]int
	refused int
}

func (w *writers) options() pebblestore.Options {
	return pebblestore.Options{
		Dir: "data", FS: w.files, Logf: func(string, ...any) {},
		Fatal: func(err error) { w.t.Errorf("fatal: %v", err) },
	}.Small()
}

func (w *writers) open(o pebblestore.Options) {
	w.t.Helper()
	var err error
	w.store, err = pebblestore.Open(o)
	must.OK(w.t, err)
	must.OK(w.t, create(w.t.Context(), w.store))
}

func row(partition, n int) table.Mutation {
	text := fmt.Sprintf("%d %s", n, strings.Repeat("x", 1400))
	return table.Mutation{
		Key:        key.Append(nil, fmt.Sprint("p", partition), fmt.Sprintf("%04d", n)),
		Properties: edm.AppendProperty(nil, "Text", edm.String(text)),
	}
}

// start starts to insert n entities into each partition. It repeats a refused insert when
// descriptors are available again.
func (w *writers) start(n int) {
	for p := range w.acked {
		w.wait.Go(func() {
			for i := 1; i <= n; i++ {
				_, err := w.store.Commit(w.t.Context(), people, []table.Mutation{row(p, i)})
				if errors.Is(err, table.ErrBusy) {
					w.mu.Lock()
					w.refused++
					w.mu.Unlock()
					<-w.ended
					i--
					continue
				}
				if err != nil {
					w.t.Errorf("partition %d, entity %d: %v", p, i, err)
					return
				}
				w.mu.Lock()
				w.acked[p] = i
				w.mu.Unlock()
			}
		})
	}
}

// check checks that all confirmed entities can be read. If lacking is true, reads may also be refused.
func (w *writers) check(s *pebblestore.Store, lacking bool) {
	w.t.Helper()
	w.mu.Lock()
	acked := w.acked
	w.mu.Unlock()
	for p, n := range acked {
		for i := 1; i <= n; i++ {
			want := row(p, i)
			got, err := s.Get(w.t.Context(), people, want.Key, table.Strong)
			if lacking && errors.Is(err, table.ErrBusy) {
				continue
			}
			if err != nil || string(got.Properties) != string(want.Properties) {
				w.t.Fatalf("partition %d, entity %d of %d: %v", p, i, n, err)
			}
		}
		page, err := s.Scan(w.t.Context(), people, table.ScanRequest{Ranges: []key.Range{{Start: row(p, 0).Key, End: row(p, 9999).Key}}})
		if lacking && errors.Is(err, table.ErrBusy) {
			continue
		}
		if err != nil || len(page.Rows) < n {
			w.t.Fatalf("partition %d has %d of %d entities: %v", p, len(page.Rows), n, err)
		}
	}
}

// crash checks a copy of the disk as it would be after a killed process or a power failure.
func (w *writers) crash(random *rand.Rand) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	copied := &writers{t: w.t, files: newFewFiles(0, 1<<30, 0), acked: w.acked}
	copied.files.MemFS = w.files.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: random})
	s, err := pebblestore.Open(copied.options())
	must.OK(w.t, err)
	copied.check(s, false)
	must.OK(w.t, s.Close())
}

// finish waits until the writers have ended, and checks all entities before and after a restart.
func (w *writers) finish() {
	w.t.Helper()
	w.files.end()
	w.store.Measure()
	close(w.ended)
	done := make(chan struct{})
	go func() { w.wait.Wait(); close(done) }()
	for ended := false; !ended; w.store.Measure() {
		select {
		case <-done:
			ended = true
		default:
		}
	}
	w.check(w.store, false)
	if err := w.store.Ready(); err != nil {
		w.t.Errorf("Ready: %v", err)
	}
	if err := w.store.Close(); err != nil {
		w.t.Errorf("Close: %v", err)
	}
	s, err := pebblestore.Open(w.options())
	must.OK(w.t, err)
	w.check(s, false)
	must.OK(w.t, s.Close())
}

// TestNoDescriptor makes all file descriptors unavailable, in each run from a later file operation on.
// It checks that the process continues, writes are refused, reads work, and the store recovers by itself.
func TestNoDescriptor(t *testing.T) {
	t.Parallel()
	const inserts = 150
	begin := func(t *testing.T, seed uint64) *writers {
		w := &writers{t: t, files: newFewFiles(seed, 1<<30, 0), ended: make(chan struct{})}
		w.open(w.options())
		return w
	}
	all := begin(t, 0)
	before := all.files.count()
	all.start(inserts)
	all.wait.Wait()
	places, step := all.files.count()-before, 5
	all.finish()
	if places < 100 {
		t.Fatalf("only %d operations need a descriptor", places)
	}
	if testing.Short() {
		step = 41
	}
	for at := 1; at <= places*3/4 && !t.Failed(); at += step { // only three quarters, because other runs may have fewer operations
		w := begin(t, uint64(at))
		w.files.mu.Lock()
		w.files.left = at
		w.files.mu.Unlock()
		w.start(inserts)
		done := make(chan struct{})
		go func() { w.wait.Wait(); close(done) }()
		select {
		case <-done:
		case <-w.files.hit:
			w.check(w.store, true)
			if err := w.store.Ready(); err != nil && !errors.Is(err, table.ErrBusy) {
				t.Errorf("Ready: %v", err)
			}
			w.crash(rand.New(rand.NewPCG(uint64(at), 2)))
		}
		w.finish()
	}
}

// TestFewDescriptors makes random file operations fail for lack of a descriptor.
func TestFewDescriptors(t *testing.T) {
	t.Parallel()
	refused, failed, seeds := 0, 0, uint64(6)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		w := &writers{t: t, files: newFewFiles(seed, 1<<30, 0), ended: make(chan struct{})}
		w.open(w.options())
		w.files.mu.Lock()
		w.files.share = 0.05 * float64(1+seed%5)
		w.files.mu.Unlock()
		w.start(300)
		done := make(chan struct{})
		go func() { w.wait.Wait(); close(done) }()
		writing := func() bool {
			select {
			case <-w.files.hit:
				return false
			case <-done:
				return false
			default:
				return true
			}
		}
		for n := 0; n < 60 || writing(); n++ { // continues until an operation has failed
			w.check(w.store, true)
			w.store.Measure()
		}
		w.finish()
		refused += w.refused
		select {
		case <-w.files.hit:
			failed++
		default:
		}
	}
	if failed == 0 {
		t.Error("no operation failed")
	}
	t.Logf("%d writes were refused", refused)
}

// TestSpareDescriptors checks that the store uses the process's reserve of file descriptors
// before it refuses a request.
func TestSpareDescriptors(t *testing.T) {
	t.Parallel()
	w := &writers{t: t, files: newFewFiles(0, 1<<30, 0), ended: make(chan struct{})}
	o := w.options()
	given := 0
	o.Spare = func() bool {
		given++
		w.files.end()
		return given == 1
	}
	w.open(o)
	w.files.mu.Lock()
	w.files.left = 0
	w.files.mu.Unlock()
	w.start(150)
	w.wait.Wait()
	if w.refused > 0 || given != 1 {
		t.Errorf("%d writes were refused, the reserve was asked %d times", w.refused, given)
	}
	w.finish()
}
