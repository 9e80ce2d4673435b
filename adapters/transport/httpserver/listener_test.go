package httpserver_test

import (
	"context"
	"log/slog"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"edgetable/adapters/transport/httpserver"
	"edgetable/core/protocol"
)

// TestNoFileDescriptors checks that a lack of file descriptors does not end the server.
func TestNoFileDescriptors(t *testing.T) {
	t.Parallel()
	l := listen(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	s := &httpserver.Server{
		Handler: &httpserver.Handler{Protocol: protocolFunc(func(context.Context, *protocol.Request) protocol.Response {
			cancel()
			return protocol.Response{Status: 204}
		})},
		Log: slog.New(slog.DiscardHandler), Grace: time.Minute,
	}
	go func() { done <- s.Serve(ctx, &failing{Listener: l, times: 3}) }()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("GET / HTTP/1.1\r\nHost: h\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

// failing is a listener whose Accept fails a few times.
type failing struct {
	net.Listener
	times int
}

func (l *failing) Accept() (net.Conn, error) {
	if l.times > 0 {
		l.times--
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return l.Listener.Accept()
}
