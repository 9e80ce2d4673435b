package pebblestore_test

import (
	"maps"
	"math"
	"strings"
	"sync"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// quota is a file system that runs out of space when its files would have more than limit bytes.
// It also runs out of space after a number of operations that need space. The field left counts
// these operations down.
type quota struct {
	*vfs.MemFS

	mu    sync.Mutex
	limit int64
	sizes map[string]int64 // sizes of the files, by path
	left  int              // number of operations that need space before the disk is full
	asked int              // number of operations so far that needed space
	hit   chan struct{}    // closed when the first operation has found no space and must wait
	gate  chan struct{}    // writes to logs wait until this channel is closed; nil means that they need not wait
}

func newQuota() *quota {
	return &quota{MemFS: vfs.NewCrashableMem(), limit: math.MaxInt64, left: math.MaxInt, sizes: map[string]int64{}, hit: make(chan struct{})}
}

// holdLogs makes writes to logs wait until the caller calls letGo.
func (q *quota) holdLogs() (letGo func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	gate := make(chan struct{})
	q.gate = gate
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.gate = nil
		close(gate)
	}
}

// pass is called before a write. If the file is a log, pass waits until the channel in the field
// gate is closed.
func (q *quota) pass(path string) {
	q.mu.Lock()
	gate := q.gate
	q.mu.Unlock()
	if gate != nil && strings.HasSuffix(path, ".log") {
		<-gate
	}
}

// write computes how many of n bytes can be written to a file at the given offset.
func (q *quota) write(path string, at int64, n int, compaction bool) (allowed int, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	used := int64(0)
	for size := range maps.Values(q.sizes) {
		used += size
	}
	q.asked++
	q.left--
	old := q.sizes[path]
	allowed = int(min(int64(n), max(0, old-at)+q.limit-used))
	if q.left == 0 {
		allowed = n / 2 // the write that fills the disk succeeds in part
	} else if q.left < 0 {
		allowed = 0
	}
	allowed = max(0, allowed)
	q.sizes[path] = max(old, at+int64(allowed))
	if allowed >= n && q.left > 0 {
		return n, nil
	}
	if !compaction {
		select {
		case <-q.hit:
		default:
			close(q.hit)
		}
	}
	return allowed, syscall.ENOSPC
}

// fillAfter makes the disk full from the n-th operation on, counted from now.
func (q *quota) fillAfter(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.left = n
}

// makeSpace makes unlimited space available.
func (q *quota) makeSpace() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.limit, q.left = math.MaxInt64, math.MaxInt
}

func (q *quota) operations() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.asked
}

func (q *quota) used() (n int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for size := range maps.Values(q.sizes) {
		n += size
	}
	return n
}

func (q *quota) setLimit(n int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.limit = n
}

func (q *quota) GetDiskUsage(string) (vfs.DiskUsage, error) {
	used := q.used()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.limit == math.MaxInt64 {
		return vfs.DiskUsage{}, vfs.ErrUnsupported
	}
	return vfs.DiskUsage{AvailBytes: uint64(max(0, q.limit-used)), TotalBytes: uint64(q.limit), UsedBytes: uint64(used)}, nil
}

func (q *quota) Create(path string, c vfs.DiskWriteCategory) (vfs.File, error) {
	compaction := strings.HasPrefix(string(c), "pebble-compaction")
	if _, err := q.write(path, 0, 0, compaction); err != nil {
		return nil, err
	}
	q.move(path, "")
	f, err := q.MemFS.Create(path, c)
	return &quotaFile{File: f, quota: q, path: path, compaction: compaction}, err
}

func (q *quota) OpenReadWrite(path string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	f, err := q.MemFS.OpenReadWrite(path, c, o...)
	return &quotaFile{File: f, quota: q, path: path}, err
}

func (q *quota) ReuseForWrite(old, path string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if _, err := q.write(path, 0, 0, false); err != nil {
		return nil, err
	}
	q.move(old, path)
	f, err := q.MemFS.ReuseForWrite(old, path, c)
	return &quotaFile{File: f, quota: q, path: path}, err
}

func (q *quota) Rename(old, path string) error {
	if _, err := q.write(path, 0, 0, false); err != nil {
		return err
	}
	q.move(old, path)
	return q.MemFS.Rename(old, path)
}

func (q *quota) Remove(path string) error {
	err := q.MemFS.Remove(path)
	if err == nil {
		q.move(path, "")
	}
	return err
}

// move changes the map sizes after the rename of a file. An empty new path means that the file was removed.
func (q *quota) move(old, path string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if path != "" {
		q.sizes[path] = q.sizes[old]
	}
	delete(q.sizes, old)
}

// quotaFile is a file of a quota. A write may write only a part of its bytes, as in the file system
// of an operating system.
type quotaFile struct {
	vfs.File
	quota      *quota
	path       string
	compaction bool
	at         int64
}

func (f *quotaFile) Write(b []byte) (int, error) {
	f.quota.pass(f.path)
	n, full := f.quota.write(f.path, f.at, len(b), f.compaction)
	n, err := f.File.Write(b[:n:n])
	f.at += int64(n)
	if err == nil {
		err = full
	}
	return n, err
}

func (f *quotaFile) WriteAt(b []byte, at int64) (int, error) {
	n, full := f.quota.write(f.path, at, len(b), f.compaction)
	n, err := f.File.WriteAt(b[:n:n], at)
	if err == nil {
		err = full
	}
	return n, err
}
