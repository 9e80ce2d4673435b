//go:build linux

package main

import (
	"bufio"
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

	"golang.org/x/sys/unix"
)

// attack is one kind of attack on many connections, by strangers without a key or by a hostile account. Connections
// that the server closes are opened again.
type attack struct {
	name        string
	connections int
	request     func() string
	// again is the pause between two requests on a connection. If the pause is 0, a connection sends one request,
	// reads the first bytes of the response, and then reads nothing more.
	again time.Duration
	// ahead is the number of requests that a connection sends before the first response (pipelined); 0 means one.
	ahead int
	// drip is sent every few seconds to continue a request that never ends.
	drip string

	opened, held, answered, refused atomic.Int64
}

// attackers runs all attacks at the same time, each from separate addresses.
type attackers struct {
	o    *options
	s    *server
	ctx  context.Context
	stop context.CancelFunc
	wait sync.WaitGroup
	list []*attack
}

func newAttackers(o *options, s *server) (*attackers, error) {
	a := &attackers{o: o, s: s}
	a.ctx, a.stop = context.WithCancel(context.Background())
	var err error
	a.list, err = attacks(o, s)
	return a, err
}

func (a *attackers) begin() {
	for k, attack := range a.list {
		for i := range attack.connections {
			source := fmt.Sprintf("127.0.%d.%d", 1+k, 2+i%a.o.addresses)
			a.wait.Go(func() {
				a.pause(time.Duration(i) * a.o.reopen / time.Duration(attack.connections)) // a random delay, so that not all connections open at the same time
				for a.ctx.Err() == nil {
					if conn := a.open(source); conn != nil {
						attack.opened.Add(1)
						a.use(attack, conn)
						_ = conn.Close()
					}
					a.pause(a.o.reopen)
				}
			})
		}
	}
}

func (a *attackers) end() {
	a.stop()
	a.wait.Wait()
}

func (a *attackers) pause(d time.Duration) {
	select {
	case <-a.ctx.Done():
	case <-time.After(d):
	}
}

// open opens a connection with a small receive buffer, so that unread responses soon block the server.
func (a *attackers) open(source string) net.Conn {
	d := dialer(source)
	d.Control = func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, 4096) })
	}
	conn, err := a.s.dial(a.ctx, d)
	if err != nil {
		return nil
	}
	return conn
}

// use sends requests over the connection until the server closes the connection.
func (a *attackers) use(k *attack, conn net.Conn) {
	defer context.AfterFunc(a.ctx, func() { _ = conn.Close() })()
	if k.again == 0 {
		a.hold(k, conn)
		return
	}
	r := bufio.NewReader(conn)
	for {
		n := max(1, k.ahead)
		if _, err := io.WriteString(conn, strings.Repeat(k.request(), n)); err != nil {
			return
		}
		for range n {
			resp, err := http.ReadResponse(r, nil)
			if err != nil {
				return
			}
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				return
			}
			k.count(resp.StatusCode == 503)
			if resp.Close {
				return
			}
		}
		a.pause(k.again)
	}
}

func (k *attack) count(refused bool) {
	if refused {
		k.refused.Add(1)
	} else {
		k.answered.Add(1)
	}
}

// tick is how often attackers check a connection that they keep open.
const tick = 3 * time.Second

// hold sends a request, reads the first bytes of the response, if any, and then reads nothing more.
func (a *attackers) hold(k *attack, conn net.Conn) {
	if _, err := io.WriteString(conn, k.request()); err != nil {
		return
	}
	k.held.Add(1)
	if k.drip == "" {
		b := make([]byte, 12)
		if _, err := io.ReadFull(conn, b); err != nil {
			return
		}
		if k.count(strings.HasSuffix(string(b), "503")); strings.HasSuffix(string(b), "503") {
			return
		}
	}
	// Use the function alive to notice that the server has closed the connection. A read would not notice it while
	// received data is left.
	for a.ctx.Err() == nil && alive(conn) {
		a.pause(tick)
		if _, err := io.WriteString(conn, k.drip); k.drip != "" && err != nil {
			return
		}
	}
}

// alive reports whether the connection is open: the other side has not closed it.
func alive(c net.Conn) bool {
	if over, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = over.NetConn()
	}
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		return false
	}
	const established = 1
	ok := false
	_ = raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		ok = err == nil && info.State == established
	})
	return ok
}

func (a *attackers) String() string {
	var b strings.Builder
	b.WriteString("| Attack | Connections | Opened | Requests, begun ones too | Answered | 503 |\n|---|---|---|---|---|---|\n")
	for _, k := range a.list {
		requests := k.held.Load()
		if k.again > 0 {
			requests = k.answered.Load() + k.refused.Load()
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d |\n", k.name, k.connections, k.opened.Load(), requests, k.answered.Load(), k.refused.Load())
	}
	return b.String()
}
