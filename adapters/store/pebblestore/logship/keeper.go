package logship

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore/internal/logguard"
	"edgetable/adapters/store/pebblestore/internal/wholefile"
	"edgetable/core/commitlog"
	"edgetable/core/edm"
)

// keptDir is the folder of a data directory for logs that are not shipped yet, although Pebble no longer needs them.
const keptDir = "UNSHIPPED"

// Options configure a Keeper.
type Options struct {
	FS     vfs.FS // file system of the machine, in which an operation without disk space fails
	Dir    string
	Issued func() int64 // function that returns the highest commit number issued so far
	Full   func() bool
	Logf   func(format string, args ...any)
}

// Keeper retains logs until they are shipped, up to a maximum size. It does not retain a log that was shipped before
// Pebble discards it.
type Keeper struct {
	fs     vfs.FS
	dir    string
	issued func() int64
	full   func() bool
	logf   func(format string, args ...any)

	// Pebble calls MustKeep while commits wait. MustKeep must not wait for mu, which is held while files are synced. So
	// the fields that MustKeep reads are atomic.
	limit   atomic.Int64  // maximum total size in bytes of the kept logs; 0 means that no logs are kept
	shipped atomic.Uint32 // all logs with lower numbers are shipped

	mu       sync.Mutex
	timeline commitlog.Timeline
	sizes    map[uint32]int64 // sizes in bytes of the logs in the folder of kept logs
}

// Open opens the Keeper of a data directory. If limit is negative and the last start kept logs, logs are kept without a
// limit.
func Open(o Options, limit int64) (*Keeper, error) {
	k := &Keeper{fs: o.FS, dir: o.Dir, issued: o.Issued, full: o.Full, logf: o.Logf, sizes: map[uint32]int64{}}
	return k, k.open(limit)
}

func (k *Keeper) open(limit int64) (err error) {
	if k.timeline, err = readTimeline(k.fs, k.dir, k.logf); err != nil {
		return err
	}
	names, err := k.fs.List(k.folder())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, name := range names {
		var n uint32
		info, err := k.fs.Stat(k.fs.PathJoin(k.folder(), name))
		if err != nil {
			return err
		}
		if _, err := fmt.Sscanf(name, "%d.log", &n); err == nil {
			k.sizes[n] = info.Size()
		}
	}
	switch {
	case limit > 0:
		k.limit.Store(limit)
	case limit < 0 && k.timeline.LogAfter > 0:
		k.limit.Store(math.MaxInt64)
	}
	return nil
}

func (k *Keeper) folder() string { return k.fs.PathJoin(k.dir, keptDir) }

func (k *Keeper) path(n uint32) string { return k.fs.PathJoin(k.folder(), logguard.LogName(n)) }

// makeFolder durably creates the folder of kept logs, so that the logs in the folder survive a crash.
func (k *Keeper) makeFolder() error {
	if _, err := k.fs.Stat(k.folder()); err == nil {
		return nil
	}
	if err := k.fs.MkdirAll(k.folder(), 0o700); err != nil {
		return err
	}
	return wholefile.SyncDir(k.fs, k.dir)
}

// Begin must be called before the store issues commit numbers. All these numbers will be higher than the number from.
// If lost is true, commits are lost, and the store begins a new timeline.
func (k *Keeper) Begin(from edm.Ticks, lostCommits bool) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if lostCommits && !reflect.ValueOf(k.timeline).IsZero() {
		k.timeline = commitlog.Timeline{Parent: cmp.Or(k.timeline.ID, k.timeline.Parent), Location: k.timeline.Location}
		return k.discardKept(k.sinceNow(from))
	}
	if (k.limit.Load() > 0) == (k.timeline.LogAfter > 0) {
		return nil
	}
	return k.discardKept(k.sinceNow(from))
}

func (k *Keeper) sinceNow(from edm.Ticks) edm.Ticks {
	if k.limit.Load() == 0 {
		return 0
	}
	return max(from, 1) // the result 0 would mean that no logs are kept
}

