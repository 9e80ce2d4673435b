// Package pipes provides a listener for tests in a synctest bubble, where network connections do not work. Its
// connections have no buffers, so a write blocks at once if the client does not read.
package pipes

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// Listener accepts the connections that Connect opens.
type Listener struct {
	waiting chan net.Conn
	closed  sync.Once
	open    atomic.Int64
}

// Listen returns a new listener.
func Listen() *Listener { return &Listener{waiting: make(chan net.Conn)} }

// Open returns the number of connections that the server has accepted and not closed.
func (l *Listener) Open() int { return int(l.open.Load()) }

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	c, ok := <-l.waiting
	if !ok {
		return nil, net.ErrClosed
	}
	l.open.Add(1)
	return c, nil
}

// Close implements net.Listener.
func (l *Listener) Close() error {
	l.closed.Do(func() { close(l.waiting) })
	return nil
}

// Addr implements net.Listener.
func (l *Listener) Addr() net.Addr { return &net.TCPAddr{} }

// Connect opens a connection from an address; "" means a local socket. Connect returns when the server has
// accepted the connection.
func (l *Listener) Connect(address string) *Client {
	near, far := net.Pipe()
	var from net.Addr = &net.UnixAddr{}
	if address != "" {
		from = &net.TCPAddr{IP: net.ParseIP(address), Port: 1}
	}
	l.waiting <- &end{Conn: far, from: from, of: l}
	return &Client{near, bufio.NewReader(near)}
}

// end is the server's end of a connection.
type end struct {
	net.Conn
	from net.Addr
	of   *Listener
	once sync.Once
}

func (e *end) RemoteAddr() net.Addr { return e.from }

func (e *end) Close() error {
	e.once.Do(func() { e.of.open.Add(-1) })
	return e.Conn.Close()
}

// Client is the client's end of a connection.
type Client struct {
	net.Conn
	answers *bufio.Reader
}

// Ask sends a request.
func (c *Client) Ask(path string) error {
	_, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: h\r\n\r\n", path)
	return err
}

// Get sends a request, reads the response, and returns its status, or 0 if the connection was closed.
func (c *Client) Get(path string) int {
	if c.Ask(path) != nil {
		return 0
	}
	resp, err := http.ReadResponse(c.answers, nil)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return 0
	}
	return resp.StatusCode
}
