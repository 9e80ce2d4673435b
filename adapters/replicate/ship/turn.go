package ship

import (
	"context"
	"time"

	"edgetable/core/edm"
)

// These pauses begin at the last write. After each pause, the shipper ships an empty commit, so that LastSyncTime of
// secondaries becomes later than the reply to the write.
//
// The first pause suffices if the reply took less than a second. The second suffices for every reply that a client
// waited for.
var pauses = [...]time.Duration{2 * time.Second, 40 * time.Second}

// shipDurable uploads the commits that are durable on disk.
func (s *Shipper) shipDurable(ctx context.Context, settle time.Duration) error {
	s.watchGap()
	connect := s.resumeShipping
	if s.lost {
		connect = s.resumeAfterLoss
	}
	if s.reader == nil {
		if err := connect(ctx); err != nil {
			return err
		}
		s.pause, s.said = s.now(), 0 // an earlier process may have ended before it made its empty commits
	}
	if err := s.storePiece(ctx); err != nil {
		return err
	}
	written, _ := s.Store.LogWritten()
	waiting, end := context.WithTimeout(ctx, settle)
	now, full := s.now(), false // read the clock after the upload, because the upload may have taken long
	upTo, at, whole := s.Store.AwaitDurable(waiting, now)
	end()
	if _, err := s.pack(ctx, upTo); err != nil {
		return err
	}
	if s.reader == nil {
		return s.shipDurable(ctx, settle)
	}
	if s.piece.Length() > 0 {
		if whole {
			s.synced = edm.TicksOf(at)
		}
		if s.news {
			s.news, s.pause, s.said = false, now, 0
		}
		if err := s.seal(); err != nil {
			return err
		}
		if err := s.storePiece(ctx); err != nil {
			return err
		}
	} else if s.said < len(pauses) && now.Sub(s.pause) >= pauses[s.said] {
		// The newest piece contains a time before which all writes are shipped, but the last reply may be later. So
		// ship an empty commit, whose piece contains a later time. On a full disk this fails, and the next call tries
		// again.
		err := s.Store.Touch(ctx)
		if err == nil {
			s.said++
		}
		full = err != nil
	}
	s.letBackUp(full)
	if whole {
		s.update(func(st *Status) { st.CaughtUp, st.written = now, written })
	}
	if err := s.checkReplaced(ctx, now); err != nil || now.Sub(s.searched) < searchEvery {
		return err
	}
	hole, err := s.findHole(ctx)
	if hole {
		s.stopReading()
	}
	return err
}

// letBackUp allows scheduled backups when all commit numbers issued before this start are shipped, or when the disk is
// full.
//
// At its start, a store skips some commit numbers. Until they are shipped, a backup with these numbers would make a
// secondary conclude that it lacks commits.
func (s *Shipper) letBackUp(diskFull bool) {
	if (diskFull || s.to >= s.Store.Started()) && !s.level.Swap(true) {
		s.Wake() // a scheduled backup may be waiting for this permission
	}
}

// lookEvery is the interval at which a server without writes checks whether it is still the primary. Each upload of a
// piece also checks this.
const lookEvery = 10 * time.Second

// checkReplaced returns an error if another store has replaced this store. It does nothing if the last check was less
// than lookEvery ago.
func (s *Shipper) checkReplaced(ctx context.Context, now time.Time) error {
	if now.Sub(s.looked) < lookEvery {
		return nil
	}
	turn, err := s.Place.LogOwner(ctx)
	if err != nil {
		return err
	}
	if err := turn.Check(s.Store.Timeline().ID, s.term); err != nil {
		return err
	}
	s.looked = now
	return nil
}
