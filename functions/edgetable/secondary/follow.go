package secondary

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"filippo.io/age"

	"edgetable/adapters/backup/repository"
	"edgetable/adapters/store/pebblestore"
	"edgetable/core/commitlog"
	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/stores"
)

var (
	// ErrBuilt means that a new store is complete. The server must restart with this store.
	ErrBuilt = errors.New("the store of the secondary was built")
	// errOutdated means that the log in the backup location no longer continues the store. A newer backup can
	// replace the store.
	errOutdated = errors.New("a newer backup replaces the store")
	// errDiverged means that the store has commits that the primary does not have.
	errDiverged = errors.New("the primary was restored to an earlier moment, or another store has taken over the backup location: this secondary has commits that the primary does not have, so it no longer follows. " +
		"If this secondary has the better data, promote it with 'edgetable promote'; otherwise remove all files in its data directory and start the secondary again")
)

// Follower applies the log that a primary ships to a backup location (a directory or bucket) to the store of a
// secondary.
type Follower struct {
	table.Store // serves reads; the value is stores.NoStore{} while the first store is built

	repo  *repository.Repository
	with  []age.Identity
	store *pebblestore.Store
	flags *Flags
	dir   string
	log   *slog.Logger
	end   func(cause error) // shuts down the server

	working   sync.Mutex // held while the log is applied and during a promotion
	gap       string     // text of the gap in the log that the last check of the backup location found; "" if none
	looks     int        // number of checks of the backup location since the last full check; if 0, the next check is a full one
	whole     bool       // the next full check lists all pieces of the log; otherwise it lists only those since the hour of the last commit
	backups   repository.Spans
	unread    int  // number of consecutive failures to read the next piece of the log
	promoting bool // a promotion is in progress: then a gap in the log is an error, and the secondary builds no new store

	// The next three fields are about a new store, which is built while the current store serves reads.
	failed  error     // error of the last attempt to build the new store
	attempt int       // number of failed attempts to build the new store
	again   time.Time // time of the next attempt to build the new store

	mu       sync.Mutex
	leads    bool   // the store was promoted, so it is a primary
	built    bool   // a new store is complete and will replace the current store
	stop     func() // cancels the build of a new store; may be nil
	at       commitlog.Position
	caughtUp time.Time // when the store last had all commits in the backup location
	ready    bool      // the field caughtUp was set after the start of this process
	err      error     // error of the last attempt to apply the log
	commits  int64
}

// Open returns the Follower of a complete store, for which Build has returned nil. If the store is a primary, because
// it was promoted or restored, Open returns nil.
func (o *Flags) Open(ctx context.Context, store *pebblestore.Store, dir string, log *slog.Logger, end func(error)) (*Follower, error) {
	at, follows, err := store.Position()
	if err != nil {
		return nil, err
	}
	if !follows {
		if t := store.Timeline(); t.Parent == "" {
			return nil, fmt.Errorf("%s contains a store that is not a secondary: name an empty directory for a secondary", dir)
		}
		log.Warn("this store was promoted, or restored to a moment: it is a primary, and --secondary-of is ignored; remove the flag")
		return nil, nil
	}
	f := o.follower(dir, log, end)
	f.Store, f.store, f.at = store, store, at
	f.repo, f.with, err = o.open(ctx, "secondary-of")
	return f, err
}

func (o *Flags) follower(dir string, log *slog.Logger, end func(error)) *Follower {
	return &Follower{flags: o, dir: dir, log: log, end: end, caughtUp: time.Now(), whole: true, backups: repository.Spans{}}
}

// Unwrap returns the wrapped store. [table.As] calls it to find optional interfaces.
func (f *Follower) Unwrap() table.Store { return f.Store }

// Follows reports whether the store is a secondary. A primary has a nil Follower, for which the result is false.
func (f *Follower) Follows() bool {
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
		return table.Replication{Status: table.Live, LastSync: stores.Now()}
	case f.differsFromPrimary() || f.ready && time.Since(f.caughtUp) > f.flags.MaxLag:
		return table.Replication{Status: table.Unavailable, LastSync: f.at.Synced}
	case f.at.Synced == 0:
		return table.Replication{Status: table.Bootstrap}
	case !f.ready: // since the start, the store never had all commits in the backup location, so its lag is unknown
		return table.Replication{Status: table.Unavailable, LastSync: f.at.Synced}
	}
	return table.Replication{Status: table.Live, LastSync: f.at.Synced}
}

