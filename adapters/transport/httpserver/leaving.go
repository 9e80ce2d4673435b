package httpserver

import (
	"bytes"
	"context"
	"strings"
	"sync"

	"github.com/valyala/fasthttp"
)

// leaving is a context that ends with its parent, or when the client of a request closes its connection. It watches
// the connection only after a call of Done or AfterFunc, because watching needs a goroutine.
type clientContext struct {
	context.Context
	line *conn

	once   sync.Once
	inner  context.Context
	cancel context.CancelFunc
	end    func() // ends the watch
}

// mayWait reports whether a request may wait for changes. Other requests are answered at once, or are streams, which
// notice that the client has disconnected when they send.
func mayWait(target string, head *fasthttp.RequestHeader) bool {
	return strings.Contains(target, "comp=changes") && !bytes.Contains(head.Peek("Accept"), []byte("text/event-stream"))
}

// look starts to watch the connection. The first call must be made by the goroutine that reads from the connection.
func (l *clientContext) startWatch() {
	l.once.Do(func() {
		l.inner, l.cancel = context.WithCancel(l.Context)
		l.line.readEnd.system = 0 // readEnd no longer knows the deadline, because watch sets another one directly
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

// AfterFunc makes a goroutine unnecessary for each context that is derived from this one.
func (l *clientContext) AfterFunc(f func()) (stop func() bool) {
	l.startWatch()
	return context.AfterFunc(l.inner, f)
}

// stop ends the watch, and reports whether the client has gone. It must be called before the connection is read again.
func (l *clientContext) stop() (gone bool) {
	l.once.Do(func() { l.inner, l.cancel, l.end = l.Context, func() {}, func() {} })
	l.end()
	gone = l.inner.Err() != nil && l.Context.Err() == nil
	l.cancel()
	return gone
}
