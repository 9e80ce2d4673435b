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
	"edgetable/adapters/store/pebblestore/logship"
	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/stores"
)

var (
	// ErrBuilt means that a new store is ready, with which the server must continue.
	ErrBuilt = errors.New("the store of the secondary was built")
	// errOutdated means that the log does not continue the store, but a backup can replace it.
	errOutdated = errors.New("a newer backup takes its place")
	// errDiverged means that the primary has a different history.
	errDiverged = errors.New("the primary was restored to an earlier moment, or another store has taken over the place: this secondary has commits that the primary does not have, so it no longer follows. " +
		"Promote it if it has the better data; otherwise empty its data directory and start it again")
)

// Follower applies the log in a place to a store.
type Follower struct {
	table.Store // serves reads

	repo  *repository.Repository
	with  []age.Identity
	store *pebblestore.Store
	flags *Flags
	dir   string
	log   *slog.Logger
	end   func(cause error) // shuts the server down

	working   sync.Mutex // held during a turn and during a promotion
	gap       string     // the gap that the last look found
	looks     int        // looks since the last full one or the last piece; 0: the next one is a full look
	whole     bool       // the next look also lists the whole log
	backups   repository.Spans
	unread    int  // how often the next piece could not be read
	promoting bool // a gap is an error, and the store is not rebuilt

	// About the next store, which is built while this one serves.
	failed  error     // of the last attempt
	attempt int       // number of failed attempts
	again   time.Time // time of the next attempt

	mu       sync.Mutex
	leads    bool   // the store was promoted
	built    bool   // the next store replaces this one
	stop     func() // stops building the next store; may be nil
	at       pebblestore.Position
	caughtUp time.Time // when everything in the place was last applied
	ready    bool      // that has happened at least once since the start
	err      error     // error of the last turn
	commits  int64
}

// Open returns the follower of a store made by Build, or nil if the store was promoted.
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

// Unwrap is found by [table.As].
func (f *Follower) Unwrap() table.Store { return f.Store }

// Follows reports whether the store is a secondary. It is false for a nil Follower, which means a primary.
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
	case f.lacks() || f.ready && time.Since(f.caughtUp) > f.flags.MaxLag:
		return table.Replication{Status: table.Unavailable, LastSync: f.at.Synced}
	case f.at.Synced == 0:
		return table.Replication{Status: table.Bootstrap}
	case !f.ready: // since the start, the place has not shown how old the data is
		return table.Replication{Status: table.Unavailable, LastSync: f.at.Synced}
	}
	return table.Replication{Status: table.Live, LastSync: f.at.Synced}
}

// Status is the state of a secondary, for metrics.
type Status struct {
	Follows  bool
	Behind   time.Duration // for how long it has lacked something that the place has, or may have
	LastSync time.Time     // zero if not known
	Commits  int64         // applied since the start
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

// Ready returns an error if the secondary lags too far behind.
func (f *Follower) Ready() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.store == nil {
		return stores.ErrUnbuilt
	}
	if !f.leads && (!f.ready || f.lacks() || time.Since(f.caughtUp) > f.flags.MaxLag) {
		return errors.Join(stores.ErrBehind, f.err)
	}
	return nil
}

// lacks reports whether the store certainly lacks something that the place has, or has something that the place
// lacks.
func (f *Follower) lacks() bool {
	return errors.Is(f.err, errDiverged) || errors.As(f.err, new(*repository.Gap)) || errors.As(f.err, new(*repository.DamagedPiece))
}