// discardKept sets Timeline.Since and removes the kept logs. The logs in the data directory must contain all later
// commits.
func (k *Keeper) discardKept(since edm.Ticks) error {
	k.timeline.LogAfter = since
	if err := writeTimeline(k.fs, k.dir, k.timeline); err != nil {
		return err
	}
	return k.removeAll()
}

func (k *Keeper) removeAll() error {
	for n := range k.sizes {
		if err := k.fs.Remove(k.path(n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		delete(k.sizes, n)
	}
	return nil
}

// MustKeep reports whether a log that Pebble no longer needs must be kept.
func (k *Keeper) MustKeep(n uint32) bool {
	return k.limit.Load() > 0 && n >= k.shipped.Load()
}

// Keep durably moves a log to the folder of kept logs. If the disk is full, or if the kept logs exceed the limit, Keep
// removes all kept logs.
func (k *Keeper) Keep(path string, n uint32) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	info, err := k.fs.Stat(path)
	if err != nil {
		return err
	}
	if k.full() {
		return errors.Join(k.discardKept(edm.Ticks(k.issued())), k.fs.Remove(path))
	}
	if err := k.makeFolder(); err != nil {
		return err
	}
	err = k.fs.Link(path, k.path(n))
	if errors.Is(err, fs.ErrExist) { // an earlier process has made the link and was then killed
		err = nil
	}
	if err == nil {
		err = errors.Join(wholefile.SyncDir(k.fs, k.folder()), k.fs.Remove(path))
	} else if err = k.fs.Rename(path, k.path(n)); err == nil { // the file system has no hard links
		err = wholefile.SyncDir(k.fs, k.folder())
	}
	if err != nil {
		return err
	}
	k.sizes[n] = info.Size()
	var size int64
	for _, s := range k.sizes {
		size += s
	}
	if size > k.limit.Load() {
		k.logf("edgetable: the unshipped logs have %d bytes, more than --backup-log-keep: they are discarded, and a new backup replaces them", size)
		return k.discardKept(edm.Ticks(k.issued()))
	}
	return nil
}

// release removes the kept logs with numbers below firstKept. The backup location must have all commits up to the given
// commit number.
func (k *Keeper) release(firstKept uint32, to edm.Ticks) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if firstKept <= k.shipped.Load() || k.limit.Load() == 0 {
		return nil
	}
	k.timeline.LogAfter = max(k.timeline.LogAfter, to)
	if err := writeTimeline(k.fs, k.dir, k.timeline); err != nil {
		return err
	}
	k.shipped.Store(firstKept)
	for _, n := range slices.Sorted(maps.Keys(k.sizes)) {
		if n >= firstKept {
			break
		}
		if err := k.fs.Remove(k.path(n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		delete(k.sizes, n)
	}
	return nil
}

// Kept returns the numbers of the kept logs, and their total size in bytes.
func (k *Keeper) Kept() (numbers []uint32, size int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for n, s := range k.sizes {
		numbers = append(numbers, n)
		size += s
	}
	return numbers, size
}

// Change passes the timeline to a function that changes it, and stores the result. A limit above 0 replaces the limit
// for kept logs.
func (k *Keeper) Change(limit int64, do func(*commitlog.Timeline)) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	next := k.timeline
	do(&next)
	if err := writeTimeline(k.fs, k.dir, next); err != nil {
		return err
	}
	k.timeline = next
	if limit > 0 {
		k.limit.Store(limit)
	}
	return nil
}

// Limit changes the maximum size in bytes of the kept logs; 0 means that no logs are kept.
func (k *Keeper) Limit(limit int64) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.limit.Store(limit); limit == 0 {
		return k.discardKept(0)
	}
	if k.timeline.LogAfter == 0 {
		return k.discardKept(edm.Ticks(k.issued()))
	}
	return nil
}

// Timeline returns the timeline to which the commits of the store belong.
func (k *Keeper) Timeline() commitlog.Timeline {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.timeline
}
