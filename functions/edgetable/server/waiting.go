package server

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// waitingServer serves requests while the store cannot be opened. It reports that the server is alive but not ready.
type waitingServer struct {
	serving *serving

	mu     sync.Mutex
	over   bool
	server *http.Server // HTTP server; nil until it is started
	ended  chan struct{}
}

// start logs why the store cannot be opened, and starts serving.
func (w *waitingServer) start(cause error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over || w.server != nil {
		return
	}
	var why []any
	if cause != nil {
		why = []any{"cause", cause}
	}
	s := w.serving
	s.log.Warn("the store does not answer yet, and the server is not ready", append(why, "address", s.listener.Addr().String())...)
	var l net.Listener = &socketListener{TCPListener: s.listener.(*socketListener).TCPListener, keep: func() bool { return true }}
	if config := s.certificate.config(); config != nil {
		l = tls.NewListener(l, config)
	}
	w.server = newWaitingServer()
	w.ended = make(chan struct{})
	go func() {
		defer close(w.ended)
		_ = w.server.Serve(l) // Serve returns when end is called
	}()
}

// newWaitingServer returns the HTTP server. Its ReadTimeout exceeds readyTimeout: on a busy machine, seconds may pass
// between a connection and its request.
func newWaitingServer() *http.Server {
	return &http.Server{Handler: http.HandlerFunc(answerWaiting), ReadTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10}
}

func answerWaiting(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/_/live" {
		_, _ = io.WriteString(w, well)
		return
	}
	w.Header().Set("x-ms-error-code", "ServerBusy")
	w.Header().Set("Retry-After", "1")
	http.Error(w, "the store does not answer yet", http.StatusServiceUnavailable)
}

// end stops serving. New connections wait until the server has opened its store and accepts them.
func (w *waitingServer) end() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	if w.server == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
	defer cancel()
	_ = w.server.Shutdown(ctx) // Shutdown returns after the timeout if clients are slow; then Close closes their connections
	_ = w.server.Close()
	<-w.ended
	return w.serving.listener.(*socketListener).SetDeadline(time.Time{})
}
