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

	"edgetable/core/edm"
)

// logList is the file that lists the logs with commits that may be in no other
// file, the length to which the MANIFEST is synced, and a commit that is synced. A
// missing listed log is a loss, and so is a shorter MANIFEST: it no longer names files
// that replaced a log. Pebble does not notice missing files.
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
	manifest  namedManifest
	synced    int64 // number of a commit of this process that is synced
	listed    bool  // the list could be read
	replaying atomic.Bool
	inspected inspection

	copied     copied // the second copy of the records when the start began
	copiedText []byte
}

// lossPolicy says what happens to a log that has lost commits.
type lossPolicy uint8

const (
	refuseLoss   lossPolicy = iota // Open fails
	keepReadable                   // its readable part replaces it
	showReadable                   // Pebble sees its readable part, and no file changes
)

// namedManifest is the current MANIFEST and its synced length.
type namedManifest struct {
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
	if l.live, l.manifest, l.synced, err = parseLogs(b); err != nil {
		l.logf("edgetable: %s: %v; a missing log cannot be noticed at this start", l.FS.PathJoin(l.dir, logList), err)
		return nil, nil
	}
	l.listed = true
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

// next returns the log that was made after this one. ok is false if this one is the
// newest.
func (l *logFiles) next(number uint32) (next uint32, ok bool, err error) {
	names, err := l.FS.List(l.dir)
	if err != nil {
		return 0, false, err
	}
	later := slices.Collect(maps.Keys(l.live))
	for _, name := range names {
		if n, ok := l.number(l.FS.PathJoin(l.dir, name)); ok {
			later = append(later, n)
		}
	}
	later = slices.DeleteFunc(later, func(n uint32) bool { return n <= number })
	if len(later) == 0 {
		return 0, false, nil
	}
	return slices.Min(later), true, nil
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
	return l.write(l.FS)
}

// note writes down that a commit is synced, so that a start misses it if the newest log
// was cut short. It does not wait for space, to which to is a file system that fails.
func (l *logFiles) note(to vfs.FS, n edm.Ticks) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.synced = int64(n)
	_ = l.write(to) // without it a start notices less
}

// write replaces the list: the MANIFEST, a synced commit, then for each log its number
// and the number of a commit, then a checksum.
func (l *logFiles) write(to vfs.FS) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %d\nsynced %d\n", l.manifest.name, l.manifest.synced, l.synced)
	for _, n := range slices.Sorted(maps.Keys(l.live)) {
		fmt.Fprintf(&b, "%06d %d\n", n, l.live[n])
	}
	fmt.Fprintf(&b, "crc %08x\n", crc32.ChecksumIEEE(b.Bytes()))
	return replaceFile(to, l.dir, logList, b.Bytes())
}

// parseLogs is the inverse of write.
func parseLogs(b []byte) (live map[uint32]int64, m namedManifest, synced int64, err error) {
	damaged := errors.New("the list of logs is damaged")
	live = map[uint32]int64{}
	i := bytes.LastIndex(b, []byte("crc "))
	if i < 0 || string(b[i:]) != fmt.Sprintf("crc %08x\n", crc32.ChecksumIEEE(b[:i])) {
		return live, m, 0, damaged
	}
	head, lines, _ := strings.Cut(string(b[:i]), "\n")
	if _, err := fmt.Sscanf(head, "%s %d", &m.name, &m.synced); err != nil {
		return live, m, 0, damaged
	}
	for line := range strings.Lines(lines) {
		var n uint32
		var issued int64
		if _, err := fmt.Sscanf(line, "synced %d\n", &synced); err == nil { // not in format 1
			continue
		}
		if _, err := fmt.Sscanf(line, "%d %d\n", &n, &issued); err != nil {
			return map[uint32]int64{}, m, 0, damaged
		}
		live[n] = issued
	}
	return live, m, synced, nil
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
	f.logs.manifest = namedManifest{f.name, f.written}
	return nil
}

func (l *logFiles) created(path string, f vfs.File, err error) (vfs.File, error) {
	if n, ok := l.number(path); ok && err == nil {
		if err := l.change(func(live map[uint32]int64) {
			if live[n] = l.issued(); live[n] == 0 {
				l.synced = 0 // a new process: everything older is in data files
			}
		}); err != nil {
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
func (l *logFiles) forgetAll() error {
	return l.change(func(live map[uint32]int64) { clear(live); l.synced = 0 })
}

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
