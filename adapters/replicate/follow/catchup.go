package follow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"edgetable/adapters/backup/repository"
	"edgetable/core/commitlog"
	"edgetable/core/edm"
)

// applyShipped applies the log that is in the backup location now. It does nothing if the store was promoted.
func (f *Follower) applyShipped(ctx context.Context) error {
	f.working.Lock()
	defer f.working.Unlock()
	if !f.IsFollowing() {
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

// catchUp applies the log that is in the backup location now. It does not wait for the end of the log, because a
// running primary may always be ahead.
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
			continue // continue with the next timeline
		}
		if !all {
			return nil
		}
		if gap == nil && limit < edm.MaxDateTime {
			gap = &repository.Gap{Timeline: f.at.Timeline, Above: f.at.Number, UpTo: limit}
		}
		if gap == nil {
			if gap, err = f.from.Place.FindGap(ctx, f.at.Timeline, f.at.Number, limit, f.backups); err != nil {
				return err
			}
		}
		if err := f.handleGap(ctx, gap); err != nil {
			return err
		}
		return f.advanceIdle(ctx)
	}
}

// advanceIdle is called when there is no new log. It advances Synced if a backup shows that the primary has made no
// more writes.
func (f *Follower) advanceIdle(ctx context.Context) error {
	at := f.at
	at.Synced = max(at.Synced, f.backups.Synced(at.Timeline, at.Number))
	if at == f.at {
		return nil
	}
	return f.advance(ctx, at, nil)
}

// listPieces lists the pieces of the log after the last applied commit. If all is true, it also looks for gaps.
func (f *Follower) listPieces(ctx context.Context, all bool) (list []repository.Piece, gap *repository.Gap, err error) {
	if !all {
		list, err = f.from.Place.Next(ctx, f.at.Timeline, f.at.Number)
		return list, nil, err
	}
	list, gap, err = f.from.Place.Behind(ctx, f.at.Timeline, f.at.Number, f.whole)
	if err == nil {
		f.whole = false
	}
	return list, gap, err
}

// apply applies consecutive pieces of the log, up to the commit number limit.
func (f *Follower) apply(ctx context.Context, list []repository.Piece, limit edm.Ticks) error {
	line := applier{apply: f.advance, at: f.at}
	for i := range list {
		if line.at.Number >= limit {
			break
		}
		if list[i].To <= line.at.Number {
			continue // an earlier piece contains all commits of this piece
		}
		p, commits, err := f.from.Place.ReadPiece(ctx, &list[i], f.from.Keys)
		if err != nil {
			return errors.Join(f.flush(ctx, &line), f.handleUnreadable(ctx, err))
		}
		f.unread = 0
		if err := line.add(ctx, &p, commits, min(p.To, limit)); err != nil {
			return err
		}
	}
	return f.flush(ctx, &line)
}

// flush applies the pending commits.
func (f *Follower) flush(ctx context.Context, line *applier) error {
	if line.at == f.at {
		return nil
	}
	return line.flush(ctx)
}

// handleUnreadable returns err for a piece of the log that must be read again. If the piece is damaged, or reads of it
// failed too often, handleUnreadable requests a new store.
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

// readAtMost is the number of failed reads of a piece of the log after which a new store is built. The backup location
// must have responded each time.
const readAtMost = 30

// Of the checks that find no new log, every fifth also reads the timelines (histories of commits), and every thirtieth
// is a full check.
const lookAtTimelines, lookAtAll = 5, 30

// limit returns the number of the last commit to apply in the current timeline (history of commits), or in the next one
// if the store already has this commit.
func (f *Follower) limit(ctx context.Context) (edm.Ticks, error) {
	for {
		now, err := f.from.Place.LogOwner(ctx)
		if err != nil {
			return 0, err
		}
		if now.Timeline == f.at.Timeline {
			return edm.MaxDateTime, nil
		}
		until, next, ok, err := f.from.Place.PathToNewest(ctx, f.at.Timeline)
		switch {
		case err != nil:
			return 0, err
		case now.Timeline == "":
			return 0, errors.New("the backup location is empty: is its disk mounted?")
		case !ok || f.at.Number > until:
			return 0, f.diverged(ctx)
		case f.at.Number < until:
			return until, nil
		}
		f.o.Log.Info("the secondary follows another primary", "timeline", next, "from", until.Time())
		if err := f.advance(ctx, commitlog.Position{Timeline: next, Number: f.at.Number, Synced: f.at.Synced}, nil); err != nil {
			return 0, err
		}
	}
}

// diverged returns the reason why the newest timeline does not continue the store.
func (f *Follower) diverged(ctx context.Context) error {
	store, err := f.store.Identity()
	if err != nil {
		return err
	}
	if err := f.from.Place.CheckStore(ctx, store); errors.Is(err, repository.ErrOtherStore) {
		return errOtherStore
	}
	return errDiverged
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

// handleGap handles a gap after the last piece of the log. It acts only if two checks find the same gap, because a
// listing is not a snapshot.
func (f *Follower) handleGap(ctx context.Context, gap *repository.Gap) error {
	if gap == nil {
		f.gap = ""
		return nil
	}
	f.looks = 0 // the next check must be a full check
	if f.gap != gap.Error() {
		f.gap, f.whole = gap.Error(), true
		return errSeenOnce
	}
	return f.rebuild(ctx, gap)
}

var errNoNewer = errors.New("there is no newer backup yet")

// rebuild handles a log that cannot be applied, for the reason in the error cause. If a newer backup can replace the
// store, rebuild returns errOutdated.
func (f *Follower) rebuild(ctx context.Context, cause error) error {
	f.looks = 0
	if f.promoting {
		return cause
	}
	if time.Now().Before(f.again) {
		return f.joinCauses(cause)
	}
	plans, err := f.from.Place.Plans(ctx)
	if err != nil || len(plans) == 0 || plans[0].Base.Log.Low <= f.at.Number {
		f.failed = cmp.Or(err, errNoNewer)
		f.failLater()
		return f.joinCauses(cause)
	}
	return fmt.Errorf("%w: %w", errOutdated, cause)
}
