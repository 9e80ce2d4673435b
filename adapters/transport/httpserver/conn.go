package httpserver

import (
	"cmp"
	"container/list"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// conn is the connection of a client, below TLS. It demands progress of the client, and
// rests while no request is under way.
type conn struct {
	net.Conn
	owner *connections
	front net.Conn // what fasthttp serves: TLS, if there is any, and this

	// What follows belongs to the goroutine that reads.
	receiving patience
	quiet     bool // no byte of the next request has come
	first     bool // fasthttp will say that a request begins before a byte of it is read
	ahead     [1]byte
	hasAhead  bool
	rests     atomic.Bool // the end that fasthttp sees is no end
	named     string      // the account of the last request

	// This belongs to the goroutine that writes: the reader, or who closes TLS.
	writing sync.Mutex
	sending patience
	untaken int // bytes that the system held when patience ended last

	readEnd, writeEnd deadline

	party   *party // the client
	account *party // nil until a request was authenticated
	places  [kinds]*list.Element
	working bool
	waits   *list.Element // in the client's line for a request
}

// parkAfter is how long a connection keeps the memory for a request after the last one.
const parkAfter = 100 * time.Millisecond

// renew begins another request.
func (c *conn) renew() {
	c.receiving = patience(mostPatience)
	c.writing.Lock()
	defer c.writing.Unlock()
	c.sending, c.untaken = patience(mostPatience), 0
}

// Read reads what the client sends, as long as there is patience.
func (c *conn) Read(p []byte) (int, error) {
	if c.hasAhead && len(p) > 0 {
		p[0], c.hasAhead, c.quiet = c.ahead[0], false, false
		return 1, nil
	}
	if c.quiet && c.owner.waiting.Load() > 0 { // another one has the next turn
		c.rests.Store(true)
		return 0, os.ErrDeadlineExceeded
	}
	for {
		begin := time.Now()
		left := time.Duration(c.receiving)
		if c.quiet {
			left = parkAfter
		}
		if err := c.readEnd.set(begin, left, c.Conn.SetReadDeadline); err != nil {
			return 0, err
		}
		n, err := c.Conn.Read(p)
		if n > 0 && c.quiet {
			c.quiet = false
			return n, err
		}
		if !c.quiet {
			c.receiving.spend(time.Since(begin), n)
		}
		switch {
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return n, err
		case c.quiet:
			c.rests.Store(true)
			return n, err
		case n > 0 || c.receiving <= 0 || c.readEnd.passed():
			return n, err
		}
	}
}

// Write writes all of p, as long as there is patience.
func (c *conn) Write(p []byte) (n int, err error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	for {
		begin := time.Now()
		if err := c.writeEnd.set(begin, time.Duration(c.sending), c.Conn.SetWriteDeadline); err != nil {
			return n, err
		}
		k, err := c.Conn.Write(p[n:])
		n += k
		if !errors.Is(err, os.ErrDeadlineExceeded) { // usually at once: the system holds it for the client
			c.sending.spend(time.Since(begin), k)
			return n, err
		}
		now := untaken(c.Conn)
		c.sending.spend(time.Since(begin), k+c.untaken-now)
		c.untaken = now
		if c.sending <= 0 || c.writeEnd.passed() {
			return n, err
		}
	}
}

// deadline is when an operation ends at the latest. The system's own is set again only when
// it is much too early or too late: an operation that ends early is tried again.
type deadline struct {
	system time.Time
	until  atomic.Int64 // of those above, in Unix nanoseconds; 0: none
}

func (d *deadline) set(now time.Time, left time.Duration, set func(time.Time) error) error {
	end := now.Add(left)
	if at := d.until.Load(); at != 0 && at < end.UnixNano() {
		end = time.Unix(0, at)
	} else if ahead := d.system.Sub(now); ahead <= left && ahead > left/2 {
		return nil
	}
	d.system = end
	return set(end)
}

// passed reports whether those above have given up.
func (d *deadline) passed() bool {
	at := d.until.Load()
	return at != 0 && time.Now().UnixNano() >= at
}

// The deadlines are for those above TLS that want to give up earlier.

func (c *conn) SetDeadline(t time.Time) error {
	return cmp.Or(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

func (c *conn) SetReadDeadline(t time.Time) error  { return c.readEnd.give(t) }
func (c *conn) SetWriteDeadline(t time.Time) error { return c.writeEnd.give(t) }

func (d *deadline) give(t time.Time) error {
	n := int64(0)
	if !t.IsZero() {
		n = t.UnixNano()
	}
	d.until.Store(n)
	return nil
}

// front is a connection as fasthttp sees it.
type front struct {
	net.Conn // TLS over line, or line itself
	line     *conn
}

// Read ends when the connection rests: fasthttp then gives its memory back.
func (f *front) Read(p []byte) (int, error) {
	n, err := f.Conn.Read(p)
	if n > 0 {
		f.line.quiet = false // also if TLS had it already
	} else if f.line.rests.Load() {
		err = io.EOF
	}
	return n, err
}

// Close closes the connection, or lets it rest.
func (f *front) Close() error {
	if f.line.rests.CompareAndSwap(true, false) {
		f.line.owner.rest(f.line)
		return nil
	}
	f.line.owner.forget(f.line)
	return f.Conn.Close()
}

// fasthttp has one limit for each of these; conn has rules of its own.

func (f *front) SetDeadline(time.Time) error      { return nil }
func (f *front) SetReadDeadline(time.Time) error  { return nil }
func (f *front) SetWriteDeadline(time.Time) error { return nil }

// secure is a front over TLS, which fasthttp knows by its methods.
type secure struct {
	front
	tls *tls.Conn
}

// Handshake also returns when it was done before.
func (s *secure) Handshake() error {
	if s.tls.ConnectionState().HandshakeComplete {
		return nil
	}
	err := s.tls.Handshake()
	s.line.quiet = true
	s.line.renew()
	return err
}

func (s *secure) ConnectionState() tls.ConnectionState { return s.tls.ConnectionState() }

// lineOf returns the connection below a front.
func lineOf(c net.Conn) *conn {
	switch f := c.(type) {
	case *front:
		return f.line
	case *secure:
		return f.line
	}
	return nil
}
