//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// attackers hold what the server gives them and give nothing back. A connection that the
// server closes is opened again.
type attackers struct {
	o    *options
	s    *server
	sas  string
	ctx  context.Context
	stop context.CancelFunc
	wait sync.WaitGroup

	opened, held, refused atomic.Int64
}

func newAttackers(o *options, s *server) (*attackers, error) {
	token, err := s.sas(o, "Attacked")
	a := &attackers{o: o, s: s, sas: token}
	a.ctx, a.stop = context.WithCancel(context.Background())
	return a, err
}

func (a *attackers) begin() {
	a.many("flood", a.o.flood, func() string { return "GET /_/live HTTP/1.1\r\nHost: h\r\n\r\n" })
	a.many("headers", a.o.flood, func() string { return "GET /evil/Attacked HTTP/1.1\r\nHost: h\r\nX-Slow: " })
	a.many("readers", a.o.readers, func() string {
		return "GET /evil/Attacked()?" + a.sas + " HTTP/1.1\r\nHost: h\r\nAccept: application/json;odata=nometadata\r\n\r\n"
	})
	half := strings.Repeat("x", 20_000)
	a.many("uploads", a.o.uploads, func() string {
		h := http.Header{"Content-Type": {"application/json"}}
		a.s.sign("evil", "/Attacked", h)
		return "POST /evil/Attacked HTTP/1.1\r\nHost: h\r\n" + lines(h) + "Content-Length: 4000000\r\n\r\n" + half
	})
	a.many("batches", a.o.uploads, func() string {
		return "POST /evil/$batch?" + a.sas + " HTTP/1.1\r\nHost: h\r\nContent-Type: multipart/mixed; boundary=batch_1\r\nContent-Length: 4000000\r\n\r\n" + half
	})
}

func lines(h http.Header) string {
	var b strings.Builder
	_ = h.Write(&b)
	return b.String()
}

// many holds n connections, from several addresses.
func (a *attackers) many(kind string, n int, request func() string) {
	if a.o.only != "" && a.o.only != kind {
		return
	}
	for i := range n {
		source := fmt.Sprintf("127.0.0.%d", 2+i%a.o.addresses)
		a.wait.Go(func() {
			for a.ctx.Err() == nil {
				a.hold(source, request())
				select {
				case <-a.ctx.Done():
				case <-time.After(time.Second):
				}
			}
		})
	}
}

// hold sends a request, reads a little and then nothing, until the server closes the
// connection.
func (a *attackers) hold(source, request string) {
	d := dialer(source)
	d.Control = func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) {
			_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096)
		})
	}
	conn, err := d.DialContext(a.ctx, "tcp", a.s.addr)
	if err != nil {
		return
	}
	defer conn.Close()
	defer context.AfterFunc(a.ctx, func() { _ = conn.Close() })()
	a.opened.Add(1)
	if _, err := io.WriteString(conn, request); err != nil {
		return
	}
	b := make([]byte, 15)
	if _, err := io.ReadFull(conn, b); err != nil {
		return
	}
	if strings.Contains(string(b), " 503") {
		a.refused.Add(1)
		return
	}
	a.held.Add(1)
	// The end of the connection shows without a read of what is in front of it.
	for a.ctx.Err() == nil && alive(conn) {
		time.Sleep(time.Second)
	}
}

// alive reports whether the other side has not closed the connection.
func alive(c net.Conn) bool {
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		return false
	}
	ok := false
	_ = raw.Control(func(fd uintptr) {
		info, err := tcpState(int(fd))
		ok = err == nil && info == established
	})
	return ok
}

func (a *attackers) end() {
	a.stop()
	a.wait.Wait()
}

func (a *attackers) String() string {
	return fmt.Sprintf("attackers: %d connections opened, %d held, %d refused with 503", a.opened.Load(), a.held.Load(), a.refused.Load())
}
