package httpserver

import (
	"sync"

	"github.com/valyala/fasthttp"

	"edgetable/core/table"
)

// The type expected counts requests from a proxy whose bodies have not arrived yet towards the client's share of the
// memory. The handler cannot count them, because fasthttp calls it only after the first bytes of the body have arrived.
type expected struct {
	room *room

	mu   sync.Mutex
	list map[*fasthttp.RequestHeader]share // memory that each request uses; zero if no memory was available
}

// configureBody is called by fasthttp between the head and the body of a request. If the client's share of the memory
// is used up, it sets a very short read timeout. fasthttp then reads only a body that has already arrived.
func (e *expected) configureBody(head *fasthttp.RequestHeader) (c fasthttp.RequestConfig) {
	if head.ContentLength() <= 0 {
		return c
	}
	s := share{room: e.room}
	if from, ok := forwardedFor(head); ok {
		s.client = Network(from)
	}
	if !s.tryGrow(e.room.wait) {
		s, c.ReadTimeout = share{}, 1
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list[head] = s
	return c
}

// end is called when fasthttp has read the first bytes of a body, or has failed to read them. It returns false if the
// server could not wait for the body for lack of memory.
func (e *expected) end(head *fasthttp.RequestHeader) bool {
	e.mu.Lock()
	s, ok := e.list[head]
	delete(e.list, head)
	e.mu.Unlock()
	s.release()
	return !ok || s.room != nil
}

func (e *expected) refuse(c *fasthttp.RequestCtx, err error) {
	if refuse(c, err); !e.end(&c.Request.Header) {
		e.room.refuse()
		c.Response.SetStatusCode(fasthttp.StatusServiceUnavailable)
		c.Response.Header.Set("Retry-After", "1")
		c.Response.Header.Set("x-ms-error-code", string(table.ServerBusy))
		c.Response.SetBodyString(fasthttp.StatusMessage(fasthttp.StatusServiceUnavailable) + "\n")
	}
}
