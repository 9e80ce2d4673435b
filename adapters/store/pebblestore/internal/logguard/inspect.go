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
	views  *vfs.MemFS                       // with ShowReadable: the readable parts of logs, which Pebble sees instead of the files
	logf   func(format string, args ...any) // logs accepted losses

	highest edm.Ticks // highest commit number found
	lost    []string  // one sentence for each damaged or missing file
}

// damage returns the error for the recorded losses, or nil if there are none.
func (i *inspection) damage() error {
	if len(i.lost) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrLost, strings.Join(i.lost, "; "))
}

// lose records a loss, and returns an error if the policy does not accept losses.
func (i *inspection) lose(lost string) error {
	i.lost = append(i.lost, lost)
	if i.onLoss == RefuseLoss {
		return i.damage()
	}
	i.logf("edgetable: accepted damage: %s", lost)
	return nil
}

// inspectLog reads a log that Pebble will replay. If confirmed commits are lost, it
// returns an error or, if the policy accepts losses, removes the damage from the log.
func (i *inspection) inspectLog(path string, number uint32) error {
	log, err := i.list.scan(path, number)
	if err != nil && wholefile.Lost(err) { // for example, path is a directory
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
		return nil // Pebble stops at the damage by itself, and nothing after it was confirmed
	}
	return i.dropDamage(path, number, log, lost)
}

// cut makes Pebble see only the readable part of a log. lost says which commits this loses, or is "". If commits are
// lost and the policy does not accept losses, cut returns an error.
func (i *inspection) dropDamage(path string, number uint32, log logfile.Log, lost string) error {
	if lost != "" {
		if err := i.lose(lost); err != nil {
			return err
		}
	}
	if i.onLoss == ShowReadable {
		return writeLog(i.views, i.list.fs.PathBase(path), number, log)
	}
	return i.cutOut(path, number, log)
}

// replays reports whether Pebble can replay the unchanged log: it has no damage and either was closed or, if middle is
// false, is the newest log with at most an incomplete record at its end.
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
	// The log must have its name at all times: after a crash without it, the next start would report the log as missing.
	// Only on a file system without hard links, the name does not exist for a moment.
	_ = i.list.fs.Remove(path + ".damaged") // it may exist after an interrupted attempt
	if i.list.fs.Link(path, path+".damaged") != nil {
		if err := i.list.fs.Rename(path, path+".damaged"); err != nil {
			return err
		}
	}
	return i.list.fs.Rename(path+".new", path)
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
