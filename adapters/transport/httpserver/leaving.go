package httpserver

import (
	"bytes"
	"context"
	"strings"
	"sync"

	"github.com/valyala/fasthttp"
)

// leaving is a context that ends with another one, or when the client of a request closes its connection. It looks at
// the connection only if somebody waits for it, since looking needs a goroutine.
type leaving struct {
	context.Context
	line *conn

	once   sync.Once
	inner  context.Context
	cancel context.CancelFunc
	end    func() // ends looking
}

// mayWait reports whether a request is one that waits for changes. Others are answered at once, or notice when they
// send that the client has gone.
func mayWait(target string, head *fasthttp.RequestHeader) bool {
	return strings.Contains(target, "comp=changes") && !bytes.Contains(head.Peek("Accept"), []byte("text/event-stream"))
}

// look starts the check of the connection. The first call must be made by the goroutine that reads from the connection.
func (l *leaving) look() {
	l.once.Do(func() {
		l.inner, l.cancel = context.WithCancel(l.Context)
		l.line.readEnd.system = 0 // forget the remembered deadline: watch sets another one directly
		l.end = watch(l.line.Conn, l.cancel)
	})
}

func (l *leaving) Done() <-chan struct{} {
	l.look()
	return l.inner.Done()
}

func (l *leaving) Err() error {
	l.look()
	return l.inner.Err()
}

// AfterFunc saves contexts that are derived from this one a goroutine.
func (l *leaving) AfterFunc(f func()) (stop func() bool) {
	l.look()
	return context.AfterFunc(l.inner, f)
}

// stop must be called before the connection is read again. It reports whether the client has gone.
func (l *leaving) stop() (gone bool) {
	l.once.Do(func() { l.inner, l.cancel, l.end = l.Context, func() {}, func() {} })
	l.end()
	gone = l.inner.Err() != nil && l.Context.Err() == nil
	l.cancel()
	return gone
}
