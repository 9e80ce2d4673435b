package pebblestore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore/internal/logfile"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// errDamaged means that the directory cannot be opened as it is. The error that
// wraps it says which files are damaged.
var errDamaged = errors.New("data directory is damaged")

// ErrLost is the damage that Options.AcceptDamage accepts: confirmed commits
// are lost, but the rest can be served.
var ErrLost = fmt.Errorf("%w and has lost commits", errDamaged)

// inspection is the result of reading the logs before Pebble replays them.
type inspection struct {
	highest edm.Ticks // number of a commit
	lost    []string  // one sentence for each damaged or missing file
}

// damage returns the error for the damage in the logs, or nil.
func (i *inspection) damage() error {
	if len(i.lost) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrLost, strings.Join(i.lost, "; "))
}

// scan reads a log, or a MANIFEST, whose number is 0.
func (l *logFiles) scan(path string, number uint32) (logfile.Log, error) {
	f, err := l.FS.Open(path)
	if err != nil {
		return logfile.Log{}, err
	}
	b, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return logfile.Log{}, err
	}
	return logfile.Scan(b, number), nil
}

// inspectLog reads a log that Pebble will replay. Damage that hides confirmed
// commits is an error; if it is accepted, inspectLog removes it from the log.
func (l *logFiles) inspectLog(path string, number uint32) error {
	log, err := l.scan(path, number)
	if err != nil {
		return err
	}
	next, middle, err := l.next(number)
	if err != nil {
		return err
	}
	var later logfile.Log
	if _, known := l.live[next]; middle && !known {
		if later, err = l.scan(l.path(next), next); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	lost := l.judge(path, number, log, next, later)
	if lost == "" && replays(log, middle) {
		return nil
	}
	if lost != "" {
		l.inspected.lost = append(l.inspected.lost, lost)
		if l.onLoss == refuseLoss {
			return l.inspected.damage()
		}
		l.logf("edgetable: accepted damage: %s", lost)
	} else if l.onLoss == refuseLoss && !middle {
		return nil // Pebble ends the log at its first damaged place
	}
	if l.onLoss == showReadable {
		return writeLog(l.views, l.FS.PathBase(path), number, log)
	}
	return l.cutOut(path, number, log)
}

// replays reports whether Pebble replays the log as it is: if it has no damage and was
// closed, or is the newest one, with nothing behind a torn end.
func replays(log logfile.Log, middle bool) bool {
	if middle {
		return len(log.Damage) == 0 && log.Closed
	}
	return !slices.ContainsFunc(log.Records, func(r logfile.Record) bool { return r.Behind > 0 })
}

// inspectManifest checks that the MANIFEST can be read as far as it was synced.
// This damage cannot be accepted: only the MANIFEST names the current data
// files.
func (l *logFiles) inspectManifest(path string) error {
	log, err := l.scan(path, 0)
	if err != nil {
		return err
	}
	return l.wholeManifest(path, log)
}

func (l *logFiles) wholeManifest(path string, log logfile.Log) error {
	if len(log.Damage) == 0 && (l.manifest.name != l.FS.PathBase(path) || int64(log.End) >= l.manifest.synced) {
		return nil
	}
	return salvageable(fmt.Errorf("%s cannot be read to its end", path))
}

// judge returns a sentence about the confirmed commits that the log has lost, or
// "". next is the number of the log after it, or 0; later is what it holds if the list of
// logs does not know it.
func (l *logFiles) judge(path string, number uint32, log logfile.Log, next uint32, later logfile.Log) string {
	readable := edm.Ticks(l.live[number]) // all commits up to this one are in other files or were read
	var before, behind int
	var synced edm.Ticks
	for _, r := range log.Records {
		m, ok := markOf(r.Payload)
		if !ok {
			continue
		}
		l.inspected.highest = max(l.inspected.highest, m.number)
		if r.Behind == 0 {
			readable = max(readable, m.number)
			before += min(1, int(m.number))
			continue
		}
		synced = max(synced, m.synced)
		if m.number > 0 {
			behind++
		}
	}
	// Pebble closes a log before it makes the next one, which syncs the log. Only the
	// last log of a process that was killed is not closed, and the next process makes
	// its log when that one is in data files: then no commit was issued before.
	verb := "are"
	if next > 0 && (len(log.Damage) > 0 || !log.Closed) {
		if synced <= readable {
			verb = "may be" // the last ones issued before may be in the next log
		}
		synced = max(synced, edm.Ticks(l.live[next]))
		for _, r := range later.Records { // the list of logs is lost
			if m, ok := markOf(r.Payload); ok {
				synced = max(synced, m.synced)
				break // what the marks behind it say may be about commits of that log
			}
		}
	}
	if _, listed := l.live[number]; next == 0 && listed { // one that is not listed yet has nothing
		synced = max(synced, edm.Ticks(l.synced))
	}
	if synced <= readable {
		return ""
	}
	since := "its beginning"
	if readable > 0 {
		since = readable.String()
	}
	place := fmt.Sprintf("ends at offset %d, before the end that was written (%d commits can be read)", log.End, before)
	if len(log.Damage) > 0 {
		place = fmt.Sprintf("cannot be read at offset %d (%d damaged places; %d commits before the first and %d behind it can be read)",
			log.Damage[0].Offset, len(log.Damage), before, behind)
	}
	return fmt.Sprintf("%s %s; confirmed commits after %s and until %s %s lost", path, place, since, synced, verb)
}

// cutOut replaces a log by its readable part. It keeps the damaged file under
// another name.
func (l *logFiles) cutOut(path string, number uint32, log logfile.Log) error {
	if err := writeLog(l.FS, path+".new", number, log); err != nil {
		return err
	}
	// A log must have its name at each moment: a start after a crash here would count it
	// as missing. Only a file system without links takes the name away.
	_ = l.FS.Remove(path + ".damaged") // of an attempt that was interrupted
	if l.FS.Link(path, path+".damaged") != nil {
		if err := l.FS.Rename(path, path+".damaged"); err != nil {
			return err
		}
	}
	return l.FS.Rename(path+".new", path)
}

// writeLog writes the readable part of a log.
func writeLog(fs vfs.FS, path string, number uint32, log logfile.Log) error {
	f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	err = logfile.Write(f, number, log.Replayable())
	return errors.Join(err, f.Sync(), f.Close())
}

// checkMarker refuses a directory that has data files but not the file that
// names the current MANIFEST: Pebble would begin a new store. A MANIFEST alone is
// of a first start that was interrupted.
func checkMarker(names []string) error {
	data, marker := "", false
	for _, name := range names {
		if strings.HasSuffix(name, ".log") || strings.HasSuffix(name, ".sst") || name == logList {
			data = name
		}
		marker = marker || strings.HasPrefix(name, "marker.manifest.")
	}
	if data != "" && !marker {
		return salvageable(fmt.Errorf("there is %s, but the file marker.manifest.… is missing", data))
	}
	return nil
}

// explain says that an error of Pebble about the content of the directory means damage.
// Any other error is of the machine: of the disk, or of permissions.
func explain(err error) error {
	_, machine := errors.AsType[syscall.Errno](err)
	if err == nil || errors.Is(err, errDamaged) || errors.Is(err, ErrForeign) || errors.Is(err, ErrNewer) || errors.Is(err, table.ErrNewerForm) ||
		machine && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return salvageable(err)
}

// salvageable returns the error for damage that only a copy of what can be read mends.
func salvageable(err error) error {
	return fmt.Errorf("%w: %s; save what can be read with 'edgetable check --salvage', or restore a backup", errDamaged, cause(err))
}

// cause returns the first line of an error of Pebble, which names the damage.
func cause(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// sawDamage counts the reads and compactions that met a damaged place, and
// reports each file once.
func (s *Store) sawDamage(i pebble.DataCorruptionInfo, logf func(string, ...any)) {
	s.damaged.Add(1)
	if _, known := s.damagedFiles.LoadOrStore(i.Path, true); !known {
		logf("edgetable: %s is damaged: requests for what it holds get 500, others are served; stop the server and run 'edgetable check': %s", i.Path, cause(i.Details))
	}
}

// pause is the time without compactions after one met damage. Pebble would try
// the same compaction again at once.
const pause = 10 * time.Second

// compactions returns the number of compactions that may always run, and the
// most that may run under load.
func (s *Store) compactions() (lower, upper int) {
	if failed := s.compactionFailed.Load(); failed != 0 && time.Since(time.Unix(0, failed)) < pause {
		return 0, 2
	}
	return 1, 2
}
