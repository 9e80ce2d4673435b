package httpserver

import (
	"cmp"
	"container/list"
	"crypto/tls"
	"edgetable/core/changefeed"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// conn is a client's connection below the TLS layer. It is closed if the client makes no progress. Between requests it
// is parked, and then needs little memory.
type conn struct {
	net.Conn
	owner *connections
	front net.Conn // the connection that fasthttp serves, with or without TLS over this conn

	// The following fields are used only by the goroutine that reads from the connection.
	receiving allowance
	quiet     bool             // no byte of the next request has arrived
	first     bool             // set when fasthttp starts to serve the connection; fasthttp reports StateActive once before it has read a byte
	came      bool             // the client has sent bytes since the last request
	slots     chan struct{}    // the semaphore of the slot that the current pipelined request occupies; nil if it occupies none
	last      []byte           // the bytes that fasthttp has read since the last request, in fasthttp's buffer
	again     *repeatedRequest // a request that has waited for changes and must be served a second time; nil if there is none
	resume    func()           // set by setApart; called after fasthttp has released the connection
	ahead     [1]byte
	hasAhead  bool
	uses      atomic.Int32 // number of further calls of letGo after which resume is called; set by setApart
	rests     atomic.Bool  // the next Read must return EOF to fasthttp, so that the connection can be parked
	named     string       // account of the last request

	// The mutex writing protects the next two fields, because two goroutines may write to the client: one that serves
	// requests, and one that closes TLS.
	writing sync.Mutex
	sending allowance
	untaken int // number of bytes in the system's send buffer when a write last reached the system's deadline

	readEnd, writeEnd deadline

	party   *party
	account *party // account of the last request; nil until a request was authenticated
	inList  [kinds]*list.Element
	working bool
	waits   *list.Element // element in the client's queue of connections with requests
}

// repeatedRequest is a request that waits for changes while its connection is set apart. fasthttp serves it a second
// time after the wait.
type repeatedRequest struct {
	head   []byte // head of the request, which fasthttp reads a second time
	waited *changefeed.Wait
	began  time.Time
}

// parkAfter is how long an idle connection keeps its memory for a request.
const parkAfter = 100 * time.Millisecond

// remember records bytes that fasthttp has read. If the new bytes directly follow the recorded bytes in the same
// buffer, both are recorded. Otherwise the new bytes replace the recorded bytes.
func (c *conn) remember(b []byte) {
	if l := c.last; len(b) > 0 && len(l) < cap(l) && &l[:len(l)+1][len(l)] == &b[0] {
		c.last = l[:len(l)+len(b)]
		return
	}
	c.last = b
}

// letGo must be called when fasthttp ends a use of the connection. It returns false if the connection is not set apart.
//
// A connection that is set apart has two uses: reading requests, and the hijack. The second call starts resume.
func (c *conn) letGo() bool {
	if c.uses.Load() == 0 {
		return false
	}
	if c.uses.Add(-1) == 0 {
		go c.resume()
	}
	return true
}

// renew resets the client's allowance for sending the next request and for receiving the response.
func (c *conn) renew() {
	c.receiving = allowance(fullAllowance)
	c.writing.Lock()
	defer c.writing.Unlock()
	c.sending, c.untaken = allowance(fullAllowance), 0
}

// Read reads from the client. When the client's allowance is used up, Read returns an error.
func (c *conn) Read(p []byte) (int, error) {
	if c.hasAhead && len(p) > 0 {
		p[0], c.hasAhead, c.quiet = c.ahead[0], false, false
		return 1, nil
	}
	if c.quiet && c.owner.waiting.Load() > 0 { // park this idle connection, because a request of another connection is waiting
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
			c.receiving.subtract(clock()-begin, n)
		}
		switch {
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return n, err
		case c.quiet:
			c.rests.Store(true)
			return n, err
		case n > 0 || c.receiving <= 0 || c.readEnd.isPassed():
			return n, err
		}
	}
}

