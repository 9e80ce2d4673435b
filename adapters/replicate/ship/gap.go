package ship

import (
	"context"
	"time"

	"edgetable/adapters/backup/repository"
)

// searchEvery is the interval at which a server looks for a hole in the shipped log.
const searchEvery = 10 * time.Minute

// findHole reports whether the shipped log has a hole after the newest backup, so that a new backup is needed. Two
// searches must find the same hole, because a listing of objects is not a snapshot.
func (s *Shipper) findHole(ctx context.Context) (bool, error) {
	var first *repository.Gap
	for {
		gap, err := s.Place.Hole(ctx, s.Store.Timeline().ID, s.base, s.to, first != nil, s.spans)
		if err != nil {
			return false, err
		}
		if s.searched = s.now(); gap == nil {
			return false, nil
		}
		if first != nil && *first == *gap {
			s.gap = true
			s.Log.Error("the backup location lacks a part of the log that was shipped before; a new backup is made", "cause", gap)
			return true, nil
		}
		first = gap
	}
}

// stopReading stops reading the log, because the store discarded log files before they were shipped. Shipping can
// continue only after a new backup.
func (s *Shipper) stopReading() {
	s.tellGap()
	s.reader, s.sealed, s.lost = nil, nil, true
}

// watchGap logs an error if the store discarded log files before they were shipped. It works even if the backup location does
// not respond.
func (s *Shipper) watchGap() {
	since := s.Store.Timeline().LogAfter
	if s.since == 0 {
		s.since = max(since, s.Store.Started())
	}
	if s.reader != nil && since > s.packed || s.reader == nil && since > s.since {
		s.tellGap()
	}
}

// tellGap logs that commits are missing from the shipped log. It logs each gap once.
func (s *Shipper) tellGap() {
	if s.gap {
		return
	}
	s.gap = true
	s.Log.Error("the log has a gap, because logs were discarded before they were shipped: a new backup is made as soon as the backup location responds")
	s.update(func(st *Status) { st.GivenUp++ })
}
