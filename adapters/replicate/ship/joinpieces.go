package ship

import (
	"context"
	"time"
)

// joinEvery is the interval at which the server looks for pieces of the shipped log to join. The pieces of each hour
// become one object.
const joinEvery = 10 * time.Minute

// joinRecent is the maximum age of the pieces that JoinPieces joins. The first search of JoinPieces after a start has
// no maximum age.
const joinRecent = 3 * time.Hour

// JoinPieces joins pieces of the shipped log at intervals until ctx is done. It pauses while this store does not ship
// its log, or while paused returns true.
func (s *Shipper) JoinPieces(ctx context.Context, paused func() bool) {
	tick := time.NewTicker(joinEvery)
	defer tick.Stop()
	after := time.Time{} // with the zero time, the first search covers all pieces of the log
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if paused() || !s.joined.Load() || s.CheckOwner(ctx) != nil {
			continue
		}
		now := time.Now()
		done, err := s.Place.Join(ctx, after, now)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.Log.Warn("pieces of the log cannot be joined; the server will retry", "cause", err, "again_in", joinEvery)
			continue
		case done.Pieces > 0:
			s.Log.Info("pieces of the log were joined", "pieces", done.Pieces, "objects", done.Objects)
		}
		after = now.Add(-joinRecent)
	}
}
