package server

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"edgetable/testdata/must"
)

// TestWaitingAnswersLateRequest checks that a client of a busy machine gets an answer while the store is being opened,
// although it sends its request five seconds after it has connected.
func TestWaitingAnswersLateRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, conn := net.Pipe()
		s := newWaitingServer()
		l := &pipeListener{conns: make(chan net.Conn, 1)}
		l.conns <- conn
		go func() { _ = s.Serve(l) }() // Serve returns when s is closed
		defer s.Close()
		time.Sleep(5 * time.Second)
		_, err := fmt.Fprint(client, "GET /_/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
		must.OK(t, err)
		resp, err := http.ReadResponse(bufio.NewReader(client), nil)
		must.OK(t, err)
		if resp.StatusCode != 200 {
			t.Errorf("status %d", resp.StatusCode)
		}
	})
}

// pipeListener accepts the connections of its channel.
type pipeListener struct{ conns chan net.Conn }

func (l *pipeListener) Accept() (net.Conn, error) {
	c, ok := <-l.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (l *pipeListener) Close() error   { close(l.conns); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{} }