// Serve follows until ctx ends, or the store is promoted.
func (f *Follower) Serve(ctx context.Context) {
	var failing time.Time // since when it fails; zero while it follows
	told := ""            // the last cause that was logged
	for ctx.Err() == nil && f.Follows() {
		var err error
		if !f.Unbuilt() {
			err = f.turn(ctx)
		}
		if f.Unbuilt() || errors.Is(err, errOutdated) {
			built, failed := f.renew(ctx, err)
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

// renew builds the next store, because of cause, while this one still serves.
func (f *Follower) renew(ctx context.Context, cause error) (built bool, err error) {
	if time.Now().Before(f.again) {
		return false, f.failed
	}
	building, stop := context.WithCancel(ctx)
	defer stop()
	f.mu.Lock()
	f.stop = stop
	f.mu.Unlock()
	if cause != nil {
		f.log.Warn("the secondary builds another store, and serves the current one until then", "cause", cause)
	}
	complete := false // true if an earlier swap, for which the disk had no space, is finished now
	if f.failed = nil; f.Unbuilt() {
		complete, f.failed = f.flags.prepare(f.dir)
	}
	if f.failed == nil && !complete {
		f.failed = build(building, f.repo, f.with, f.dir, f.at.Number, f.log)
	}
	f.working.Lock() // no promotion can begin from here on
	defer f.working.Unlock()
	if !f.Follows() {
		return false, os.RemoveAll(filepath.Join(f.dir, newFolder))
	}
	if f.failed == nil && !complete {
		f.failed = decide(f.dir)
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

// failLater records a failed attempt, with backoff.
func (f *Follower) failLater() {
	f.again = time.Now().Add(min(f.flags.every()<<min(f.attempt, 20), slowest))
	f.attempt++
}

// waiting returns why the log is not applied, and why no new store replaces this one.
func (f *Follower) waiting(cause error) error {
	if cause == nil {
		return f.failed
	}
	return fmt.Errorf("%w; %w", cause, f.failed)
}

// slowest is the maximum delay between two attempts to build a store, each of which reads a lot.
const slowest = time.Minute

// turn applies what the place has.
func (f *Follower) turn(ctx context.Context) error {
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

// catchUp applies what the place has now. It does not wait for a moment at which the place has nothing more, since a
// primary may always be one piece ahead. An idle secondary usually asks only for the next piece, sometimes also for
// the timeline, and seldom for everything that could show that it lacks something.
func (f *Follower) catchUp(ctx context.Context) error {
	for {
		all, before := f.looks == 0, f.at
		list, gap, err := f.look(ctx, all)
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
			continue // continue on the next timeline
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
		if err := f.missing(ctx, gap); err != nil {
			return err
		}
		return f.idle(ctx)
	}
}

// idle advances the time of a store whose primary writes nothing. Backups that the primary makes meanwhile show the
// time.
func (f *Follower) idle(ctx context.Context) error {
	at := f.at
	at.Synced = max(at.Synced, f.backups.Synced(at.Timeline, at.Number))
	if at == f.at {
		return nil
	}
	return f.advance(ctx, at, nil)
}

// look lists the pieces that continue the log.
func (f *Follower) look(ctx context.Context, all bool) (list []repository.Piece, gap *repository.Gap, err error) {
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

// apply applies consecutive pieces up to a number.
func (f *Follower) apply(ctx context.Context, list []repository.Piece, limit edm.Ticks) error {
	line := stores.Applier{Apply: f.advance, At: f.at}
	for i := range list {
		if line.At.Number >= limit {
			break
		}
		if list[i].To <= line.At.Number {
			continue // an earlier, joined piece contained it
		}
		p, commits, err := f.repo.ReadPiece(ctx, &list[i], f.with)
		if err != nil {
			return errors.Join(f.flush(ctx, &line), f.unreadable(ctx, err))
		}
		f.unread = 0
		if err := line.Add(ctx, &p, commits, min(p.To, limit)); err != nil {
			return err
		}
	}
	return f.flush(ctx, &line)
}

// flush applies what was read but not applied yet.
func (f *Follower) flush(ctx context.Context, line *stores.Applier) error {
	if line.At == f.at {
		return nil
	}
	return line.Flush(ctx)
}

// unreadable decides what to do after a piece could not be read.
func (f *Follower) unreadable(ctx context.Context, err error) error {
	if _, damaged := errors.AsType[*repository.DamagedPiece](err); damaged {
		return f.rebuild(ctx, err)
	}
	f.looks = 0
	if f.unread++; f.unread < readAtMost {
		return err
	}
	return f.rebuild(ctx, err)
}

// readAtMost is how often a piece may be unreadable, while the place responds otherwise, before a newer backup is
// used instead.
const readAtMost = 30

// Of this many looks that found nothing, one also reads the timelines, or everything in the place.
const lookAtTimelines, lookAtAll = 5, 30

// limit returns the number up to which the timeline is followed. There it switches to the next timeline.
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
			return 0, errors.New("the place is empty: is its disk mounted?")
		case !ok || f.at.Number > until:
			return 0, errDiverged
		case f.at.Number < until:
			return until, nil
		}
		f.log.Info("the secondary follows another primary", "timeline", next, "from", until.Time())
		if err := f.advance(ctx, pebblestore.Position{Timeline: next, Number: f.at.Number, Synced: f.at.Synced}, nil); err != nil {
			return 0, err
		}
	}
}

func (f *Follower) advance(ctx context.Context, to pebblestore.Position, commits []logship.Commit) error {
	if err := f.store.Replay(ctx, to, commits); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at = to
	f.commits += int64(len(commits))
	return nil
}

// errSeenOnce means that the last look has found a gap for the first time.
var errSeenOnce = errors.New("the place seems to lack a part of the log")

// missing decides about a gap after the last piece. A list is not a snapshot, so a gap must be seen twice. A
// secondary that may lack something has not caught up.
func (f *Follower) missing(ctx context.Context, gap *repository.Gap) error {
	if gap == nil {
		f.gap = ""
		return nil
	}
	f.looks = 0 // the next look is a full one
	if f.gap != gap.Error() {
		f.gap, f.whole = gap.Error(), true
		return errSeenOnce
	}
	return f.rebuild(ctx, gap)
}

var errNoNewer = errors.New("there is no newer backup yet")

// rebuild finds out whether a backup helps to get past a part of the log that cannot be applied.
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
