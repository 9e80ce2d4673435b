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

// fewFiles is a file system whose operations fail as if the process, or the machine, had no free file descriptor.
type fewFiles struct {
	*vfs.MemFS
	cause error

	mu     sync.Mutex
	random *rand.Rand
	share  float64 // fraction of the operations that fail, from 0 to 1
	left   int     // number of operations until all operations fail; negative after that
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

// count returns the number of operations so far. Compactions may increase it at any time.
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

// ReuseForWrite may fail before or after it has renamed the file, as on a real operating system.
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

// writers is a group of goroutines that write to a store without free file descriptors. Each goroutine commits to
// its own partition.
type writers struct {
	t     *testing.T
	files *fewFiles
	store *pebblestore.Store
	ended chan struct{} // closed when descriptors are available again
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

// start makes each goroutine insert n entities. A goroutine repeats a refused insert when descriptors are available
// again.
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

// check reads all confirmed entities. If the parameter lacking is true, the store may refuse reads,
// because file descriptors are lacking.
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

// crash opens and checks a copy of the disk, as the disk would be after a killed process or a power failure.
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

// finish waits until the goroutines have ended. It checks all entities before and after a restart.
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

// TestNoDescriptor makes all file descriptors unavailable after a number of file operations. This number is higher
// in each run. The process must continue, writes must be refused, reads must work, and the store must recover
// without a restart.
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
	for at := 1; at <= places*3/4 && !t.Failed(); at += step { // not in the last quarter, because a run may have fewer operations than the first run
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
		for n := 0; n < 60 || writing(); n++ { // repeats until an operation has failed or the writes have ended
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

// TestSpareDescriptors checks that the store uses the process's reserve of file descriptors before it refuses a
// request.
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
