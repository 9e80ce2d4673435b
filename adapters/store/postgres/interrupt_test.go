package postgres_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"edgetable/adapters/store/postgres"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

// TestInterrupted checks a caller whose context ends while a request, or the reply to it, is
// only partly transmitted. The write must still be applied completely. The connection must
// stay open, and the next write on it must get its own reply and not that of the first
// write.
func TestInterrupted(t *testing.T) {
	for name, part := range map[string]*held{"request": {sent: true}, "answer": {}, "end of the answer": {bytes: 7}} {
		t.Run(name, func(t *testing.T) {
			w := new(holder)
			s := open(t, shared, postgres.Options{Schema: newSchema(t, shared), Dial: w.dial}.Watch(time.Hour))
			create(t, s)
			must.OK(t, putLong(t.Context(), s, "entity"))
			h := w.hold(part)
			ctx, leave := context.WithCancel(t.Context())
			outcome := make(chan error, 1)
			go func() { outcome <- putLong(ctx, s, "left") }()
			<-h.waits
			leave()
			if err := <-outcome; !errors.Is(err, table.ErrUnknown) {
				t.Errorf("the caller that left got %v", err)
			}
			close(h.release)
			// If the second write got the reply to the first write, the second write would succeed.
			_, err := s.Commit(t.Context(), people, []table.Mutation{{Key: row("p", "left"), Nonce: 1, Condition: table.Absent, Properties: text("second")}})
			if !errors.Is(err, table.ErrExists) {
				t.Errorf("an insert of the entity that was left: %v", err)
			}
			if h.conn.closed.Load() {
				t.Error("the connection is closed")
			}
		})
	}
}

// long is the minimum size of a request that holder can hold back. Heartbeats are shorter.
const long = 30_000

func putLong(ctx context.Context, s table.Store, name string) error {
	_, err := s.Commit(ctx, people, []table.Mutation{{Key: row("p", name), Nonce: 1, Properties: text(strings.Repeat("x", long))}})
	return err
}

// holder makes connections that can stop in the middle of a request or of a reply.
type holder struct {
	mu   sync.Mutex
	next *held
}

// held is a long request, or the reply to a long request. A connection transmits only a part
// of it until release is closed.
type held struct {
	sent    bool          // true: the second half of the request is held back; false: the reply is held back
	bytes   int           // number of bytes of the reply that are not held back
	waits   chan struct{} // closed when the first part was transmitted
	release chan struct{}
	conn    *holding // set before the channel in the field waits is closed
}

// hold makes the next long request, or the reply to it, stop in the middle.
func (w *holder) hold(h *held) *held {
	h.waits, h.release = make(chan struct{}), make(chan struct{})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next = h
	return h
}

// holdSent makes the next long request stop in the middle.
func (w *holder) holdSent() *held { return w.hold(&held{sent: true}) }

func (w *holder) take() *held {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := w.next
	w.next = nil
	return h
}

func (w *holder) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	return &holding{Conn: c, holder: w}, err
}

type holding struct {
	net.Conn
	holder *holder
	sent   atomic.Int64         // bytes written since the last Read
	parses atomic.Bool          // whether the request prepares statements, as the long request of a new connection
	answer atomic.Pointer[held] // the reply that is held back, if any
	closed atomic.Bool
}

func (c *holding) Close() error {
	c.closed.Store(true)
	return c.Conn.Close()
}

func (c *holding) wait(h *held) {
	h.conn = c
	close(h.waits)
	<-h.release
}

func (c *holding) Write(p []byte) (int, error) {
	sent := c.sent.Add(int64(len(p)))
	before := sent - int64(len(p))
	if before == 0 {
		c.parses.Store(p[0] == 'P')
	}
	if sent < long || before >= long || c.parses.Load() {
		return c.Conn.Write(p)
	}
	h := c.holder.take()
	if h == nil || !h.sent {
		c.answer.Store(h)
		return c.Conn.Write(p)
	}
	n, err := c.Conn.Write(p[:len(p)/2])
	if err != nil {
		return n, err
	}
	c.wait(h)
	m, err := c.Conn.Write(p[n:])
	return n + m, err
}

func (c *holding) Read(p []byte) (n int, err error) {
	c.sent.Store(0)
	h := c.answer.Load()
	if h != nil && h.bytes > 0 {
		n, err = c.Conn.Read(p[:min(h.bytes, len(p))])
		h.bytes -= n
		return n, err
	}
	if h != nil {
		c.answer.Store(nil)
		c.wait(h)
	}
	return c.Conn.Read(p)
}
