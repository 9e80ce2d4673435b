package logguard

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/core/edm"
)

// Options configure a Guard.
type Options struct {
	FS     vfs.FS
	Dir    string
	OnLoss Policy
	Issued func() int64 // function that returns the highest commit number issued so far
	// Synced is called after each sync of a log, with its duration and the number of commits that the sync made durable.
	// It may be nil.
	Synced func(took time.Duration, commits int)
	Keeper Keeper // keeper of unshipped logs; nil if logs are never kept
	Logf   func(format string, args ...any)
}

// Keeper retains the logs that Pebble no longer needs, until they are shipped.
type Keeper interface {
	// MustKeep reports whether the log with this number must be kept.
	MustKeep(number uint32) bool
	// Keep moves a log to another directory.
	Keep(path string, number uint32) error
}

// Guard is the file system that Pebble uses. It maintains the list of logs and inspects each log that Pebble replays.
type Guard struct {
	vfs.FS
	issued    func() int64
	keeper    Keeper
	syncs     syncs
	list      *list
	replaying atomic.Bool
	inspected inspection
}

// New returns the Guard of a directory. The caller must call [Guard.Begin] next.
func New(o Options) *Guard {
	l := &list{fs: o.FS, dir: o.Dir, logf: o.Logf}
	return &Guard{
		FS: o.FS, issued: o.Issued, keeper: o.Keeper, syncs: syncs{observe: o.Synced}, list: l,
		inspected: inspection{list: l, onLoss: o.OnLoss, views: vfs.NewMem(), logf: o.Logf},
	}
}

// Begin reads the list of logs that must exist in the directory. If a log is missing, Begin returns an error unless the
// policy accepts losses.
func (g *Guard) Begin() error {
	g.replaying.Store(true)
	missing, err := g.list.read()
	if err != nil || len(missing) == 0 {
		return err
	}
	return g.Lose(missingLogs(missing))
}

// Replayed reports that Pebble has replayed the logs. From then on, Open does not inspect files.
func (g *Guard) Replayed() { g.replaying.Store(false) }

// Listed reports whether the directory had a readable list of logs.
func (g *Guard) Listed() bool { return g.list.listed }

// Highest returns the highest commit number that Open has found in the logs.
func (g *Guard) Highest() edm.Ticks { return g.inspected.highest }

// Losses returns a sentence for each damaged or missing file.
func (g *Guard) Losses() []string { return g.inspected.lost }

// Damage returns the error for the losses found so far, or nil if there are none.
func (g *Guard) Damage() error { return g.inspected.damage() }

// Lose adds a loss to the list of losses. It returns an error if the policy does not accept losses.
func (g *Guard) Lose(lost string) error { return g.inspected.lose(lost) }

// Applied counts a commit that was added to the log. Options.Synced gets the count after the next sync.
func (g *Guard) Applied() { g.syncs.written.Add(1) }

// Note records in the list of logs that commit n is synced, so that the next start detects a truncated log. It writes
// to the given file system, which may wait for disk space.
func (g *Guard) Note(to vfs.FS, n edm.Ticks) { g.list.recordSynced(to, n) }

// ForgetAll empties the list of logs at a clean shutdown, when every commit is in a data file.
func (g *Guard) ForgetAll() error { return g.list.forgetAll() }

// Create creates a file. It adds a new log to the list before anything is written to the log.
func (g *Guard) Create(path string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := g.FS.Create(path, c)
	if name := g.FS.PathBase(path); err == nil && isManifest(name) {
		return &manifestFile{File: f, list: g.list, name: name}, nil
	}
	return g.created(path, f, err)
}

func (g *Guard) created(path string, f vfs.File, err error) (vfs.File, error) {
	if n, ok := g.list.number(path); ok && err == nil {
		if err := g.list.change(func(live map[uint32]int64) {
			if live[n] = g.issued(); live[n] == 0 {
				g.list.synced = 0 // this is the first log of the process: Pebble has already moved the commits of older logs to data files
			}
		}); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		f = &logFile{f, &g.syncs}
	}
	return f, err
}

// ReuseForWrite makes a new log from the file of an old log. If the old log is not shipped yet, ReuseForWrite keeps it
// and creates another file.
func (g *Guard) ReuseForWrite(old, path string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := g.list.forget(old); err != nil {
		return nil, err
	}
	if n, ok := g.list.number(old); ok && g.wants(n) {
		if err := g.keeper.Keep(old, n); err != nil {
			return nil, err
		}
		return g.Create(path, c)
	}
	f, err := g.FS.ReuseForWrite(old, path, c)
	return g.created(path, f, err)
}

// Remove removes a file. It first removes a log from the list of logs, and keeps the file of a log that is not shipped
// yet.
func (g *Guard) Remove(path string) error {
	if err := g.list.forget(path); err != nil {
		return err
	}
	if n, ok := g.list.number(path); ok && g.wants(n) {
		return g.keeper.Keep(path, n)
	}
	return g.FS.Remove(path)
}

func (g *Guard) wants(n uint32) bool { return g.keeper != nil && g.keeper.MustKeep(n) }

// Open opens a file. Until Pebble has replayed the logs, Open also inspects each log and the MANIFEST before Pebble reads the file.
func (g *Guard) Open(path string, o ...vfs.OpenOption) (vfs.File, error) {
	if g.replaying.Load() {
		if n, ok := g.list.number(path); ok {
			if err := g.inspected.inspectLog(path, n); err != nil {
				return nil, err
			}
			if g.inspected.onLoss == ShowReadable {
				if f, err := g.inspected.views.Open(g.FS.PathBase(path)); err == nil {
					return f, nil
				}
			}
		} else if isManifest(g.FS.PathBase(path)) {
			if err := g.list.checkManifest(path); err != nil {
				return nil, err
			}
		}
	}
	return g.FS.Open(path, o...)
}
