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

// logList is the name of the file that lists the logs whose commits may be in no other file. It also has the synced
// length of the MANIFEST and a synced commit number.
//
// Pebble itself notices neither a missing log nor a truncated MANIFEST.
const logList = "LOGS"

// list is the content of the file LOGS.
type list struct {
	fs   vfs.FS
	dir  string
	logf func(format string, args ...any)

	mu       sync.Mutex
	live     map[uint32]int64 // listed logs, by number; the value is the highest commit number issued when the log was created
	gone     map[uint32]int64 // listed logs that were missing at the start, with the same values
	manifest namedManifest
	synced   int64 // number of a synced commit of this process
	listed   bool  // whether the file existed at the start and was readable
}

// namedManifest is the current MANIFEST and its synced length.
type namedManifest struct {
	name   string
	synced int64
}

// read reads the list of logs and returns the listed logs that are missing.
func (l *list) read() (missing []string, err error) {
	l.live, l.gone = map[uint32]int64{}, map[uint32]int64{}
	b, _, err := wholefile.Readable(l.fs, l.fs.PathJoin(l.dir, logList)) // parseLogs detects unreadable bytes by the checksum
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if l.live, l.manifest, l.synced, err = parseLogs(b); err != nil {
		l.logf("edgetable: %s: %v; this start cannot detect a missing log", l.fs.PathJoin(l.dir, logList), err)
		return nil, nil
	}
	l.listed = true
	for n := range l.live {
		if _, err := l.fs.Stat(l.path(n)); errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, LogName(n))
			l.gone[n] = l.live[n]
			delete(l.live, n)
		} else if err != nil {
			return nil, err
		}
	}
	slices.Sort(missing)
	return missing, nil
}

func missingLogs(names []string) string {
	return fmt.Sprintf("the log %s is missing; its commits are lost", strings.Join(names, ", "))
}

// next returns the number of the log that was created after the log with this number. ok is false if there is no later
// log.
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

// follower returns the number of the log that was created after the given log, and the highest commit number issued
// before that. The parameter nextLog is the number of that log if its file exists, or 0.
func (l *list) follower(number, nextLog uint32) (uint32, int64) {
	if nextLog > 0 {
		return nextLog, l.live[nextLog]
	}
	for n := range l.gone {
		if n > number && (nextLog == 0 || n < nextLog) {
			nextLog = n
		}
	}
	return nextLog, l.gone[nextLog]
}

func (l *list) path(n uint32) string { return l.fs.PathJoin(l.dir, LogName(n)) }

// number returns the number of a log from its path. ok is false for other files and for other directories.
func (l *list) number(path string) (n uint32, ok bool) {
	if l.fs.PathDir(path) != l.fs.PathDir(l.path(1)) {
		return 0, false
	}
	return Number(l.fs.PathBase(path))
}

// change passes the map of listed logs to a function that changes it. Then it writes the list.
func (l *list) change(do func(live map[uint32]int64)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	do(l.live)
	return l.write(l.fs)
}

// recordSynced records in the list that commit n is synced, so that the next start detects a truncated log. It writes
// to the given file system, which may wait for disk space.
func (l *list) recordSynced(to vfs.FS, n edm.Ticks) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.synced = int64(n)
	_ = l.write(to) // an error only means that the next start might not detect some losses
}

// write replaces the file LOGS. Its lines contain:
//
//   - the name and the synced length of the MANIFEST
//   - the number of a synced commit
//   - for each log, its number and the highest commit number issued before the log was created
//   - a checksum
func (l *list) write(to vfs.FS) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %d\nsynced %d\n", l.manifest.name, l.manifest.synced, l.synced)
	for _, n := range slices.Sorted(maps.Keys(l.live)) {
		fmt.Fprintf(&b, "%06d %d\n", n, l.live[n])
	}
	fmt.Fprintf(&b, "crc %08x\n", crc32.ChecksumIEEE(b.Bytes()))
	return wholefile.Replace(to, l.dir, logList, b.Bytes())
}

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
		if _, err := fmt.Sscanf(line, "synced %d\n", &synced); err == nil { // files of format 1 lack this line
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

func (l *list) forgetAll() error {
	return l.change(func(live map[uint32]int64) { clear(live); l.synced = 0 })
}
