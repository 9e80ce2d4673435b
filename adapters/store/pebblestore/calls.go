package pebblestore

import "context"

// callPebble calls the function do, which calls Pebble, and waits for the result. While a file operation waits for disk
// space or for a file descriptor, Pebble may hold its locks. Then callPebble returns [table.ErrFull] or [table.ErrBusy]
// at once. It does not start the function, or leaves the running function in the background.
func (s *Store) callPebble(ctx context.Context, do func() error) error {
	if s.disk.Waiting() {
		return s.disk.Shortage()
	}
	done := make(chan error, 1)
	s.calls.Go(func() { done <- do() })
	return s.waitUnlessFull(ctx, done)
}

// waitUnlessFull waits until the channel done has a value or is closed, and returns the value or nil. It returns an error at
// once if file operations wait for disk space or for a file descriptor.
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

// endCalls waits for the Pebble calls in the background. It returns an error if one of these calls waits for disk space.
func (s *Store) endCalls() error {
	done := make(chan error)
	go func() { s.calls.Wait(); close(done) }()
	return s.waitUnlessFull(context.Background(), done)
}

// flush writes the memtables to data files. It returns an error if disk space is missing. Pebble then retries the flush.
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
