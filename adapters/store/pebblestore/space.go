package pebblestore

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/core/table"
)

// space knows how full the disk is. While it is full, the store refuses writes
// that need space. Deletes and compactions go on in the room of a reserve file,
// which is removed when a file operation finds no space, and made again when
// there is enough. Only an operation that finds no space without a reserve waits.
type space struct {
	fs   vfs.FS // that of the machine
	dir  string
	size int64 // of the reserve file; 0: none
	logf func(format string, args ...any)

	full    atomic.Bool  // refuse writes that need space
	waiting atomic.Int32 // file operations that wait for space
	refused atomic.Int64
	unseen  atomic.Int64 // bytes that compactions may write before they look at the disk
	opened  atomic.Bool  // the store is open

	mu      sync.Mutex
	usage   vfs.DiskUsage
	held    bool          // the reserve file exists
	closing bool          // do not wait any more
	again   chan struct{} // closed when waiting operations should be tried again
	stuck   chan struct{} // closed while operations wait
	warned  time.Time     // of low space
	told    bool          // the log says that the disk is full
	toldAt  time.Time

	give        func() bool // frees file descriptors; nil: there are none in reserve
	descriptors atomic.Bool // operations wait for a file descriptor
	lackTold    time.Time   // when the log said so last

	outputs map[string]*atomic.Int64 // sizes of the files that compactions write, by their path

	starved int64 // free bytes when a compaction failed for want of space; 0: the last one succeeded
	stalls  bool  // Pebble makes writes wait for compactions
	counted bool  // waiting includes such a stall

	stop chan struct{}
	done chan struct{}
}

const (
	// reserveFile is the name of the reserve file.
	reserveFile = "RESERVE"
	// reserveShare of a small disk is the most that the reserve takes.
	reserveShare = 16
	// measureEvery is the time between two looks at the disk.
	measureEvery = time.Second
	// lookEvery is the most that compactions write between two looks of their own.
	lookEvery = 1 << 20
	// tellEvery is the least time between two reports of a full disk.
	tellEvery = time.Minute
	// warnEvery is the least time between two warnings of low space.
	warnEvery = time.Hour
)

func newSpace(o Options) *space {
	s := &space{
		fs: o.FS, dir: o.Dir, size: o.DiskReserve, logf: o.Logf, give: o.Spare,
		outputs: map[string]*atomic.Int64{},
		again:   make(chan struct{}), stuck: make(chan struct{}),
		stop: make(chan struct{}), done: make(chan struct{}),
	}
	u, err := s.fs.GetDiskUsage(s.dir)
	for dir := s.dir; errors.Is(err, fs.ErrNotExist) && dir != s.fs.PathDir(dir); {
		dir = s.fs.PathDir(dir)
		u, err = s.fs.GetDiskUsage(dir)
	}
	if err == nil {
		s.size = min(s.size, int64(u.TotalBytes/reserveShare))
	}
	if f, err := s.fs.Stat(s.path()); err == nil {
		s.held = true
		if o.DiskReserve < 0 {
			s.size = f.Size()
		}
	}
	s.size = max(0, s.size)
	go s.run()
	return s
}

func (s *space) path() string { return s.fs.PathJoin(s.dir, reserveFile) }

// run looks at the disk until close is called.
func (s *space) run() {
	defer close(s.done)
	t := time.NewTicker(measureEvery)
	defer t.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-t.C:
			s.measure()
		}
	}
}

// open begins to judge whether writes are refused.
func (s *space) open() {
	s.mu.Lock()
	s.opened.Store(true)
	if f, err := s.fs.Stat(s.path()); err == nil && f.Size() != s.size { // of an earlier flag, or not complete
		s.held = s.fs.Remove(s.path()) != nil
	}
	s.mu.Unlock()
	s.measure()
}

