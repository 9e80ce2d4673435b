package logguard

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore/internal/wholefile"
	"edgetable/core/edm"
)

// logList is the file that lists the logs whose commits may be in no other file, the length to which the MANIFEST is
// synced, and a synced commit. It exists because Pebble does not notice missing files. A missing listed log means a
// loss, and so does a shorter MANIFEST: it no longer names files that replaced a log.
const logList = "LOGS"

// list is the content of that file.
type list struct {
	fs   vfs.FS
	dir  string
	logf func(format string, args ...any)

	mu       sync.Mutex
	live     map[uint32]int64 // by log number: the highest commit number issued when the log was made
	manifest namedManifest
	synced   int64 // number of a synced commit of this process
	listed   bool  // the list could be read
}

// namedManifest is the current MANIFEST and its synced length.
type namedManifest struct {
	name   string
	synced int64
}

// read reads the list and returns the listed logs that are missing.
func (l *list) read() (missing []string, err error) {
	l.live = map[uint32]int64{}
	b, _, err := wholefile.Readable(l.fs, l.fs.PathJoin(l.dir, logList)) // it has a checksum
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if l.live, l.manifest, l.synced, err = parseLogs(b); err != nil {
		l.logf("edgetable: %s: %v; a missing log cannot be noticed at this start", l.fs.PathJoin(l.dir, logList), err)
		return nil, nil
	}
	l.listed = true
	for n := range l.live {
		if _, err := l.fs.Stat(l.path(n)); errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, LogName(n))
			delete(l.live, n)
		} else if err != nil {
			return nil, err
		}
	}
	slices.Sort(missing)
	return missing, nil
}

// missingLogs returns a sentence about listed logs that are missing.
func missingLogs(names []string) string {
	return fmt.Sprintf("the log %s is missing; the commits it held are lost", strings.Join(names, ", "))
}

// next returns the log that was made after this one. ok is false if this one is the
// newest.
func (l *list) next(number uint32) (next uint32, ok bool, err error) {
	names, err := l.fs.List(l.dir)
	if err != nil {
		return 0, false, err
	}
	later := slices.Collect(maps.Keys(l.live))
	for _, name := range names {
		if n, ok := l.number(l.fs.PathJoin(l.dir, name)); ok {
			later = append(later, n)
		}
	}
	later = slices.DeleteFunc(later, func(n uint32) bool { return n <= number })
	if len(later) == 0 {
		return 0, false, nil
	}
	return slices.Min(later), true, nil
}

func (l *list) path(n uint32) string { return l.fs.PathJoin(l.dir, LogName(n)) }

// number returns the number of a log of this directory by its path.
func (l *list) number(path string) (n uint32, ok bool) {
	if l.fs.PathDir(path) != l.fs.PathDir(l.path(1)) {
		return 0, false
	}
	return Number(l.fs.PathBase(path))
}

// change changes the list and writes it.
func (l *list) change(do func(live map[uint32]int64)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	do(l.live)
	return l.write(l.fs)
}

// note records that a commit is synced, so that the next start notices if the newest log was cut short. It does not
// wait for space if to is a file system that fails instead.
func (l *list) note(to vfs.FS, n edm.Ticks) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.synced = int64(n)
	_ = l.write(to) // without it, a start notices fewer losses
}

// write replaces the list: the MANIFEST, a synced commit, then for each log its number
// and the number of a commit, then a checksum.
func (l *list) write(to vfs.FS) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %d\nsynced %d\n", l.manifest.name, l.manifest.synced, l.synced)
	for _, n := range slices.Sorted(maps.Keys(l.live)) {
		fmt.Fprintf(&b, "%06d %d\n", n, l.live[n])
	}
	fmt.Fprintf(&b, "crc %08x\n", crc32.ChecksumIEEE(b.Bytes()))
	return wholefile.Replace(to, l.dir, logList, b.Bytes())
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
		if _, err := fmt.Sscanf(line, "synced %d\n", &synced); err == nil { // missing in format 1
			continue
		}
		if _, err := fmt.Sscanf(line, "%d %d\n", &n, &issued); err != nil {
			return map[uint32]int64{}, m, 0, damaged
		}
		live[n] = issued
	}
	return live, m, synced, nil
}

func (l *list) forget(path string) error {
	n, ok := l.number(path)
	if !ok {
		return nil
	}
	return l.change(func(live map[uint32]int64) { delete(live, n) })
}

// forgetAll empties the list at a clean shutdown: every commit is in a data file.
func (l *list) forgetAll() error {
	return l.change(func(live map[uint32]int64) { clear(live); l.synced = 0 })
}
