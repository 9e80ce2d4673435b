package pebblestore

import (
	"maps"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/core/table"
)

// try does a file operation until it does not fail for want of space or of a file
// descriptor.
func (s *space) try(do func() error) error {
	err := s.spared(do)
	if !scarce(err) {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	waits := false
	for scarce(err) {
		if noDescriptor(err) || !s.release() {
			if noDescriptor(err) {
				s.lack(err)
			} else {
				s.setFull()
			}
			if s.closing {
				return err
			}
			if !waits {
				waits = true
				s.beginWait()
				defer s.endWait()
			}
			again := s.again
			s.mu.Unlock()
			<-again
			s.mu.Lock()
		}
		s.mu.Unlock()
		err = s.spared(do)
		s.mu.Lock()
	}
	return err
}

func (s *space) beginWait() {
	if s.waiting.Add(1) == 1 {
		close(s.stuck)
	}
}

func (s *space) endWait() {
	if s.waiting.Add(-1) == 0 {
		s.stuck = make(chan struct{})
	}
}

// stalled returns a channel that is closed while operations wait for space.
func (s *space) stalled() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stuck
}

// starve notes that a compaction failed for want of space. Without compactions
// writes would soon have to wait.
func (s *space) starve() {
	if s == nil {
		return // in memory
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	u, _ := s.fs.GetDiskUsage(s.dir)
	// What the compaction has written is free soon, and is not more space than before.
	s.starved = max(1, int64(u.AvailBytes))
	for size := range maps.Values(s.outputs) {
		s.starved += size.Load()
	}
	s.setFull()
	s.countStall()
}

// output notes that a compaction writes a file, and returns its size, to be kept.
func (s *space) output(path string) *atomic.Int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outputs[path] = new(atomic.Int64)
	return s.outputs[path]
}

// outputEnds notes that a file is in use, or is removed.
func (s *space) outputEnds(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.outputs, path)
}

// compacted notes that a compaction succeeded, which wrote these files.
func (s *space) compacted(files []pebble.TableInfo) {
	if s == nil {
		return // in memory
	}
	for _, f := range files {
		s.outputEnds(s.fs.PathJoin(s.dir, f.FileNum.String()+".sst"))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.feed()
}

func (s *space) feed() {
	s.starved = 0
	s.countStall()
}

// stall notes whether Pebble lets writes wait for flushes and compactions.
func (s *space) stall(now bool) {
	if s == nil {
		return // in memory
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stalls = now
	s.countStall()
}

// countStall counts a stall as waiting for space if compactions have none.
func (s *space) countStall() {
	switch counts := s.stalls && s.starved > 0; {
	case counts && !s.counted:
		s.beginWait()
	case !counts && s.counted:
		s.endWait()
	default:
		return
	}
	s.counted = !s.counted
}

// reclaim gives back the space of a dropped table at once if the disk is full. By itself
// Pebble would first try to compact other files, for which there is no space.
func (s *Store) reclaim(i table.Incarnation) {
	if s.space == nil || !s.space.full.Load() {
		return
	}
	prefix := appendPrefix(nil, i)
	s.calls.Go(func() { _ = s.db.Compact(s.ending, prefix, prefixEnd(prefix), false) }) // the space stays taken if it fails
}
