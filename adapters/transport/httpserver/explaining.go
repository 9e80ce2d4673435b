package httpserver

import (
	"errors"
	"io"
	"net"
	"time"
)

// explainingConn is the connection below the TLS layer. It answers plain HTTP requests with status 400, instead of just
// closing the connection.
type explainingConn struct {
	net.Conn
	begun bool // the first bytes have been examined
}

const plainAnswer = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: 57\r\n\r\n" +
	"This port serves HTTPS: write https:// instead of http://\n"

var errPlain = errors.New("plain HTTP on a port of HTTPS")

// Read must not be called concurrently before the handshake has ended.
func (c *explainingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.begun || n == 0 {
		return n, err
	}
	c.begun = true
	if p[0] < 'A' || p[0] > 'Z' { // a TLS handshake begins with the byte 22
		return n, err
	}
	if err := c.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return 0, err
	}
	if _, err := io.WriteString(c.Conn, plainAnswer); err == nil {
		if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
		_, _ = io.CopyN(io.Discard, c.Conn, maxDrain) // unread bytes would cause a reset, which would reach the client before the response
	}
	return 0, errPlain
}
