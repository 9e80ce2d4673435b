package httpserver_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"testing"
	"time"

	"edgetable/adapters/transport/httpserver"
	"edgetable/core/protocol"
)

// TestShutdownWaits checks that a request that is running at shutdown is answered. The server must then end without
// an error, and accept no further connections.
func TestShutdownWaits(t *testing.T) {
	t.Parallel()
	s := newStopping(t, time.Minute)
	fmt.Fprint(s.conn, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	<-s.entered
	s.stop()
	<-s.refusing(t)
	close(s.finish)
	if resp := receive(t, s.r, "GET"); resp.Status != 204 {
		t.Errorf("status %d", resp.Status)
	}
	if err := <-s.done; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

// TestShutdownDoesNotWaitForEver checks that a request is cut off if it is still running when the grace period
// ends. Serve must then return an error.
func TestShutdownDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	s := newStopping(t, time.Nanosecond)
	fmt.Fprint(s.conn, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	<-s.entered
	s.stop()
	if err := <-s.done; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Serve: %v", err)
	}
	if _, err := s.r.ReadByte(); err == nil {
		t.Error("the connection goes on")
	}
	close(s.finish)
}

// TestListenerFails checks that Serve returns the error of its listener.
func TestListenerFails(t *testing.T) {
	t.Parallel()
	l := listen(t)
	l.Close()
	s := &httpserver.Server{Handler: &httpserver.Handler{}, Log: slog.New(slog.DiscardHandler)}
	if err := s.Serve(t.Context(), l); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Serve: %v", err)
	}
}

// stopping is a server with one connection. The request on this connection waits until finish is closed.
type stopping struct {
	conn            net.Conn
	r               *bufio.Reader
	entered, finish chan struct{}
	stop            context.CancelFunc
	done            chan error
}

func newStopping(t *testing.T, grace time.Duration) *stopping {
	t.Helper()
	s := &stopping{entered: make(chan struct{}), finish: make(chan struct{}), done: make(chan error, 1)}
	l := listen(t)
	server := &httpserver.Server{
		Log: slog.New(slog.DiscardHandler), Grace: grace,
		Handler: &httpserver.Handler{Protocol: protocolFunc(func(context.Context, *protocol.Request) protocol.Response {
			close(s.entered)
			<-s.finish
			return protocol.Response{Status: 204}
		})},
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	go func() { s.done <- server.Serve(ctx, l) }()
	var err error
	if s.conn, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.conn.Close() })
	s.r = bufio.NewReader(s.conn)
	return s
}

// refusing returns a channel that is closed when the server no longer accepts connections.
func (s *stopping) refusing(t *testing.T) <-chan struct{} {
	refused := make(chan struct{})
	go func() {
		defer close(refused)
		for t.Context().Err() == nil {
			conn, err := net.Dial("tcp", s.conn.RemoteAddr().String())
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	return refused
}

// TestEndsBeforeItBegan checks that Serve returns if its context has ended before the call.
func TestEndsBeforeItBegan(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	s := &httpserver.Server{Log: slog.New(slog.DiscardHandler), Grace: time.Minute, Handler: &httpserver.Handler{}}
	for range 100 {
		l := listen(t)
		if err := s.Serve(ctx, l); err != nil {
			t.Fatal(err)
		}
	}
}