// Write writes all of p. When the client's allowance is used up, Write returns an error.
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
		if !errors.Is(err, os.ErrDeadlineExceeded) { // the system has buffered the bytes, which is the usual case
			c.sending.subtract(clock()-begin, k)
			return n, err
		}
		now := sendQueueBytes(c.Conn)
		c.sending.subtract(clock()-begin, k+c.untaken-now)
		c.untaken = now
		if c.sending <= 0 || c.writeEnd.isPassed() {
			return n, err
		}
	}
}

// deadline is the deadline for reads or writes of a connection. Setting the system's deadline is expensive, so it is
// changed only if it is far too early or too late. An operation that ends too early is repeated.
type deadline struct {
	system time.Duration // the system's deadline, as a time since the start of the process; 0 if it is not set or unknown
	until  atomic.Int64  // the deadline that a layer above has set, in Unix nanoseconds; 0 if there is none
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

// clock returns the time since the process started. It costs half as much as time.Now, and each request calls it
// several times.
func clock() time.Duration { return time.Since(started) }

var started = time.Now()

// isPassed reports whether a layer above has set a deadline that is now in the past.
func (d *deadline) isPassed() bool {
	at := d.until.Load()
	return at != 0 && time.Now().UnixNano() >= at
}

// Layers above this connection, such as TLS, call these methods to end an operation before the allowance is used up.

func (c *conn) SetDeadline(t time.Time) error {
	return cmp.Or(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

func (c *conn) SetReadDeadline(t time.Time) error  { return c.readEnd.setLimit(t) }
func (c *conn) SetWriteDeadline(t time.Time) error { return c.writeEnd.setLimit(t) }

func (d *deadline) setLimit(t time.Time) error {
	n := int64(0)
	if !t.IsZero() {
		n = t.UnixNano()
	}
	d.until.Store(n)
	return nil
}

// front is a client's connection as fasthttp sees it.
type front struct {
	net.Conn // the conn, or TLS over the conn
	line     *conn
}

// acquireSlot waits for a slot for a pipelined request, and reports whether the request got one in time.
func (c *conn) acquireSlot(slots chan struct{}) bool {
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

func (c *conn) releaseSlot() {
	if c.slots != nil {
		<-c.slots
		c.slots = nil
	}
}

// Read reads from the connection. It returns EOF to park the connection, because fasthttp then releases the
// connection's memory.
func (f *front) Read(p []byte) (int, error) {
	f.line.releaseSlot() // no slot is held while the server waits for the client
	if a := f.line.again; a != nil && a.head != nil {
		f.line.last = p[:copy(p, a.head)] // p is large enough, because a buffer of the same size held the head before
		f.line.quiet, f.line.came, a.head = false, true, nil
		return len(f.line.last), nil
	}
	n, err := f.Conn.Read(p)
	f.line.remember(p[:max(n, 0)])
	if n > 0 {
		f.line.quiet, f.line.came = false, true // line.Read does not set these fields if TLS had the bytes in its buffer
	} else if f.line.rests.Load() {
		err = io.EOF
	}
	return n, err
}

// Close closes the connection. After Read has returned EOF to park the connection, Close parks it instead.
func (f *front) Close() error {
	if f.line.letGo() {
		return nil
	}
	if f.line.rests.CompareAndSwap(true, false) {
		f.line.owner.parkConn(f.line)
		return nil
	}
	f.line.owner.forget(f.line)
	return f.Conn.Close()
}

// fasthttp calls these methods to limit reads and writes. A conn has its own limit, so SetDeadline and SetWriteDeadline
// do nothing. SetReadDeadline must work, because expected.configureBody limits the wait for a body with it.

func (f *front) SetDeadline(time.Time) error       { return nil }
func (f *front) SetReadDeadline(t time.Time) error { return f.line.SetReadDeadline(t) }
func (f *front) SetWriteDeadline(time.Time) error  { return nil }

// secure is a front over TLS. fasthttp recognizes TLS by the methods of this type.
type secure struct {
	front
	tls *tls.Conn
}

// Handshake performs the TLS handshake, unless it is complete.
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

// lineOf returns the conn below a front, or nil if c is not a front.
func lineOf(c net.Conn) *conn {
	switch f := c.(type) {
	case *front:
		return f.line
	case *secure:
		return f.line
	}
	return nil
}