// Status is the state of a secondary, for metrics.
type Status struct {
	Follows  bool
	Behind   time.Duration // time since the store last had all commits in the backup location
	LastSync time.Time     // zero if not known
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

// Ready returns an error if the secondary lags too far behind the primary, or if its lag is unknown.
func (f *Follower) Ready() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.store == nil {
		return stores.ErrUnbuilt
	}
	if !f.leads && (!f.ready || f.differsFromPrimary() || time.Since(f.caughtUp) > f.flags.MaxLag) {
		return errors.Join(stores.ErrBehind, f.err)
	}
	return nil
}

// differsFromPrimary reports whether the store certainly differs from the primary. Such a store lacks commits that are
// not in the log, or it has commits that the primary does not have.
func (f *Follower) differsFromPrimary() bool {
	return errors.Is(f.err, errDiverged) || errors.As(f.err, new(*repository.Gap)) || errors.As(f.err, new(*repository.DamagedPiece))
}

// Serve applies the log until ctx ends or the store is promoted.
func (f *Follower) Serve(ctx context.Context) {
	var failing time.Time // time of the first of consecutive failures; zero after a success
	told := ""            // text of the last error that was logged
	for ctx.Err() == nil && f.Follows() {
		var err error
		if !f.Unbuilt() {
			err = f.applyShipped(ctx)
		}
		if f.Unbuilt() || errors.Is(err, errOutdated) {
			built, failed := f.buildNext(ctx, err)
			if built {
				f.end(ErrBuilt)
				return
			}
			err = failed
		}
		switch {
		case ctx.Err() != nil || !f.Follows():
			return
		case err != nil:
			if failing.IsZero() {
				failing = time.Now()
			}
			if err.Error() != told {
				told = err.Error()
				if f.Unbuilt() {
					f.log.Error("the secondary cannot be built yet; it tries again", "cause", err)
				} else {
					f.log.Error("the secondary cannot follow", "cause", err)
				}
			}
		case !failing.IsZero():
			f.log.Info("the secondary follows again", "after", time.Since(failing).Round(time.Second))
			failing, told = time.Time{}, ""
		}
		_ = cli.Sleep(ctx, f.flags.every())
	}
}

// buildNext builds a new store while the current store serves reads. The parameter cause is the reason why the current
// store must be replaced. If there is no current store yet, the parameter cause is nil.
func (f *Follower) buildNext(ctx context.Context, cause error) (built bool, err error) {
	if time.Now().Before(f.again) {
		return false, f.failed
	}
	building, stop := context.WithCancel(ctx)
	defer stop()
	f.mu.Lock()
	f.stop = stop
	f.mu.Unlock()
	if cause != nil {
		f.log.Warn("the secondary builds a new store, and serves the current store until the new one is complete", "cause", cause)
	}
	complete := false // a call of prepare is needed if an earlier call failed; the call may itself complete an interrupted replacement
	if f.failed = nil; f.Unbuilt() {
		complete, f.failed = f.flags.prepare(f.dir)
	}
	if f.failed == nil && !complete {
		f.failed = build(building, f.repo, f.with, f.dir, f.at.Number, f.log)
	}
	f.working.Lock() // a promotion must wait until the new store replaces the current store
	defer f.working.Unlock()
	if !f.Follows() {
		return false, os.RemoveAll(filepath.Join(f.dir, newFolder))
	}
	if f.failed == nil && !complete {
		f.failed = commitSwap(f.dir)
	}
	if f.failed != nil {
		f.failLater()
		return false, f.waiting(cause)
	}
	f.mu.Lock()
	f.built = true
	f.mu.Unlock()
	return true, nil
}

// failLater schedules the next attempt to build a store, with exponential backoff.
func (f *Follower) failLater() {
	f.again = time.Now().Add(min(f.flags.every()<<min(f.attempt, 20), slowest))
	f.attempt++
}

