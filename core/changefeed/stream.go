package changefeed

import (
	"context"
	"io"
	"time"

	"edgetable/core/edm"
	"edgetable/core/multipart"
	"edgetable/core/table"
)

const (
	// longestStream is the maximum duration of a stream. The client must then send a new signed request, so revoked
	// credentials remain usable for at most this long.
	longestStream = 15 * time.Minute
	// heartbeat is the maximum time between two messages in a stream.
	heartbeat = 15 * time.Second
	// streamBytes is the maximum size of a page in a stream. The page remains in memory until the client has received
	// it.
	streamBytes = 64 << 10
)

var errNoStream = table.NotImplemented.With("The requested operation is not implemented on the specified resource. This server does not support event streams: send the request without Accept: text/event-stream.")

// Stream reads the first page and returns a stream. An error can still be sent as an error response.
func (f *Feed) Stream(ctx context.Context) (*Stream, error) {
	if !f.canWait() {
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
	s.ctx, s.cancel = f.WithTimeout(f.Stopping, f.maxDuration())
	s.text = append(s.own[:0], "retry: 2000\n"...)
	if s.appendPosition(); len(p.Commits) > 0 {
		s.text = append(s.own[:0], "retry: 2000\n\n"...)
	}
	return s, nil
}

// maxDuration returns the maximum duration of a stream, which ends before the credentials of its request expire.
func (f *Feed) maxDuration() time.Duration {
	if f.Expires == 0 {
		return longestStream
	}
	left := min(f.Expires-f.Now(), edm.Ticks(longestStream/100)) // the minimum prevents an overflow of the result
	return max(0, time.Duration(left)*100)
}

// Page returns the events of one page as a complete stream, for transports that cannot keep a stream open. The stream
// ends with a position, with which a browser repeats the request.
func (f *Feed) Page(ctx context.Context) ([]byte, error) {
	p, err := f.read(ctx, streamBytes)
	if err != nil {
		return nil, err
	}
	s := &Stream{feed: f, page: p, text: append([]byte(nil), "retry: 2000\n\n"...)}
	for i := 0; i < len(s.page.Commits); i++ { // appendFrames may shorten the page
		s.text = s.page.appendFrames(s.text, i, f.Service.MostShown())
	}
	s.appendPosition()
	return s.text, nil
}

// Stream is a response with server-sent events that stays open. It is not safe for concurrent use.
type Stream struct {
	feed   *Feed
	ctx    context.Context
	cancel context.CancelFunc
	page   page
	shown  int // number of commits in page that have been encoded
	text   []byte
	own    [256]byte
	ended  bool
	closed bool
}

// StreamHeader returns the response headers of a stream. They tell proxies not to buffer or store the response.
func StreamHeader() multipart.Header {
	return multipart.Header{
		{Name: "Content-Type", Value: "text/event-stream"},
		{Name: "Cache-Control", Value: "no-store"},
		{Name: "X-Accel-Buffering", Value: "no"},
	}
}

// Read implements [io.Reader]. It blocks until there is an event or a heartbeat is due.
func (s *Stream) Read(b []byte) (int, error) {
	if !s.fill() {
		return 0, io.EOF
	}
	n := copy(b, s.text)
	if s.text = s.text[n:]; len(s.text) == 0 {
		s.text = nil // release the memory, which may hold a large commit
	}
	return n, nil
}

// WriteTo implements [io.WriterTo]. It writes each commit with one call and needs no buffer.
func (s *Stream) WriteTo(w io.Writer) (written int64, err error) {
	for err == nil && s.fill() {
		var n int
		n, err = w.Write(s.text)
		written += int64(n)
		s.text = nil
	}
	return written, err
}

// fill blocks until text is not empty. It returns false at the end of the stream.
func (s *Stream) fill() bool {
	for len(s.text) == 0 {
		if s.ended || s.ctx.Err() != nil {
			return false
		}
		if s.shown < len(s.page.Commits) {
			s.text = s.page.appendFrames(s.text[:0], s.shown, s.feed.Service.MostShown())
			s.ended = s.page.Commits[s.shown].Dropped
			s.shown++
			continue
		}
		s.next()
	}
	return true
}

// next reads the next page, and first waits if the feed has no more events. An error ends the stream; the client gets
// the error as a status when it repeats the request.
func (s *Stream) next() {
	f := s.feed
	if !s.page.More {
		s.page.Commits = nil
		until, cancel := f.WithTimeout(s.ctx, heartbeat)
		err := f.Service.AwaitChanges(until, f.Of, s.page.Next)
		quiet := until.Err() != nil
		if cancel(); quiet {
			s.text = s.own[:0]
			s.appendPosition()
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

// appendPosition appends the current position as an event without data. A browser stores the id of the event but does
// not pass the event to the script.
func (s *Stream) appendPosition() {
	s.text = append(append(append(s.text, ": \nid: "...), Token(s.feed.Of, &s.page.Next)...), "\n\n"...)
}

// Close ends the stream. It may be called several times.
func (s *Stream) Close() error {
	if !s.closed {
		s.closed = true
		s.cancel()
		s.feed.Waiters.remove(s.feed.Of.Account)
	}
	return nil
}
