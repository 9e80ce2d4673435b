package backup

import (
	"context"
	"time"

	"edgetable/adapters/backup/repository"
)

// joinEvery is the interval at which the server joins pieces of the log: those of an hour become one.
const joinEvery = 10 * time.Minute

// joinRecent is how far back the server looks for pieces to join, except the first time.
const joinRecent = 3 * time.Hour

// JoinPieces joins pieces of the log while this store ships it, until ctx ends. A failure is logged, and the next
// interval tries again.
func (b *Schedule) JoinPieces(ctx context.Context) {
	tick := time.NewTicker(joinEvery)
	defer tick.Stop()
	after := time.Time{} // the zero time: all pieces
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if b.paused() || !b.shipper.joined.Load() || b.replaced(ctx) != nil {
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
