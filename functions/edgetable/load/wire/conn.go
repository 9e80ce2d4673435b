package wire

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"
)

// Timeout is the timeout of a request, including its response.
const Timeout = 30 * time.Second

// Request describes a request. Path begins with the Base of the target. It must be escaped, because it is signed and
// sent unchanged.
type Request struct {
	Method string
	Path   []byte
	Query  []byte // escaped query string without "?"; may be empty
	Header string // additional header lines, each with CRLF
	Body   []byte
}

// Conn is a persistent connection. Close may be called concurrently with other methods. Otherwise a Conn is not safe
// for concurrent use.
type Conn struct {
	reader
	ctx      context.Context
	target   Target
	sign     signer
	out      []byte
	deadline time.Time

	mu     sync.Mutex // guards closed and assignments to conn
	conn   net.Conn
	closed bool
}

// Dial connects to a target. If ctx is canceled, later reconnects fail too.
func Dial(ctx context.Context, t Target) (*Conn, error) {
	c := &Conn{ctx: ctx, target: t, reader: reader{r: bufio.NewReaderSize(nil, 64<<10)}, sign: signer{account: t.Account, key: t.key}}
	if err := c.dial(); err != nil {
		return nil, err
	}
	return c, nil
}

// dial opens a connection and replaces the old one.
func (c *Conn) dial() error {
	var nc net.Conn
	var err error
	d := &net.Dialer{Timeout: Timeout}
	if c.target.From != "" {
		d.LocalAddr = &net.TCPAddr{IP: net.ParseIP(c.target.From)}
	}
	if c.target.TLS {
		nc, err = (&tls.Dialer{NetDialer: d}).DialContext(c.ctx, "tcp", c.target.Addr)
	} else {
		nc, err = d.DialContext(c.ctx, "tcp", c.target.Addr)
	}
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		nc.Close()
		return net.ErrClosed
	}
	if c.conn != nil {
		c.conn.Close()
	}
	c.conn, c.closing, c.deadline = nc, false, time.Time{}
	c.r.Reset(nc)
	return nil
}

// Close closes the connection. A request in flight fails.
func (c *Conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	return c.conn.Close()
}

// Do sends req and returns the response. After an error, the Conn must not be used again. If the server closes the
// connection regularly, as nginx does, the next call reconnects.
func (c *Conn) Do(req *Request) (Response, error) {
	if c.closing {
		if err := c.dial(); err != nil {
			return Response{}, fmt.Errorf("connecting again: %w", err)
		}
	}
	now := time.Now()
	// Update the deadline only about once a second, because SetDeadline resets a timer.
	if c.deadline.Sub(now) < Timeout-time.Second {
		c.deadline = now.Add(Timeout)
		if err := c.conn.SetDeadline(c.deadline); err != nil {
			return Response{}, err
		}
	}
	if _, err := c.conn.Write(c.encode(req, now)); err != nil {
		return Response{}, err
	}
	return c.read()
}

// encode encodes the request into a reused buffer, which is sent with a single Write.
func (c *Conn) encode(req *Request, now time.Time) []byte {
	b := append(c.out[:0], req.Method...)
	b = append(b, ' ')
	b = append(b, req.Path...)
	separator := byte('?')
	if len(req.Query) > 0 {
		b = append(append(b, separator), req.Query...)
		separator = '&'
	}
	if c.target.token != "" {
		b = append(append(b, separator), c.target.token...)
	}
	b = append(b, " HTTP/1.1\r\nHost: "...)
	b = append(b, c.target.Host...)
	b = append(b, "\r\nx-ms-version: "...)
	b = append(b, c.target.Version...)
	b = append(b, "\r\n"...)
	if c.target.token == "" {
		b = c.sign.appendHeaders(b, req.Path, now)
	}
	b = append(b, req.Header...)
	if len(req.Body) > 0 || req.Method != "GET" {
		b = append(b, "Content-Length: "...)
		b = strconv.AppendInt(b, int64(len(req.Body)), 10)
		b = append(b, "\r\n"...)
	}
	b = append(b, "\r\n"...)
	b = append(b, req.Body...)
	c.out = b
	return b
}
