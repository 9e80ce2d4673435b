package pebblestore

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// logList is the file that lists the logs with commits that may be in no other
// file, and the length to which the MANIFEST is synced. A missing listed log is
// a loss, and so is a shorter MANIFEST: it no longer names files that replaced a
// log. Pebble does not notice missing files.
const logList = "LOGS"

// logFiles is the file system below Pebble. It keeps the list of logs correct,
// and inspects each log that Pebble replays.
type logFiles struct {
	vfs.FS
	dir    string
	onLoss lossPolicy
	views  *vfs.MemFS                       // the logs that Pebble sees instead, with showReadable
	issued func() int64                     // the highest number of a commit so far
	logf   func(format string, args ...any) // reports lost commits
	syncs  logSyncs

	mu        sync.Mutex
	live      map[uint32]int64 // log number → issued when the log was made
	manifest  manifest
	replaying atomic.Bool
	inspected inspection
}

// lossPolicy says what happens to a log that has lost commits.
type lossPolicy uint8

const (
	refuseLoss   lossPolicy = iota // Open fails
	keepReadable                   // its readable part replaces it
	showReadable                   // Pebble sees its readable part, and no file changes
)

// manifest is the current MANIFEST and its synced length.
type manifest struct {
	name   string
	synced int64
}

// read reads the list and returns the listed logs that are missing.
func (l *logFiles) read() (missing []string, err error) {
	l.live = map[uint32]int64{}
	f, err := l.FS.Open(l.FS.PathJoin(l.dir, logList))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if l.live, l.manifest, err = parseLogs(b); err != nil {
		l.logf("edgetable: %s: %v; a missing log cannot be noticed at this start", l.FS.PathJoin(l.dir, logList), err)
		return nil, nil
	}
	for n := range l.live {
		if _, err := l.FS.Stat(l.path(n)); errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, logName(n))
			delete(l.live, n)
		} else if err != nil {
			return nil, err
		}
	}
	slices.Sort(missing)
	return missing, nil
}

// missingLogs returns a sentence about missing listed logs.
func missingLogs(names []string) string {
	return fmt.Sprintf("the log %s is missing; the commits it held are lost", strings.Join(names, ", "))
}

func logName(n uint32) string { return fmt.Sprintf("%06d.log", n) }

func (l *logFiles) path(n uint32) string { return l.FS.PathJoin(l.dir, logName(n)) }

// number returns the number of a log of this directory by its path.
func (l *logFiles) number(path string) (n uint32, ok bool) {
	if l.FS.PathDir(path) != l.FS.PathDir(l.path(1)) {
		return 0, false
	}
	base := l.FS.PathBase(path)
	_, err := fmt.Sscanf(base, "%d.log", &n)
	return n, err == nil && base == logName(n)
}

// change changes the list and writes it.
func (l *logFiles) change(do func(live map[uint32]int64)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	do(l.live)
	return l.write()
}

// write replaces the list: the MANIFEST, then for each log its number and the
// number of a commit, then a checksum.
func (l *logFiles) write() error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %d\n", l.manifest.name, l.manifest.synced)
	for _, n := range slices.Sorted(maps.Keys(l.live)) {
		fmt.Fprintf(&b, "%06d %d\n", n, l.live[n])
	}
	fmt.Fprintf(&b, "crc %08x\n", crc32.ChecksumIEEE(b.Bytes()))
	path := l.FS.PathJoin(l.dir, logList)
	d, err := l.FS.OpenDir(l.dir)
	if err != nil {
		return err
	}
	err = l.replace(path, b.Bytes(), d)
	return errors.Join(err, d.Close())
}

