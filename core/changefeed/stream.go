package changefeed

import (
	"context"
	"io"
	"time"

	"edgetable/core/multipart"
	"edgetable/core/table"
)

const (
	// longestStream is how long a stream goes on: then its client signs in again, so that what was allowed once and is
	// not any more ends by then.
	longestStream = 15 * time.Minute
	// heartbeat is the longest silence in a stream.
	heartbeat = 15 * time.Second
	// streamBytes is the size of the pages of a stream, which are in memory while their client reads them.
	streamBytes = 64 << 10
)

var errNoStream = table.NotImplemented.With("The requested operation is not implemented on the specified resource. The server has no streams of events: ask without Accept: text/event-stream.")

// Stream returns the answer that goes on. Its first page was read, so that errors have their status.
func (f *Feed) Stream(ctx context.Context) (*Stream, error) {
	if !f.waits() {
		return nil, errNoStream
	}
	p, err := f.read(ctx, streamBytes)
	if err == nil {
		err = f.Waiters.enter(f.Of.Account)
	}
	if err != nil {
		return nil, err
	}
	s := &Stream{feed: f, page: p}
	s.ctx, s.cancel = f.WithTimeout(f.Until, f.permitted(longestStream))
	s.text = append(s.own[:0], "retry: 2000\n"...)
	if s.position(); len(p.Commits) > 0 {
		s.text = append(s.own[:0], "retry: 2000\n\n"...)
	}
	return s, nil
}

// Stream is an answer with server-sent events that goes on while its client reads. One goroutine reads and closes it.
type Stream struct {
	feed   *Feed
	ctx    context.Context
	cancel context.CancelFunc
	page   page
	shown  int    // commits of the page
	text   []byte // to be read next
	own    [256]byte
	ended  bool
	closed bool
}

// StreamHeader is the header of a stream. Proxies do not keep what they get of it.
func StreamHeader() multipart.Header {
	return multipart.Header{
		{Name: "Content-Type", Value: "text/event-stream"},
		{Name: "Cache-Control", Value: "no-store"},
		{Name: "X-Accel-Buffering", Value: "no"},
	}
}

// Read waits for events, or for the next sign of life.
func (s *Stream) Read(b []byte) (int, error) {
	for len(s.text) == 0 {
		if s.ended || s.ctx.Err() != nil {
			return 0, io.EOF
		}
		if s.shown < len(s.page.Commits) {
			s.text = s.page.frames(s.text[:0], s.shown)
			s.ended = s.page.Commits[s.shown].Dropped
			s.shown++
			continue
		}
		s.next()
	}
	n := copy(b, s.text)
	if s.text = s.text[n:]; len(s.text) == 0 {
		s.text = nil // large commits are not kept
	}
	return n, nil
}

// next reads the next page, which is there or is waited for. An error ends the stream: the client asks again with its
// last position, and is told.
func (s *Stream) next() {
	f := s.feed
	if !s.page.More {
		s.page.Commits = nil
		until, cancel := f.WithTimeout(s.ctx, heartbeat)
		err := f.Service.AwaitChanges(until, f.Of, s.page.Next)
		quiet := until.Err() != nil
		if cancel(); quiet {
			s.text = s.own[:0]
			s.position()
			return
		}
		if s.ended = err != nil; s.ended {
			return
		}
	}
	f.From, f.Oldest = &s.page.Next, false
	err := f.Begin(s.ctx)
	if err == nil {
		s.page, err = f.read(s.ctx, streamBytes)
		s.shown = 0
		f.End()
	}
	s.ended = err != nil
}

// position appends the position as an event without data, which browsers remember and do not show.
func (s *Stream) position() {
	s.text = append(append(append(s.text, ": \nid: "...), Token(s.feed.Of, &s.page.Next)...), "\n\n"...)
}

// Close ends the stream.
func (s *Stream) Close() error {
	if !s.closed {
		s.closed = true
		s.cancel()
		s.feed.Waiters.leave(s.feed.Of.Account)
	}
	return nil
}
