package logguard

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore/internal/logfile"
	"edgetable/adapters/store/pebblestore/internal/wholefile"
	"edgetable/core/edm"
)

// Policy says what happens to a log that has lost commits.
type Policy uint8

const (
	RefuseLoss   Policy = iota // Open fails
	KeepReadable               // the readable part replaces the log
	ShowReadable               // Pebble sees the readable part, and no file changes
)

// inspection is the result of reading the logs before Pebble replays them.
type inspection struct {
	list   *list
	onLoss Policy
	views  *vfs.MemFS // readable parts of logs, which Pebble sees instead of the files; used with ShowReadable
	logf   func(format string, args ...any)

	highest edm.Ticks
	older   edm.Ticks // the commits up to this number are in the inspected logs or in older files, or were reported as lost; 0 if unknown
	lost    []string  // one sentence for each damaged or missing file
}

// Losses returns a sentence for each missing or damaged log, even if Pebble cannot open the store. It changes no file,
// and does not need the MANIFEST.
func Losses(fs vfs.FS, dir string) []string {
	l := &list{fs: fs, dir: dir, logf: func(string, ...any) {}}
	i := &inspection{list: l, onLoss: ShowReadable, views: vfs.NewMem(), logf: l.logf}
	missing, err := l.read()
	if len(missing) > 0 {
		i.lost = append(i.lost, missingLogs(missing))
	}
	names, other := fs.List(dir)
	slices.Sort(names)
	for _, name := range names {
		n, isLog := Number(name)
		if _, live := l.live[n]; !isLog || l.listed && !live { // all commits in other logs are also in data files
			continue
		}
		if log, e := l.scan(fs.PathJoin(dir, name), n); e == nil && len(log.Damage) == 0 && log.Unreadable == nil {
			continue // without the MANIFEST it is unknown whether a log that ends early has commits that no data file has
		}
		err = errors.Join(err, i.inspectLog(fs.PathJoin(dir, name), n))
	}
	if err = errors.Join(err, other); err != nil {
		i.lost = append(i.lost, fmt.Sprintf("the logs cannot be checked: %v", err))
	}
	return i.lost
}

// damage returns the error for the recorded losses, or nil if there are none.
func (i *inspection) damage() error {
	if len(i.lost) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrLost, strings.Join(i.lost, "; "))
}

// lose adds a loss to the list of losses. It returns an error if the policy does not accept losses.
func (i *inspection) lose(lost string) error {
	i.lost = append(i.lost, lost)
	if i.onLoss == RefuseLoss {
		return i.damage()
	}
	i.logf("edgetable: accepted damage: %s", lost)
	return nil
}

// inspectLog reads a log that Pebble will replay. If confirmed commits are lost, it removes the damage or returns an
// error, depending on the policy.
func (i *inspection) inspectLog(path string, number uint32) error {
	log, err := i.list.scan(path, number)
	if err != nil && wholefile.IsLost(err) { // the content of the file is lost, for example because a directory replaced the file
		return i.dropDamage(path, number, logfile.Log{}, fmt.Sprintf("%s cannot be read (%v); its commits are lost", path, err))
	}
	if err != nil {
		return err
	}
	next, middle, err := i.list.next(number)
	if err != nil {
		return err
	}
	var later logfile.Log
	if _, known := i.list.live[next]; middle && !known {
		if later, err = i.list.scan(i.list.path(next), next); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	lost := i.describeLoss(path, number, log, next, later)
	if lost == "" && canReplay(log, middle) {
		return nil
	}
	if lost == "" && i.onLoss == RefuseLoss && !middle {
		return nil // Pebble stops at the damage by itself, and no commit after the damage was confirmed
	}
	return i.dropDamage(path, number, log, lost)
}

// dropDamage makes Pebble see only the readable part of a log. The parameter loss is a sentence about lost commits, or
// "". If commits are lost, the policy decides whether this is an error.
func (i *inspection) dropDamage(path string, number uint32, log logfile.Log, loss string) error {
	if loss != "" {
		if err := i.lose(loss); err != nil {
			return err
		}
	}
	if i.onLoss == ShowReadable {
		return writeLog(i.views, i.list.fs.PathBase(path), number, log)
	}
	return i.cutOut(path, number, log)
}

// canReplay reports whether Pebble can replay the unchanged log. Only the newest log may end with an incomplete record;
// if middle is true, the log is not the newest.
func canReplay(log logfile.Log, middle bool) bool {
	if log.Unreadable != nil {
		return false
	}
	if middle {
		return len(log.Damage) == 0 && log.Closed
	}
	return !slices.ContainsFunc(log.Records, func(r logfile.Record) bool { return r.Behind > 0 })
}

// cutOut replaces a log with its readable part. It keeps the damaged file under another name.
func (i *inspection) cutOut(path string, number uint32, log logfile.Log) error {
	if err := writeLog(i.list.fs, path+".new", number, log); err != nil {
		return err
	}
	// A hard link keeps the log's name. Without a link, a crash between the two renames would make the next start
	// report a missing log.
	_ = i.list.fs.Remove(path + ".damaged") // an interrupted attempt may have left this file
	if i.list.fs.Link(path, path+".damaged") != nil {
		if err := i.list.fs.Rename(path, path+".damaged"); err != nil {
			return err
		}
	}
	return i.list.fs.Rename(path+".new", path)
}

// writeLog writes the readable part of a log to a new file.
func writeLog(fs vfs.FS, path string, number uint32, log logfile.Log) error {
	f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	err = logfile.Write(f, number, log.Replayable())
	return errors.Join(err, f.Sync(), f.Close())
}