// waiting combines two errors. One error says why the log cannot be applied, and the other error says why no
// new store could be built.
func (f *Follower) waiting(cause error) error {
	if cause == nil {
		return f.failed
	}
	return fmt.Errorf("%w; %w", cause, f.failed)
}

// slowest is the maximum delay between two attempts to build a store. The delay grows because each attempt reads
// much data.
const slowest = time.Minute

// applyShipped applies the log that is in the backup location now. It does nothing if the store was promoted.
func (f *Follower) applyShipped(ctx context.Context) error {
	f.working.Lock()
	defer f.working.Unlock()
	if !f.Follows() {
		return nil
	}
	began := time.Now()
	err := f.catchUp(ctx)
	again := errors.Is(err, errSeenOnce)
	if again {
		err = nil
	}
	if err != nil {
		f.looks = 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err = err; err == nil && !again {
		f.caughtUp, f.ready, f.attempt = began, true, 0
	}
	return err
}

// catchUp applies the log that is in the backup location now. It does not wait until no further log arrives, because
// a running primary may always be ahead. While the primary is idle, most calls only list the next piece of the log.
// Every fifth call also reads the timelines (histories of commits). Every thirtieth call reads everything that could
// show that commits are missing.
func (f *Follower) catchUp(ctx context.Context) error {
	for {
		all, before := f.looks == 0, f.at
		list, gap, err := f.listPieces(ctx, all)
		if err != nil {
			return err
		}
		if len(list) == 0 && f.looks%lookAtTimelines != 0 {
			f.looks = (f.looks + 1) % lookAtAll
			return nil
		}
		limit, err := f.limit(ctx)
		if err != nil {
			return err
		}
		if f.at.Timeline != before.Timeline {
			f.looks = 0
			continue
		}
		if f.looks = (f.looks + 1) % lookAtAll; len(list) > 0 {
			f.looks = 1
		}
		if err := f.apply(ctx, list, limit); err != nil {
			return err
		}
		if f.at.Number >= limit {
			f.looks = 0
			continue // continue with the log of the next timeline (history of commits)
		}
		if !all {
			return nil
		}
		if gap == nil && limit < edm.MaxDateTime {
			gap = &repository.Gap{Timeline: f.at.Timeline, After: f.at.Number, Until: limit}
		}
		if gap == nil {
			if gap, err = f.repo.Lacks(ctx, f.at.Timeline, f.at.Number, limit, f.backups); err != nil {
				return err
			}
		}
		if err := f.handleGap(ctx, gap); err != nil {
			return err
		}
		return f.idle(ctx)
	}
}

// idle is called when there is no new log. It advances the field Synced, which is a time: the store has all
// writes before it. If the primary is idle, its backups record a time up to which there were no writes. The method idle
// uses this time.
func (f *Follower) idle(ctx context.Context) error {
	at := f.at
	at.Synced = max(at.Synced, f.backups.Synced(at.Timeline, at.Number))
	if at == f.at {
		return nil
	}
	return f.advance(ctx, at, nil)
}

// listPieces lists the pieces of the log after the last applied commit. If the parameter all is true, it also looks for
// gaps.
func (f *Follower) listPieces(ctx context.Context, all bool) (list []repository.Piece, gap *repository.Gap, err error) {
	if !all {
		list, err = f.repo.Next(ctx, f.at.Timeline, f.at.Number)
		return list, nil, err
	}
	list, gap, err = f.repo.Behind(ctx, f.at.Timeline, f.at.Number, f.whole)
	if err == nil {
		f.whole = false
	}
	return list, gap, err
}

// apply applies consecutive pieces of the log, up to the commit number in the parameter limit.
func (f *Follower) apply(ctx context.Context, list []repository.Piece, limit edm.Ticks) error {
	line := stores.Applier{Apply: f.advance, At: f.at}
	for i := range list {
		if line.At.Number >= limit {
			break
		}
		if list[i].To <= line.At.Number {
			continue // a larger piece of the log that contains these commits was already applied
		}
		p, commits, err := f.repo.ReadPiece(ctx, &list[i], f.with)
		if err != nil {
			return errors.Join(f.flush(ctx, &line), f.handleUnreadable(ctx, err))
		}
		f.unread = 0
		if err := line.Add(ctx, &p, commits, min(p.To, limit)); err != nil {
			return err
		}
	}
	return f.flush(ctx, &line)
}

// flush applies commits that were read but not applied yet.
func (f *Follower) flush(ctx context.Context, line *stores.Applier) error {
	if line.At == f.at {
		return nil
	}
	return line.Flush(ctx)
}

// handleUnreadable decides what to do after a piece of the log could not be read. Usually it returns err, and the next
// check tries again. If the piece is damaged, or was unreadable too many times, handleUnreadable rebuilds the store.
func (f *Follower) handleUnreadable(ctx context.Context, err error) error {
	if _, damaged := errors.AsType[*repository.DamagedPiece](err); damaged {
		return f.rebuild(ctx, err)
	}
	f.looks = 0
	if f.unread++; f.unread < readAtMost {
		return err
	}
	return f.rebuild(ctx, err)
}

// readAtMost is the number of failed attempts to read a piece of the log, while the backup location answers other
// requests. After so many failures, a newer backup replaces the store.
const readAtMost = 30

// Some checks of the backup location find no new log. Every fifth of these checks also reads the timelines (histories
// of commits). Every thirtieth of these checks is a full check, which reads everything.
const lookAtTimelines, lookAtAll = 5, 30

// limit returns the number of the last commit to apply in the current timeline (history of commits). If the store
// already has this commit, limit first switches to the next timeline. Then the result is the last commit to apply in
// that timeline.
func (f *Follower) limit(ctx context.Context) (edm.Ticks, error) {
	for {
		now, err := f.repo.Turn(ctx)
		if err != nil {
			return 0, err
		}
		if now.Timeline == f.at.Timeline {
			return edm.MaxDateTime, nil
		}
		until, next, ok, err := f.repo.Leads(ctx, f.at.Timeline)
		switch {
		case err != nil:
			return 0, err
		case now.Timeline == "":
			return 0, errors.New("the backup location is empty: is its disk mounted?")
		case !ok || f.at.Number > until:
			return 0, errDiverged
		case f.at.Number < until:
			return until, nil
		}
		f.log.Info("the secondary follows another primary", "timeline", next, "from", until.Time())
		if err := f.advance(ctx, commitlog.Position{Timeline: next, Number: f.at.Number, Synced: f.at.Synced}, nil); err != nil {
			return 0, err
		}
	}
}

func (f *Follower) advance(ctx context.Context, to commitlog.Position, commits []commitlog.Commit) error {
	if err := f.store.Replay(ctx, to, commits); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at = to
	f.commits += int64(len(commits))
	return nil
}

// errSeenOnce means that a check of the backup location has found a gap in the log for the first time.
var errSeenOnce = errors.New("the backup location seems to lack a part of the log")

// handleGap decides what to do about a gap after the last piece of the log. A list of objects is not a snapshot, so the
// list may have a gap that the log does not have. So handleGap acts only if two checks in a row find the same gap.
func (f *Follower) handleGap(ctx context.Context, gap *repository.Gap) error {
	if gap == nil {
		f.gap = ""
		return nil
	}
	f.looks = 0 // the next check must be a full one
	if f.gap != gap.Error() {
		f.gap, f.whole = gap.Error(), true
		return errSeenOnce
	}
	return f.rebuild(ctx, gap)
}

var errNoNewer = errors.New("there is no newer backup yet")

// rebuild is called if the log cannot be applied. The reason is passed as the parameter cause. If a newer backup can
// replace the store, rebuild returns errOutdated.
func (f *Follower) rebuild(ctx context.Context, cause error) error {
	f.looks = 0
	if f.promoting {
		return cause
	}
	if time.Now().Before(f.again) {
		return f.waiting(cause)
	}
	plans, err := f.repo.Plans(ctx)
	if err != nil || len(plans) == 0 || plans[0].Base.Log.Low <= f.at.Number {
		f.failed = cmp.Or(err, errNoNewer)
		f.failLater()
		return f.waiting(cause)
	}
	return fmt.Errorf("%w: %w", errOutdated, cause)
}
