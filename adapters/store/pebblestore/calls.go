package pebblestore

import "context"

// callPebble runs a call of Pebble and waits for its result. While disk space or a file descriptor is missing, Pebble
// may hold its locks. callPebble then returns [table.ErrFull] or [table.ErrBusy], and the call may continue in the
// background.
func (s *Store) callPebble(ctx context.Context, do func() error) error {
	select {
	case <-s.disk.Stalled():
		return s.disk.Shortage()
	default:
	}
	done := make(chan error, 1)
	s.calls.Go(func() { done <- do() })
	return s.waitUnlessFull(ctx, done)
}

// interruptible runs a change of the store. If interrupt is closed while the change waits for disk space, interruptible
// returns an error, and the change may continue in the background.
func (s *Store) interruptible(interrupt <-chan struct{}, do func() error) error {
	done := make(chan error, 1)
	s.calls.Go(func() { done <- do() })
	return s.await(done, interrupt)
}

// waitUnlessFull returns the next value from the channel, or nil if the channel is closed. It returns an error at once
// while file operations wait for space or a descriptor.
func (s *Store) waitUnlessFull(ctx context.Context, done <-chan error) error {
	select {
	case err := <-done:
		return err
	case <-s.disk.Stalled():
		return s.disk.Shortage()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// endCalls waits for the Pebble calls in the background. It returns an error at once while file operations wait for
// space or a descriptor.
func (s *Store) endCalls() error {
	done := make(chan error)
	go func() { s.calls.Wait(); close(done) }()
	return s.waitUnlessFull(context.Background(), done)
}

// flush writes the memtables to data files. If disk space is missing, it returns an error, and Pebble retries the
// flush.
func (s *Store) flush(ctx context.Context) error {
	flushed := make(chan error)
	err := s.callPebble(ctx, func() error {
		done, err := s.db.AsyncFlush()
		if err == nil {
			go func() { <-done; close(flushed) }()
		}
		return err
	})
	if err != nil {
		return err
	}
	return s.waitUnlessFull(ctx, flushed)
}
