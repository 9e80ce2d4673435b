package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"edgetable/adapters/store/postgres"
	"edgetable/core/table"
	"edgetable/testdata/must"
	"edgetable/testdata/postgres/local"
)

// A caller leaves its write when the first bytes of the answer are read and the others are
// still to come, after each number of bytes. The connection stays and carries the next
// write, which gets its own answer and not that of the first. So it is over TLS too, where
// the bytes are parts of a record. The control fails for good after the first read that
// reached its deadline, as a connection over TLS would if it could not be read on: it is
// replaced.
func TestInterrupted(t *testing.T) {
	c := cluster(t, local.Options{})
	certificate := withTLS(t, c)
	for name, dsn := range map[string]string{
		"plain": fmt.Sprintf("host=127.0.0.1 port=%d user=postgres dbname=postgres sslmode=disable", c.Port),
		"TLS":   fmt.Sprintf("host=127.0.0.1 port=%d user=postgres dbname=postgres sslmode=verify-full sslrootcert=%s", c.Port, certificate),
	} {
		for _, control := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/control=%v", name, control), func(t *testing.T) {
				w := &holder{brittle: control}
				s := open(t, c, postgres.Options{DSN: dsn, Schema: schema(t, c), Dial: w.dial}.Watch(time.Hour))
				create(t, s)
				must.OK(t, putLong(t.Context(), s, "entity"))
				least := 10 // of the bytes of an answer
				var used []*holding
				for n := 0; ; {
					h := w.hold(n)
					ctx, leave := context.WithCancel(t.Context())
					outcome := make(chan error, 1)
					go func() { outcome <- putLong(ctx, s, "entity") }()
					select {
					case <-h.waits:
					case err := <-outcome: // the answer has no more bytes
						leave()
						close(h.release)
						must.OK(t, err)
						if w.take() != nil {
							continue // the driver read while it sent, and nothing was held
						}
						if n < least {
							t.Fatalf("an answer has %d bytes", n)
						}
						t.Logf("left after each of %d bytes", n)
						return
					}
					leave()
					if err := <-outcome; !errors.Is(err, table.ErrUnknown) {
						t.Fatalf("after %d bytes: the caller that left got %v", n, err)
					}
					close(h.release)
					// The same entity has the same lane. The answer to the first write would be a success.
					_, err := s.Commit(t.Context(), people, []table.Mutation{{Key: row("p", "entity"), Nonce: 1, Condition: table.Absent, Properties: text("second")}})
					if !errors.Is(err, table.ErrExists) {
						t.Fatalf("after %d bytes: an insert of an entity that exists: %v", n, err)
					}
					if !h.interrupted.Load() {
						continue // the lane was not idle yet, so a goroutine of it had the connection
					}
					if used = append(used, h.conn); control {
						wait(t, "the connection is closed", h.conn.isClosed) // which the driver does by the way
					} else if slices.ContainsFunc(used, (*holding).isClosed) {
						t.Fatalf("after %d bytes: a connection is closed", n)
					}
					n++
				}
			})
		}
		t.Run(name+"/while it is sent", func(t *testing.T) {
			w := new(holder)
			s := open(t, c, postgres.Options{DSN: dsn, Schema: schema(t, c), Dial: w.dial})
			create(t, s)
			must.OK(t, putLong(t.Context(), s, "entity"))
			h := w.holdSent()
			ctx, leave := context.WithCancel(t.Context())
			outcome := make(chan error, 1)
			go func() { outcome <- putLong(ctx, s, "never") }()
			<-h.waits
			leave()
			if err := <-outcome; !errors.Is(err, table.ErrUnknown) {
				t.Errorf("the caller that left got %v", err)
			}
			must.OK(t, putLong(t.Context(), s, "entity"))
			wait(t, "the connection that has sent a part of a request is closed", h.conn.isClosed)
			if _, err := s.Get(t.Context(), people, row("p", "never"), table.Strong); !errors.Is(err, table.ErrNoEntity) {
				t.Errorf("what was not sent whole: %v", err)
			}
		})
	}
}