// measure looks at the disk, lets waiting operations try again, and judges
// whether writes are refused.
func (s *space) measure() {
	u, err := s.fs.GetDiskUsage(s.dir)
	if err != nil { // a file system that does not know
		u = vfs.DiskUsage{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.usage = u
	close(s.again)
	s.again = make(chan struct{})
	if s.waiting.Load() == 0 {
		s.descriptors.Store(false)
	}
	if !s.opened.Load() || s.closing {
		return
	}
	if _, err := s.fs.Stat(s.path()); errors.Is(err, fs.ErrNotExist) {
		s.held = false // somebody needed the room
	}
	free := int64(math.MaxInt64)
	if u.TotalBytes > 0 {
		free = int64(u.AvailBytes)
	}
	// Writes are refused below a quarter of the reserve, which is more than the data
	// that is in no data file yet, and accepted again above a half.
	refuse, accept := s.size/4, s.size/2
	if s.full.Load() || s.size > 0 && !s.held {
		if free > s.starved+accept {
			s.feed()
		}
		if s.waiting.Load() > 0 && !s.descriptors.Load() || s.starved > 0 || !s.hold(free-accept) {
			s.setFull()
		} else if s.full.Swap(false) && s.told {
			s.told = false
			s.logf("edgetable: the disk of %s has space again (%s free): writes are accepted", s.dir, show(free))
		}
	} else if free < refuse {
		s.setFull()
	}
	if !s.full.Load() && free < 4*s.size && time.Since(s.warned) >= warnEvery {
		s.warned = time.Now()
		s.logf("edgetable: the disk of %s is nearly full (%s free): writes will be refused below %s; make space", s.dir, show(free), show(refuse))
	}
}

// hold makes the reserve file if there is room for it, and reports whether
// there is enough space. mu must be locked.
func (s *space) hold(room int64) bool {
	if s.size == 0 || s.held {
		return room >= 0
	}
	if room < s.size {
		return false
	}
	if err := allocate(s.fs, s.path(), s.size); err != nil {
		if !noSpace(err) {
			s.logf("edgetable: the reserve for a full disk: %v", err)
		}
		s.fs.Remove(s.path())
		return false
	}
	s.held = true
	return true
}

// setFull makes the store refuse writes. mu must be locked.
func (s *space) setFull() {
	s.full.Store(true)
	if s.told || time.Since(s.toldAt) < tellEvery { // else a later look says it
		return
	}
	s.told, s.toldAt = true, time.Now()
	if u, err := s.fs.GetDiskUsage(s.dir); err == nil {
		s.usage = u
	}
	s.logf("edgetable: the disk of %s is full (%s free): writes are refused, and deletes too when no room is left at all; free space or enlarge the disk",
		s.dir, show(int64(s.usage.AvailBytes)))
}

// release removes the reserve file, and reports whether there was one. mu must be
// locked.
func (s *space) release() bool {
	if !s.held {
		return false
	}
	s.held = false
	s.setFull()
	return s.fs.Remove(s.path()) == nil
}

// looked returns a channel that is closed at the next look at the disk; nil in memory.
func (s *space) looked() <-chan struct{} {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.again
}

// isFull reports whether writes that need space are refused.
func (s *space) isFull() bool { return s != nil && s.full.Load() }

// state returns what [Metrics] shows.
func (s *space) state() (u vfs.DiskUsage, refused int64, full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.usage, s.refused.Load(), s.full.Load()
}

// spare reports whether a compaction may write n bytes. It leaves room to the log, to
// flushes and to the end of other compactions, which gives back space. It does not look
// at the disk for each block of a file: that took 2 % of the processor in a load of inserts.
func (s *space) spare(n int) bool {
	if s.size == 0 || s.unseen.Add(-int64(n)) >= 0 {
		return true
	}
	u, err := s.fs.GetDiskUsage(s.dir)
	if err == nil && int64(u.AvailBytes) < s.size/4 {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.full.Load() || !s.release() {
			return false
		}
	}
	s.unseen.Store(min(s.size/64, lookEvery))
	return true
}

// admit refuses a write if there is no space for it: any while an operation
// waits, else those that add data.
func (s *space) admit(m []table.Mutation) error {
	if s == nil || !s.full.Load() && !s.descriptors.Load() {
		return nil
	}
	return s.admitDelete(!slices.ContainsFunc(m, func(m table.Mutation) bool { return m.Kind != table.Delete }))
}

// admitDelete is admit for a write that only deletes, or one that adds data.
func (s *space) admitDelete(deletes bool) error {
	switch {
	case s == nil:
		return nil
	case s.descriptors.Load() && s.waiting.Load() > 0:
		return errNoDescriptor
	case !s.full.Load(), deletes && s.opened.Load() && s.waiting.Load() == 0:
		return nil
	}
	s.refused.Add(1)
	return table.ErrFull
}

// close makes operations fail that find no space.
func (s *space) close() {
	close(s.stop)
	<-s.done
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing = true
	close(s.again)
	s.again = make(chan struct{})
}

// ends reports whether the store is being closed.
func (s *space) ends() bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closing
}

// noSpace reports whether a file operation failed because the disk is full.
func noSpace(err error) bool {
	return err != nil && (vfs.IsNoSpaceError(err) || errors.Is(err, syscall.EDQUOT))
}

// show returns a number of bytes for people.
func show(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 10<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d KiB", n>>10)
}
