package pebblestore

import "context"

// call runs do, which calls Pebble, and waits for its result. While a file operation waits for disk space or for a
// file descriptor, Pebble may hold its locks. In this case call does not start do, or leaves do running in the
// background, and returns [table.ErrFull] or [table.ErrBusy].
func (s *Store) callPebble(ctx context.Context, do func() error) error {
	if s.disk.Waiting() {
		return s.disk.Shortage()
	}
	done := make(chan error, 1)
	s.calls.Go(func() { done <- do() })
	return s.waitUnlessFull(ctx, done)
}

// unlessFull waits until done has a value or is closed, and returns the value or nil. If file operations wait for disk
// space or for a file descriptor, it returns an error instead of waiting.
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

// endCalls waits for the calls of Pebble that run in the background. If they wait for disk space, it returns an error.
func (s *Store) endCalls() error {
	done := make(chan error)
	go func() { s.calls.Wait(); close(done) }()
	return s.waitUnlessFull(context.Background(), done)
}

// flush writes the content of the log to data files. It returns an error if disk space is missing; Pebble then retries.
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
