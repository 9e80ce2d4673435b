package follow

import (
	"errors"
	"log/slog"
	"sync"
	"time"

	"filippo.io/age"

	"edgetable/adapters/backup/repository"
	"edgetable/core/commitlog"
	"edgetable/core/edm"
	"edgetable/core/table"
)

var (
	// ErrBuilt means that a new store is complete. The server must restart with this store.
	ErrBuilt = errors.New("the store of the secondary was built")
	// ErrBehind means that a secondary lags too far behind its primary, or that its lag is unknown.
	ErrBehind = errors.New("the secondary lags too far behind")
	// errOutdated means that the log in the backup location no longer continues the store. A newer backup can
	// replace the store.
	errOutdated = errors.New("a newer backup replaces the store")
	// errOtherStore means that the backup location belongs to another store, for example because the wrong disk is
	// mounted.
	errOtherStore = errors.New("the backup location belongs to another store than this secondary. The secondary follows again when the location has the backups of its own primary; " +
		"to follow the other store, remove all files in its data directory and start it again")
	// errDiverged means that the store has commits that the primary does not have.
	errDiverged = errors.New("the primary was restored to an earlier moment, or another store has taken over the backup location: this secondary has commits that the primary does not have, so it no longer follows. " +
		"If this secondary has the better data, promote it with 'edgetable promote'; otherwise remove all files in its data directory and start the secondary again")
)

// Source is where a secondary finds the log of its primary.
type Source struct {
	Place *repository.Repository // the backup location; nil for a promotion without this location
	Keys  []age.Identity         // private keys that decrypt the log
}

// Options configure a Follower.
type Options struct {
	Dir      string
	Kind     Kind          // the kind of the stores in the data directory
	Of       string        // name of the backup location, for people who read the data directory
	MaxLag   time.Duration // maximum lag behind the backup location; above it, the secondary is unavailable
	Interval time.Duration // interval between two checks for newly shipped log in the backup location
	Log      *slog.Logger
	End      func(cause error) // function that shuts down the server
}

// Follower applies the log that a primary ships to a backup location (a directory or bucket) to the store of a
// secondary.
type Follower struct {
	table.Store // store that serves reads; noStore{} while the first store is built

	o     Options
	from  Source
	store Replica // store of the secondary; nil while the first store is built

	working   sync.Mutex // lock that is held while the log is applied and during a promotion
	gap       string     // text of the gap in the log that the last check of the backup location found; "" if none
	looks     int        // number of checks of the backup location since the last full check; if 0, the next check is full
	whole     bool       // whether the next full check lists all pieces of the log; otherwise, it begins shortly before the last commit
	backups   repository.Spans
	unread    int  // number of consecutive failures to read the next piece of the log
	promoting bool // whether a promotion is in progress; a gap in the log is then an error, and no new store is built

	// The next three fields are about a new store, which is built while the current store serves reads.
	failed  error     // error of the last attempt to build the new store
	attempt int       // number of failed attempts to build the new store
	again   time.Time // time of the next attempt to build the new store

	mu       sync.Mutex
	leads    bool   // whether the store was promoted, so that it is a primary
	built    bool   // whether a new store is complete and will replace the current store
	stop     func() // function that cancels the build of a new store; may be nil
	at       commitlog.Position
	caughtUp time.Time // when the store last had all commits in the backup location
	ready    bool      // whether caughtUp was set after the start of this process
	err      error     // error of the last attempt to apply the log
	commits  int64
}

// Open returns the Follower of a complete store, which has replayed the log up to a position.
func Open(o Options, from Source, store Replica, at commitlog.Position) *Follower {
	return &Follower{Store: store, store: store, o: o, from: from, at: at, caughtUp: time.Now(), whole: true, backups: repository.Spans{}}
}

// Unwrap returns the wrapped store. [table.As] calls it to find optional interfaces.
func (f *Follower) Unwrap() table.Store { return f.Store }

// IsFollowing reports whether the store is a secondary. It returns false for a nil Follower, which a primary has.
func (f *Follower) IsFollowing() bool {
	if f == nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.leads
}

// Replication implements [table.Replicated].
func (f *Follower) Replication() table.Replication {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.leads:
		return table.Replication{Status: table.Live, LastSync: edm.TicksOf(time.Now())}
	case f.differsFromPrimary() || f.ready && time.Since(f.caughtUp) > f.o.MaxLag:
		return table.Replication{Status: table.Unavailable, LastSync: f.at.Synced}
	case f.at.Synced == 0:
		return table.Replication{Status: table.Bootstrap}
	case !f.ready: // the lag is unknown: since the start, the store has not caught up with the backup location yet
		return table.Replication{Status: table.Unavailable, LastSync: f.at.Synced}
	}
	return table.Replication{Status: table.Live, LastSync: f.at.Synced}
}

// Status is the state of a secondary, for metrics.
type Status struct {
	Follows  bool
	Behind   time.Duration // time since the store last had all commits in the backup location
	LastSync time.Time     // the store has all writes before this time; zero if the time is not known
	Commits  int64         // number of commits applied since the start
}

// Status returns the state of the secondary.
func (f *Follower) Status() Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := Status{Follows: !f.leads, Commits: f.commits}
	if s.Follows {
		s.Behind = time.Since(f.caughtUp)
	}
	if f.at.Synced > 0 {
		s.LastSync = f.at.Synced.Time()
	}
	return s
}

// Unbuilt reports whether the Follower is still building its first store. It returns false for a nil Follower, which a
// primary has.
func (f *Follower) Unbuilt() bool { return f != nil && f.store == nil }

// Ready returns an error if the secondary lags too far behind the primary, or if its lag is unknown.
func (f *Follower) Ready() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.store == nil {
		return ErrUnbuilt
	}
	if !f.leads && (!f.ready || f.differsFromPrimary() || time.Since(f.caughtUp) > f.o.MaxLag) {
		return errors.Join(ErrBehind, f.err)
	}
	return nil
}

// differsFromPrimary reports whether the store certainly lacks commits that are not in the log, or has commits that the
// primary does not have.
func (f *Follower) differsFromPrimary() bool {
	return errors.Is(f.err, errDiverged) || errors.As(f.err, new(*repository.Gap)) || errors.As(f.err, new(*repository.DamagedPiece))
}
