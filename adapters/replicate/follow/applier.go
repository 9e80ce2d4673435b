package follow

import (
	"context"
	"errors"
	"fmt"

	"edgetable/adapters/backup/repository"
	"edgetable/core/commitlog"
	"edgetable/core/edm"
)

// applier applies the pieces of a shipped log to a store. It combines small pieces, because each call of apply waits
// for the disk.
type applier struct {
	// apply applies commits to the store; see [Replica].
	apply func(ctx context.Context, to commitlog.Position, commits []commitlog.Commit) error
	at    commitlog.Position // position of the store after all added pieces of the log are applied

	commits []commitlog.Commit // pending commits of the added pieces
	size    int
}

// applyAtOnce is the approximate size, in bytes, of the commits that are applied together.
const applyAtOnce = 4 << 20

// errMixed means that two servers with copies of one data directory ship their logs to the same timeline. Each copy
// lacks the writes of the other.
var errMixed = errors.New("two servers with copies of one data directory ship their logs to the backup location, and their writes are mixed: stop one of the servers, and restart the other with 'edgetable promote --take-over'")

// add adds the commits of a piece of the log that the store does not have yet, up to the commit number maxNumber.
func (a *applier) add(ctx context.Context, p *repository.Piece, commits []commitlog.Commit, maxNumber edm.Ticks) error {
	if p.Timeline == a.at.Timeline && maxNumber <= a.at.Number {
		return nil // an earlier piece contains all commits of this piece
	}
	if term := p.Term; p.Timeline != a.at.Timeline || a.at.Term.Number == 0 {
		a.at.Term = term
	} else if term != a.at.Term && p.Term.Number > 0 {
		if repository.ProvesCopies(a.at.Synced, a.at.Term, p) {
			return fmt.Errorf("after %s: %w", a.at.Number, errMixed)
		}
		a.at.Term = term
	}
	for _, c := range commits {
		if c.Number > a.at.Number && c.Number <= maxNumber {
			a.commits = append(a.commits, c)
			a.size += len(c.Record)
		}
	}
	a.at.Timeline, a.at.Number = p.Timeline, maxNumber
	// When the whole piece is applied, the store has all writes from before the time Synced. This time decreases if the
	// clock of the primary is set back.
	if maxNumber == p.To && p.Synced > 0 {
		a.at.Synced = p.Synced
	}
	if a.size < applyAtOnce {
		return nil
	}
	return a.flush(ctx)
}

// flush applies the pending commits.
func (a *applier) flush(ctx context.Context) error {
	err := a.apply(ctx, a.at, a.commits)
	a.commits, a.size = nil, 0
	return err
}
