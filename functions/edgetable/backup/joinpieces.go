package backup

import (
	"context"
	"time"

	"edgetable/adapters/backup/repository"
)

// joinEvery is the interval at which the server joins pieces of the shipped log. All pieces of an hour become one object.
const joinEvery = 10 * time.Minute

// joinRecent is the maximum age of the pieces of the shipped log that JoinPieces looks for. Only its first search after a
// start has no maximum age.
const joinRecent = 3 * time.Hour

// JoinPieces joins pieces of the shipped log at intervals until ctx ends. It does nothing while this store does not ship its
// log. A failure is logged, and the next interval tries again.
func (b *Schedule) JoinPieces(ctx context.Context) {
	tick := time.NewTicker(joinEvery)
	defer tick.Stop()
	after := time.Time{} // the zero time: the first search covers all pieces of the log
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if b.paused() || !b.shipper.joined.Load() || b.checkOwner(ctx) != nil {
			continue
		}
		now := time.Now()
		done, err := repository.New(b.run.place).Join(ctx, after, now)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			b.log.Warn("pieces of the log cannot be joined; the server will retry", "cause", err, "again_in", joinEvery)
			continue
		case done.Pieces > 0:
			b.log.Info("pieces of the log were joined", "pieces", done.Pieces, "objects", done.Objects)
		}
		after = now.Add(-joinRecent)
	}
}
