package httpserver

import (
	"bytes"
	"context"
	"strings"
	"sync"

	"github.com/valyala/fasthttp"
)

// clientContext is a context that ends with its parent, or when the client closes its connection. It watches the
// connection from the first call of Done, Err or AfterFunc.
type clientContext struct {
	context.Context
	line *conn

	once   sync.Once
	inner  context.Context
	cancel context.CancelFunc
	end    func() // function that stops watching the connection
}

// mayWait reports whether a request waits for changes, so that the server must watch its client. A stream needs no
// watch, because its next send would fail.
func mayWait(target string, head *fasthttp.RequestHeader) bool {
	return strings.Contains(target, "comp=changes") && !bytes.Contains(head.Peek("Accept"), []byte("text/event-stream"))
}

// startWatch starts to watch the connection. The first call must be made by the goroutine that reads from the
// connection.
func (l *clientContext) startWatch() {
	l.once.Do(func() {
		l.inner, l.cancel = context.WithCancel(l.Context)
		l.line.readEnd.system = 0 // 0 means that the deadline is unknown; watch sets it directly
		l.end = watch(l.line.Conn, l.cancel)
	})
}

func (l *clientContext) Done() <-chan struct{} {
	l.startWatch()
	return l.inner.Done()
}

func (l *clientContext) Err() error {
	l.startWatch()
	return l.inner.Err()
}

// AfterFunc prevents package context from starting a goroutine for each derived context.
func (l *clientContext) AfterFunc(f func()) (stop func() bool) {
	l.startWatch()
	return context.AfterFunc(l.inner, f)
}

// stop stops watching, and reports whether the client has closed the connection. It must be called before the
// connection is read again.
func (l *clientContext) stop() (gone bool) {
	l.once.Do(func() { l.inner, l.cancel, l.end = l.Context, func() {}, func() {} })
	l.end()
	gone = l.inner.Err() != nil && l.Context.Err() == nil
	l.cancel()
	return gone
}