// replace replaces the list. A log that it names is in the directory first: the list may
// survive a power failure that a file made before it does not.
func (l *logFiles) replace(path string, list []byte, dir vfs.File) error {
	f, err := l.FS.Create(path+".new", vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write(list)
	if err = errors.Join(err, f.Sync(), f.Close(), dir.Sync()); err != nil {
		return err
	}
	if err := l.FS.Rename(path+".new", path); err != nil {
		return err
	}
	return dir.Sync()
}

// parseLogs is the inverse of write.
func parseLogs(b []byte) (live map[uint32]int64, m manifest, err error) {
	damaged := errors.New("the list of logs is damaged")
	live = map[uint32]int64{}
	i := bytes.LastIndex(b, []byte("crc "))
	if i < 0 || string(b[i:]) != fmt.Sprintf("crc %08x\n", crc32.ChecksumIEEE(b[:i])) {
		return live, m, damaged
	}
	head, lines, _ := strings.Cut(string(b[:i]), "\n")
	if _, err := fmt.Sscanf(head, "%s %d", &m.name, &m.synced); err != nil {
		return live, m, damaged
	}
	for line := range strings.Lines(lines) {
		var n uint32
		var issued int64
		if _, err := fmt.Sscanf(line, "%d %d\n", &n, &issued); err != nil {
			return map[uint32]int64{}, m, damaged
		}
		live[n] = issued
	}
	return live, m, nil
}

// Create lists a new log before anything is written to it.
func (l *logFiles) Create(path string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := l.FS.Create(path, c)
	if name := l.FS.PathBase(path); err == nil && strings.HasPrefix(name, "MANIFEST-") {
		return &manifestFile{File: f, logs: l, name: name}, nil
	}
	return l.created(path, f, err)
}

// manifestFile is a MANIFEST that is being written.
type manifestFile struct {
	vfs.File
	logs    *logFiles
	name    string
	written int64
}

func (f *manifestFile) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	f.written += int64(n)
	return n, err
}

// Sync records the synced length. The list is written before the next log is
// removed.
func (f *manifestFile) Sync() error {
	if err := f.File.Sync(); err != nil {
		return err
	}
	f.logs.mu.Lock()
	defer f.logs.mu.Unlock()
	f.logs.manifest = manifest{f.name, f.written}
	return nil
}

func (l *logFiles) created(path string, f vfs.File, err error) (vfs.File, error) {
	if n, ok := l.number(path); ok && err == nil {
		if err := l.change(func(live map[uint32]int64) { live[n] = l.issued() }); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		f = &logFile{f, &l.syncs}
	}
	return f, err
}

// ReuseForWrite makes a log from one that is no longer needed.
func (l *logFiles) ReuseForWrite(old, path string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := l.forget(old); err != nil {
		return nil, err
	}
	f, err := l.FS.ReuseForWrite(old, path, c)
	return l.created(path, f, err)
}

// Remove removes a log, first from the list.
func (l *logFiles) Remove(path string) error {
	if err := l.forget(path); err != nil {
		return err
	}
	return l.FS.Remove(path)
}

func (l *logFiles) forget(path string) error {
	n, ok := l.number(path)
	if !ok {
		return nil
	}
	return l.change(func(live map[uint32]int64) { delete(live, n) })
}

// forgetAll empties the list at a clean end: every commit is in a data file.
func (l *logFiles) forgetAll() error { return l.change(func(live map[uint32]int64) { clear(live) }) }

// Open inspects a log that Pebble is about to replay, and the MANIFEST.
func (l *logFiles) Open(path string, o ...vfs.OpenOption) (vfs.File, error) {
	if l.replaying.Load() {
		if n, ok := l.number(path); ok {
			if err := l.inspectLog(path, n); err != nil {
				return nil, err
			}
			if l.onLoss == showReadable {
				if f, err := l.views.Open(l.FS.PathBase(path)); err == nil {
					return f, nil
				}
			}
		} else if strings.HasPrefix(l.FS.PathBase(path), "MANIFEST-") {
			if err := l.inspectManifest(path); err != nil {
				return nil, err
			}
		}
	}
	return l.FS.Open(path, o...)
}
