//go:build linux

package httpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"testing"

	"edgetable/adapters/transport/httpserver"
	"edgetable/core/protocol"
	"edgetable/testdata/must"
)

// waiter returns a handler for requests that wait. A request waits until the test sends an element to a channel
// (let), or until the request's context ends. If the context ends, the handler sends an element to another channel
// (gone).
func waiter(begun chan<- struct{}, let <-chan struct{}, gone chan<- struct{}) protocolFunc {
	return func(_ context.Context, req *protocol.Request) protocol.Response {
		if req.Stopping == nil { // the request was pipelined; such a request gets no Stopping, because it must not wait
			return protocol.Response{Status: 204}
		}
		until, cancel := context.WithCancel(req.Stopping) // derive a context, because protocol.Handler also derives one, with a timeout
		defer cancel()
		done := until.Done()
		begun <- struct{}{}
		select {
		case <-let:
		case <-done:
			gone <- struct{}{}
		}
		return protocol.Response{Status: 204}
	}
}

const poll = "GET /acme/people?comp=changes&since=x&wait=30 HTTP/1.1\r\nHost: h\r\n\r\n"

// TestLeaving checks a request that waits for changes. The request must end when its client closes the connection,
// also with TLS and with unread bytes on the connection. A client that only waits sends nothing. So its connection
// must stay open longer than the time that a client otherwise has for sending a request.
func TestLeaving(t *testing.T) {
	t.Parallel()
	none := &bytes.Buffer{}
	for name, secure := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begun, let, gone := make(chan struct{}, 9), make(chan struct{}), make(chan struct{}, 9)
			s := &httpserver.Server{Handler: &httpserver.Handler{Protocol: waiter(begun, let, gone)}}
			var addr string
			dial := func() net.Conn {
				t.Helper()
				c, err := net.Dial("tcp", addr)
				must.OK(t, err)
				if secure {
					c = tls.Client(c, &tls.Config{InsecureSkipVerify: true})
				}
				return c
			}
			if secure {
				s.TLS, _ = certificate(t)
			}
			addr = start(t, s)
			for range 3 {
				c := dial()
				fmt.Fprint(c, poll)
				must.Receive(t, "the request waits", begun, none)
				must.OK(t, c.Close())
				must.Receive(t, "the request ends", gone, none)
			}
			// The next request was already sent on the same connection.
			c := dial()
			fmt.Fprint(c, poll+poll)
			must.Receive(t, "the request waits", begun, none)
			must.OK(t, c.Close())
			must.Receive(t, "the request ends", gone, none)

			// A client that does not disconnect gets the responses in order.
			c = dial()
			defer c.Close()
			answers := bufio.NewReader(c)
			for range 3 {
				fmt.Fprint(c, poll)
				must.Receive(t, "the request waits", begun, none)
				let <- struct{}{}
				resp, err := http.ReadResponse(answers, nil)
				must.OK(t, err)
				if resp.StatusCode != 204 || resp.Close {
					t.Errorf("status %d, closed: %t", resp.StatusCode, resp.Close)
				}
			}
			if len(gone) > 0 {
				t.Error("a client that is there counts as gone")
			}
		})
	}
}
