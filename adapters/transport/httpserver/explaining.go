package httpserver

import (
	"errors"
	"io"
	"net"
	"time"
)

// explainingConn is below TLS and answers plain HTTP with 400. Otherwise the client would only see the connection
// close.
type explainingConn struct {
	net.Conn
	begun bool // the first bytes were examined
}

const plainAnswer = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: 57\r\n\r\n" +
	"This port serves HTTPS: write https:// instead of http://\n"

var errPlain = errors.New("plain HTTP on a port of HTTPS")

// Read is called by a single goroutine until the handshake is over.
func (c *explainingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.begun || n == 0 {
		return n, err
	}
	c.begun = true
	if p[0] < 'A' || p[0] > 'Z' { // TLS begins with byte 22
		return n, err
	}
	if err := c.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return 0, err
	}
	if _, err := io.WriteString(c.Conn, plainAnswer); err == nil {
		if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
		_, _ = io.CopyN(io.Discard, c.Conn, drained) // a reset would overtake the answer
	}
	return 0, errPlain
}
