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
	receiving allowance
	quiet     bool          // no byte of the next request has come
	first     bool          // fasthttp will say that a request begins before a byte of it is read
	came      bool          // something did since the last request
	slots     chan struct{} // in which this request has one, if it was sent ahead
	ahead     [1]byte
	hasAhead  bool
	rests     atomic.Bool // the end that fasthttp sees is no end
	named     string      // the account of the last request

	// This belongs to the goroutine that writes: the reader, or who closes TLS.
	writing sync.Mutex
	sending allowance
	untaken int // bytes that the system held when the allowance ended last

	readEnd, writeEnd deadline

	party   *party // the client
	account *party // nil until a request was authenticated
	inList  [kinds]*list.Element
	working bool
	waits   *list.Element // in the client's line for a request
}

// parkAfter is how long a connection keeps the memory for a request after the last one.
const parkAfter = 100 * time.Millisecond

// renew begins another request.
func (c *conn) renew() {
	c.receiving = allowance(fullAllowance)
	c.writing.Lock()
	defer c.writing.Unlock()
	c.sending, c.untaken = allowance(fullAllowance), 0
}

// Read reads what the client sends, as long as there is an allowance.
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
		begin := clock()
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
			c.receiving.spend(clock()-begin, n)
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

// Write writes all of p, as long as there is an allowance.
func (c *conn) Write(p []byte) (n int, err error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	for {
		begin := clock()
		if err := c.writeEnd.set(begin, time.Duration(c.sending), c.Conn.SetWriteDeadline); err != nil {
			return n, err
		}
		k, err := c.Conn.Write(p[n:])
		n += k
		if !errors.Is(err, os.ErrDeadlineExceeded) { // usually at once: the system holds it for the client
			c.sending.spend(clock()-begin, k)
			return n, err
		}
		now := untaken(c.Conn)
		c.sending.spend(clock()-begin, k+c.untaken-now)
		c.untaken = now
		if c.sending <= 0 || c.writeEnd.passed() {
			return n, err
		}
	}
}

// deadline is when an operation ends at the latest. The system's own is set again only when
// it is much too early or too late: an operation that ends early is tried again.
type deadline struct {
	system time.Duration // on the clock; 0: not set
	until  atomic.Int64  // of those above, in Unix nanoseconds; 0: none
}

func (d *deadline) set(now, left time.Duration, set func(time.Time) error) error {
	at := d.until.Load()
	if ahead := d.system - now; at == 0 && d.system != 0 && ahead <= left && ahead > left/2 {
		return nil
	}
	end := time.Now().Add(left)
	d.system = now + left
	if at != 0 && at < end.UnixNano() {
		end, d.system = time.Unix(0, at), 0
	}
	return set(end)
}

// clock is the time since the start. It is read several times for a request, and costs half
// of what time.Now does.
func clock() time.Duration { return time.Since(started) }

var started = time.Now()

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

// goAhead takes a slot for a request that was sent ahead, and reports whether there was one
// in time.
func (c *conn) goAhead(slots chan struct{}) bool {
	c.slots = slots
	select {
	case slots <- struct{}{}:
		return true
	default:
	}
	timer := time.NewTimer(fullAllowance)
	defer timer.Stop()
	select {
	case slots <- struct{}{}:
		return true
	case <-timer.C:
		c.slots = nil
		return false
	}
}

// wentAhead gives the slot back.
func (c *conn) wentAhead() {
	if c.slots != nil {
		<-c.slots
		c.slots = nil
	}
}

// Read ends when the connection rests: fasthttp then gives its memory back.
func (f *front) Read(p []byte) (int, error) {
	f.line.wentAhead() // it waits for the client
	n, err := f.Conn.Read(p)
	if n > 0 {
		f.line.quiet, f.line.came = false, true // also if TLS had it already
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

// fasthttp has one limit for each of these; conn has rules of its own. Only a single request
// has a time to read, see expected.

func (f *front) SetDeadline(time.Time) error       { return nil }
func (f *front) SetReadDeadline(t time.Time) error { return f.line.SetReadDeadline(t) }
func (f *front) SetWriteDeadline(time.Time) error  { return nil }

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
