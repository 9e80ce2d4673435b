package pebblestore

import "context"

// call calls Pebble, which may hold its locks while a file operation waits for disk
// space or for a file descriptor. Then call returns [table.ErrFull] or [table.ErrBusy], and do
// continues without it.
func (s *Store) call(ctx context.Context, do func() error) error {
	if s.disk.Waiting() {
		return s.disk.Shortage()
	}
	done := make(chan error, 1)
	s.calls.Go(func() { done <- do() })
	return s.unlessFull(ctx, done)
}

// unlessFull returns the first value of a channel, or nil when it is closed. It does
// not wait for disk space.
func (s *Store) unlessFull(ctx context.Context, done <-chan error) error {
	select {
	case err := <-done:
		return err
	case <-s.disk.Stalled():
		return s.disk.Shortage()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// endCalls waits for the calls that continue, but not for disk space.
func (s *Store) endCalls() error {
	done := make(chan error)
	go func() { s.calls.Wait(); close(done) }()
	return s.unlessFull(context.Background(), done)
}

// flush moves the content of the log to data files. A flush that finds no space continues once there is some.
func (s *Store) flush(ctx context.Context) error {
	flushed := make(chan error)
	err := s.call(ctx, func() error {
		done, err := s.db.AsyncFlush()
		if err == nil {
			go func() { <-done; close(flushed) }()
		}
		return err
	})
	if err != nil {
		return err
	}
	return s.unlessFull(ctx, flushed)
}
