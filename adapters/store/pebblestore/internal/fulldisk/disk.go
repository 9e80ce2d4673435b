package fulldisk

import (
	"errors"
	"io/fs"
	"math"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options configure a Disk.
type Options struct {
	// FS is the file system of the machine.
	FS  vfs.FS
	Dir string
	// Reserve is the size of the reserve file in bytes, limited to a sixteenth of the disk. 0 means no file. A negative
	// value leaves an existing file unchanged.
	Reserve int64
	// Spare closes files that are open only as a reserve of file descriptors. It reports whether there were such files.
	// If Spare is nil, there is no reserve.
	Spare func() bool
	// Retry is the time after which Pebble retries a failed compaction.
	Retry time.Duration
	Logf  func(format string, args ...any)
}

// Disk measures the free space of the disk. While the disk is full, the store refuses writes that add data.
//
// A file operation without space removes the reserve file, or waits if there is none. When there is enough space, Disk
// creates the file again.
type Disk struct {
	fs  vfs.FS
	dir string
	log notices

	full        atomic.Bool  // whether writes that add data are refused
	plenty      atomic.Bool  // whether there is so much free space that commits cannot fill it before the next measurement
	gone        atomic.Bool  // whether the data directory was removed or replaced
	waiting     atomic.Int32 // number of file operations that wait for space or a descriptor, plus 1 if a write stall counts as a wait
	refused     atomic.Int64
	unseen      atomic.Int64 // bytes that compactions may write before the free space is measured again
	commits     commits
	opened      atomic.Bool
	descriptors atomic.Bool // whether a file operation has found no free file descriptor
	give        func() bool // function that frees file descriptors of the reserve; nil if there is no such reserve

	mu          sync.Mutex // lock for the fields below
	usage       vfs.DiskUsage
	lock        vfs.FileInfo // the lock file of the store; nil if there is none
	reserve     reserve
	compactions compactions
	closing     bool          // whether operations without space or descriptor must fail instead of waiting
	again       chan struct{} // channel that is closed when waiting operations must try again
	stuck       chan struct{} // channel that is closed while operations wait

	stop chan struct{}
	done chan struct{}
}

type reserve struct {
	size int64 // size of the reserve file in bytes; 0 means no reserve
	held bool  // whether the file exists now
}

const (
	reserveFile = "RESERVE"
	// reserveShare limits the reserve file to a sixteenth of the disk.
	reserveShare = 16
	// plentySpace is a number of free bytes that writes cannot fill between two measurements.
	plentySpace  = 4 << 30
	measureEvery = time.Second
	// lookEvery is the maximum number of bytes that compactions or commits write before they measure the free space.
	lookEvery = 1 << 20
)

// New returns a Disk that measures the free space regularly, until [Disk.Close].
func New(o Options) *Disk {
	d := &Disk{
		fs: o.FS, dir: o.Dir, log: notices{logf: o.Logf, dir: o.Dir}, give: o.Spare,
		reserve: reserve{size: o.Reserve}, compactions: compactions{outputs: map[string]*atomic.Int64{}, forgetAfter: 2 * o.Retry},
		again: make(chan struct{}), stuck: make(chan struct{}),
		stop: make(chan struct{}), done: make(chan struct{}),
	}
	u, err := d.fs.GetDiskUsage(d.dir)
	for dir := d.dir; errors.Is(err, fs.ErrNotExist) && dir != d.fs.PathDir(dir); {
		dir = d.fs.PathDir(dir)
		u, err = d.fs.GetDiskUsage(dir)
	}
	if err == nil {
		d.reserve.size = min(d.reserve.size, int64(u.TotalBytes/reserveShare))
	}
	if f, err := d.fs.Stat(d.path()); err == nil {
		d.reserve.held = true
		if o.Reserve < 0 {
			d.reserve.size = f.Size()
		}
	}
	d.reserve.size = max(0, d.reserve.size)
	go d.run()
	return d
}

func (d *Disk) path() string { return d.fs.PathJoin(d.dir, reserveFile) }

func (d *Disk) run() {
	defer close(d.done)
	t := time.NewTicker(measureEvery)
	defer t.Stop()
	for {
		select {
		case <-d.stop:
			return
		case <-t.C:
			d.Measure()
		}
	}
}

// Open must be called when the store is open for use. From then on, Measure decides whether writes are refused.
func (d *Disk) Open() {
	d.mu.Lock()
	if f, err := d.fs.Stat(d.fs.PathJoin(d.dir, lockFile)); err == nil {
		d.lock = f
	}
	d.opened.Store(true)
	if f, err := d.fs.Stat(d.path()); err == nil && f.Size() != d.reserve.size { // the configured size has changed, or the file is incomplete
		d.reserve.held = d.fs.Remove(d.path()) != nil
	}
	d.mu.Unlock()
	d.Measure()
}

// Measure measures the free space, lets waiting file operations retry, and decides whether writes are refused.
func (d *Disk) Measure() {
	u, err := d.fs.GetDiskUsage(d.dir)
	if err != nil { // the file system does not report its free space
		u = vfs.DiskUsage{}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.usage = u
	d.tryAgain()
	if d.waiting.Load() == 0 {
		d.descriptors.Store(false)
	}
	d.plenty.Store(u.AvailBytes > uint64(max(plentySpace, 4*d.reserve.size)))
	if !d.opened.Load() || d.closing {
		return
	}
	if d.updateGone(); d.gone.Load() {
		return // there is no disk to measure
	}
	if _, err := d.fs.Stat(d.path()); errors.Is(err, fs.ErrNotExist) {
		d.reserve.held = false // another program has removed the file
	}
	free := int64(math.MaxInt64)
	if u.TotalBytes > 0 {
		free = int64(u.AvailBytes)
	}
	d.updateFull(free)
	if !d.full.Load() && free < d.warnBelow() {
		d.log.nearlyFull(free, d.refuseBelow())
	}
}

// tryAgain lets waiting file operations retry. d.mu must be held.
func (d *Disk) tryAgain() {
	close(d.again)
	d.again = make(chan struct{})
}

// updateFull refuses writes below refuseBelow free bytes, and accepts them again above acceptAbove. d.mu must be held.
func (d *Disk) updateFull(freeBytes int64) {
	refuse, accept := d.refuseBelow(), d.acceptAbove()
	if !d.full.Load() && (d.reserve.size == 0 || d.reserve.held) {
		if freeBytes < refuse {
			d.setFull()
		}
		return
	}
	if c := &d.compactions; freeBytes > c.starved+accept || c.running == 0 && time.Since(c.starvedAt) > c.forgetAfter {
		d.feed()
	}
	if d.waiting.Load() > 0 && !d.descriptors.Load() || d.compactions.starved > 0 || !d.createReserve(freeBytes-accept) {
		d.setFull()
	} else if d.full.Swap(false) {
		d.log.space(freeBytes)
	}
}

// createReserve creates the reserve file if it is missing and there is space. It reports whether writes can be
// accepted. d.mu must be held.
func (d *Disk) createReserve(room int64) bool {
	if d.reserve.size == 0 || d.reserve.held {
		return room >= 0
	}
	if room < d.reserve.size {
		return false
	}
	if err := allocate(d.fs, d.path(), d.reserve.size); err != nil {
		if !NoSpace(err) {
			d.log.logf("edgetable: cannot create the file that reserves space for a full disk: %v", err)
		}
		d.fs.Remove(d.path())
		return false
	}
	d.reserve.held = true
	return true
}

// setFull makes the store refuse writes. d.mu must be held.
func (d *Disk) setFull() {
	d.full.Store(true)
	if d.log.mayTellFull() {
		if u, err := d.fs.GetDiskUsage(d.dir); err == nil {
			d.usage = u
		}
		d.log.isFull(int64(d.usage.AvailBytes))
	}
}

// release removes the reserve file, and reports whether the file existed. d.mu must be held.
func (d *Disk) release() bool {
	if !d.reserve.held {
		return false
	}
	d.reserve.held = false
	d.setFull()
	return d.fs.Remove(d.path()) == nil
}

// Looked returns a channel that is closed at the next measurement. For a store in memory, it returns nil.
func (d *Disk) Looked() <-chan struct{} {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.again
}

// Reserve returns the size of the reserve file, or 0 if there is none.
func (d *Disk) Reserve() int64 {
	if d == nil {
		return 0
	}
	return d.reserve.size
}

// Full reports whether writes that add data are refused.
func (d *Disk) Full() bool { return d != nil && d.full.Load() }

// IsLow reports whether a commit may have to wait for space. For a store in memory, it returns false.
func (d *Disk) IsLow() bool { return d != nil && !d.plenty.Load() }

// warnBelow returns the number of free bytes below which the disk counts as nearly full.
func (d *Disk) warnBelow() int64 { return max(4*d.reserve.size, 2*d.refuseBelow()) }

// NearlyFull returns the free bytes at the last measurement, and whether the disk is nearly full or full.
func (d *Disk) NearlyFull() (free int64, yes bool) {
	if d == nil {
		return 0, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	free = int64(d.usage.AvailBytes)
	return free, d.usage.TotalBytes > 0 && free < d.warnBelow()
}

// State returns values for metrics: the usage of the disk, the number of refused writes, and whether the disk is full.
func (d *Disk) State() (u vfs.DiskUsage, refused int64, full bool) {
	if d == nil {
		return u, 0, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.usage, d.refused.Load(), d.full.Load()
}

func (d *Disk) untilLook() int64 { return min(d.reserve.size/64, lookEvery) }

// mayCompact reports whether a compaction may write n bytes. It keeps space free for accepted commits and for flushes.
// It measures rarely, because one measurement per block took 2 % of the CPU.
func (d *Disk) mayCompact(n int) bool {
	if d.reserve.size == 0 || d.unseen.Add(-int64(n)) >= 0 {
		return true
	}
	u, err := d.fs.GetDiskUsage(d.dir)
	if err == nil && int64(u.AvailBytes) < d.refuseBelow()+2*d.commits.inFlight.Load() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if !d.full.Load() || !d.release() {
			return false
		}
	}
	d.unseen.Store(d.untilLook())
	return true
}

// Close ends the measurements. From then on, file operations that find no space fail and do not wait.
func (d *Disk) Close() {
	close(d.stop)
	<-d.done
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closing = true
	d.tryAgain()
}

// Closing reports whether Close was called.
func (d *Disk) Closing() bool {
	if d == nil {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.closing
}

// NoSpace reports whether a file operation failed because the disk is full.
func NoSpace(err error) bool {
	return err != nil && (vfs.IsNoSpaceError(err) || errors.Is(err, syscall.EDQUOT))
}