// long is what a request has at least that is held. Heartbeats are shorter, and so is what a
// new connection prepares.
const long = 30_000

func putLong(ctx context.Context, s table.Store, name string) error {
	_, err := s.Commit(ctx, people, []table.Mutation{{Key: row("p", name), Nonce: 1, Properties: text(strings.Repeat("x", long))}})
	return err
}

// holder makes connections that stop in the middle of an answer or of a request.
type holder struct {
	brittle bool // a connection fails for good after a deadline

	mu   sync.Mutex
	next *held
}

// held is an answer or a request of which only a part passes until release is closed.
type held struct {
	bytes   int           // of an answer that pass
	sent    bool          // it is a request
	waits   chan struct{} // closed when the part has passed and more is to come
	release chan struct{}
	conn    *holding // set before waits is closed

	interrupted atomic.Bool // by a deadline
}

// hold holds the answer to the next long request.
func (w *holder) hold(bytes int) *held { return w.set(&held{bytes: bytes}) }

// holdSent holds the end of the next long request.
func (w *holder) holdSent() *held { return w.set(&held{sent: true}) }

func (w *holder) set(h *held) *held {
	h.waits, h.release = make(chan struct{}), make(chan struct{})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next = h
	return h
}

func (w *holder) take() *held {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := w.next
	w.next = nil
	return h
}

func (w *holder) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	return &holding{Conn: c, holder: w, expired: make(chan struct{})}, err
}

// holding is a connection. Deadlines end the wait for what is held, as they end a read.
type holding struct {
	net.Conn
	holder *holder
	sent   atomic.Int64 // bytes since the last Read
	answer atomic.Pointer[held]

	mu      sync.Mutex
	past    bool          // the deadline is
	expired chan struct{} // closed when past
	closed  bool
}

func (c *holding) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	return c.Conn.Close()
}

func (c *holding) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

func (c *holding) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	past := !t.IsZero() && time.Until(t) <= 0
	switch {
	case past && !c.past:
		close(c.expired)
	case !past && c.past:
		c.expired = make(chan struct{})
	}
	c.past = past
	return c.Conn.SetDeadline(t)
}

// wait waits until the held bytes are released or the deadline has come.
func (c *holding) wait(h *held) error {
	c.mu.Lock()
	expired := c.expired
	c.mu.Unlock()
	select {
	case <-h.waits:
	default:
		h.conn = c
		close(h.waits)
	}
	select {
	case <-h.release:
		return nil
	case <-expired:
		h.interrupted.Store(true)
		return os.ErrDeadlineExceeded
	}
}

func (c *holding) Write(p []byte) (int, error) {
	if sent := c.sent.Add(int64(len(p))); sent < long || sent-int64(len(p)) >= long {
		return c.Conn.Write(p)
	}
	h := c.holder.take()
	if h == nil || !h.sent {
		c.answer.Store(h)
		return c.Conn.Write(p)
	}
	n, err := c.Conn.Write(p[:len(p)/2])
	if err == nil {
		err = c.wait(h)
	}
	if err == nil {
		var rest int
		rest, err = c.Conn.Write(p[n:])
		n += rest
	}
	return n, err
}

func (c *holding) Read(p []byte) (n int, err error) {
	c.sent.Store(0)
	switch h := c.answer.Load(); {
	case h == nil:
		n, err = c.Conn.Read(p)
	case h.bytes > 0:
		n, err = c.Conn.Read(p[:min(h.bytes, len(p))])
		h.bytes -= n
	default:
		if err = c.wait(h); err == nil {
			c.answer.Store(nil)
			return c.Read(p)
		}
	}
	if c.holder.brittle && errors.Is(err, os.ErrDeadlineExceeded) {
		_ = c.Conn.Close() // every later use fails
	}
	return n, err
}
