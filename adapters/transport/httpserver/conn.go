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

// conn is a client's connection below TLS. It requires the client to make progress, and rests while no request is in
// flight: it then needs no memory for a request.
type conn struct {
	net.Conn
	owner *connections
	front net.Conn // the connection that fasthttp serves: this one, with TLS if enabled

	// The following fields belong to the goroutine that reads.
	receiving allowance
	quiet     bool          // no byte of the next request has arrived
	first     bool          // fasthttp will announce a request before reading a byte of it
	came      bool          // bytes have arrived since the last request
	slots     chan struct{} // holds this request's slot, if the request was pipelined
	last      []byte        // what fasthttp has read since the last request, in its buffer
	again     *again        // the request that is served again next, or nil
	resume    func()        // see setApart
	ahead     [1]byte
	hasAhead  bool
	uses      atomic.Int32 // fasthttp's uses of the connection that have not ended since it was set apart
	rests     atomic.Bool  // the EOF reported to fasthttp means that the connection rests
	named     string       // account of the last request

	// The following fields belong to the goroutine that writes: the reader, or whoever closes TLS.
	writing sync.Mutex
	sending allowance
	untaken int // bytes that the system still held for the client when the allowance last ran out

	readEnd, writeEnd deadline

	party   *party // the client
	account *party // nil until a request was authenticated
	inList  [kinds]*list.Element
	working bool
	waits   *list.Element // element in the client's queue for a turn
}

// again is what a connection that was set apart for a wait remembers of its request.
type again struct {
	head   []byte // fasthttp reads it once more
	waited *changefeed.Wait
	began  time.Time
}

// parkAfter is how long a connection keeps its memory after the last request.
const parkAfter = 100 * time.Millisecond

// remember adds bytes that fasthttp has read to last, if they follow it in the same buffer.
func (c *conn) remember(b []byte) {
	if l := c.last; len(b) > 0 && len(l) < cap(l) && &l[:len(l)+1][len(l)] == &b[0] {
		c.last = l[:len(l)+len(b)]
		return
	}
	c.last = b
}

// letGo is called when fasthttp ends one of its two uses of a connection that is set apart: as one to read requests from,
// and as a hijacked one. It returns false if the connection is not set apart.
func (c *conn) letGo() bool {
	if c.uses.Load() == 0 {
		return false
	}
	if c.uses.Add(-1) == 0 {
		go c.resume()
	}
	return true
}

// renew resets both allowances for the next request.
func (c *conn) renew() {
	c.receiving = allowance(fullAllowance)
	c.writing.Lock()
	defer c.writing.Unlock()
	c.sending, c.untaken = allowance(fullAllowance), 0
}

// Read reads from the client, within the allowance.
func (c *conn) Read(p []byte) (int, error) {
	if c.hasAhead && len(p) > 0 {
		p[0], c.hasAhead, c.quiet = c.ahead[0], false, false
		return 1, nil
	}
	if c.quiet && c.owner.waiting.Load() > 0 { // another connection has the next turn
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

// Write writes all of p, within the allowance.
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
		if !errors.Is(err, os.ErrDeadlineExceeded) { // usually at once, because the system buffers it for the client
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

// deadline is the deadline of a read or write. The system's deadline is changed only when it is far too early or too
// late; an operation that it ends too early is repeated.
type deadline struct {
	system time.Duration // deadline set at the system, on clock's scale; 0 if not set
	until  atomic.Int64  // deadline set by the layers above, in Unix nanoseconds; 0 if none
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

// clock returns the time since the process started. It is read several times per request and costs half as much as
// time.Now.
func clock() time.Duration { return time.Since(started) }

var started = time.Now()

// passed reports whether the deadline of the layers above has passed.
func (d *deadline) passed() bool {
	at := d.until.Load()
	return at != 0 && time.Now().UnixNano() >= at
}

// These deadlines are for layers above TLS that want to give up earlier.

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
	net.Conn // line, or TLS over line
	line     *conn
}

// goAhead takes a slot for a pipelined request, and reports whether it got one in time.
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

// wentAhead returns the slot.
func (c *conn) wentAhead() {
	if c.slots != nil {
		<-c.slots
		c.slots = nil
	}
}

// Read returns EOF when the connection begins to rest, so that fasthttp releases its memory.
func (f *front) Read(p []byte) (int, error) {
	f.line.wentAhead() // it waits for the client now
	if a := f.line.again; a != nil && a.head != nil {
		f.line.last = p[:copy(p, a.head)] // fits, as it did before
		f.line.quiet, f.line.came, a.head = false, true, nil
		return len(f.line.last), nil
	}
	n, err := f.Conn.Read(p)
	f.line.remember(p[:max(n, 0)])
	if n > 0 {
		f.line.quiet, f.line.came = false, true // even if TLS had buffered the bytes
	} else if f.line.rests.Load() {
		err = io.EOF
	}
	return n, err
}

// Close closes the connection, or lets it rest if that is what EOF meant.
func (f *front) Close() error {
	if f.line.letGo() {
		return nil
	}
	if f.line.rests.CompareAndSwap(true, false) {
		f.line.owner.rest(f.line)
		return nil
	}
	f.line.owner.forget(f.line)
	return f.Conn.Close()
}

// fasthttp sets one deadline for each direction; conn has its own rules instead. Only single requests get a read
// deadline; see expected.

func (f *front) SetDeadline(time.Time) error       { return nil }
func (f *front) SetReadDeadline(t time.Time) error { return f.line.SetReadDeadline(t) }
func (f *front) SetWriteDeadline(time.Time) error  { return nil }

// secure is a front over TLS. fasthttp recognises TLS by its methods.
type secure struct {
	front
	tls *tls.Conn
}

// Handshake returns nil if the handshake was done before.
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

// lineOf returns the conn below a front, or nil.
func lineOf(c net.Conn) *conn {
	switch f := c.(type) {
	case *front:
		return f.line
	case *secure:
		return f.line
	}
	return nil
}
