package httpserver

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"edgetable/core/protocol"
	"edgetable/core/table"
)

// Protocol serves the requests; *protocol.Handler implements it.
type Protocol interface {
	Serve(ctx context.Context, req *protocol.Request) protocol.Response
}

// Observer is called with every response and the time at which the response ended. It must not retain any part of the
// response, whose memory is reused.
type Observer func(resp *protocol.Response, end time.Time)

// Handler configures how requests are served.
type Handler struct {
	Protocol Protocol
	// TrustProxy makes the server trust the headers of a proxy. It must be set only behind a proxy that sets these
	// headers:
	//   - X-Forwarded-Proto and X-Forwarded-Host: the scheme and host of URLs in responses
	//   - X-Forwarded-For: the client's address, as the last entry
	TrustProxy bool
	// Observe is called for every response. It may be nil.
	Observe Observer
	// Own, if not nil, serves requests for paths that begin with /_/. These requests are not authenticated. Own can
	// read bodies of up to 64 KiB.
	Own func(req *protocol.Request) protocol.Response

	// Page is the path of a page, such as /_/. Browsers that request / or Page without its final slash are redirected
	// to Page; "" disables this.
	Page string
	// Refuse returns the response to a request for which there is not enough memory. If it is nil, the memory for
	// responses is not limited.
	Refuse func(req *protocol.Request, err *table.Error) protocol.Response

	connections *connections
	room        *room
	until       context.Context // context that ends when the server accepts no more requests
}

func (h *Handler) serve(ctx context.Context, c *fasthttp.RequestCtx) {
	begin := time.Now()
	in := receive(&c.Request.Header)
	defer in.release()
	h.fill(in, c)
	switch {
	case h.Own != nil && strings.HasPrefix(in.req.Target, "/_/"):
		h.serveOwn(in, c)
	case h.Page != "" && (in.req.Target == "/" || in.req.Target+"/" == h.Page) && asksForPage(&c.Request.Header):
		c.SetStatusCode(fasthttp.StatusFound)
		c.Response.Header.Set("Location", h.Page)
		stayWithTLS(c, &c.Response.Header)
	default:
		h.serveTables(ctx, in, c, begin)
	}
}

// fill copies the head of the request and the sender's address.
func (h *Handler) fill(in *inbound, c *fasthttp.RequestCtx) {
	head, req, body := &c.Request.Header, &in.req, &in.body
	req.Method, req.Target, req.Host = string(head.Method()), string(head.RequestURI()), string(head.Host())
	req.Scheme = "http"
	if c.IsTLS() {
		req.Scheme = "https"
	}
	if tcp, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		req.Source = tcp.AddrPort().Addr().Unmap()
	}
	if line := lineOf(c.Conn()); line == nil || line.slots == nil { // a pipelined request must not wait, because it occupies one of few slots
		if req.Stopping = h.until; h.until != nil && line != nil && mayWait(req.Target, head) {
			req.Stopping, req.ServesAgain = &clientContext{Context: h.until, line: line}, h.until.Err() == nil && canBeApart(line, c)
		}
	}
	known := !h.TrustProxy || throughProxy(head, req)
	body.stream, body.length, body.req, body.share.room = c.RequestBodyStream(), int64(head.ContentLength()), req, h.room
	if known {
		body.share.client = Network(req.Source)
	}
}

// throughProxy applies the proxy's headers, and reports whether they contain the client's address.
func throughProxy(head *fasthttp.RequestHeader, req *protocol.Request) bool {
	if s := string(last(head.PeekAll("X-Forwarded-Proto"))); s == "http" || s == "https" {
		req.Scheme = s
	}
	if s := last(head.PeekAll("X-Forwarded-Host")); len(s) > 0 {
		req.Host = string(s)
	}
	from, ok := forwardedFor(head)
	if ok {
		req.Source = from
	}
	return ok
}

func (h *Handler) serveOwn(in *inbound, c *fasthttp.RequestCtx) {
	body := &in.body
	waits := body.waitingShare()
	if body.stream != nil && body.length > 0 && body.length <= maxDrain && (body.hasArrived() || waits.tryGrow(h.room.wait)) {
		body.unwanted = true // body.Read then does not count these bytes towards the memory
		in.req.Body = body
	}
	resp := h.Own(&in.req)
	waits.release()
	send(&c.Response, &resp)
	stayWithTLS(c, &c.Response.Header)
	if body.stream != nil && int64(body.n) != body.length {
		closeAfter(c, waits) // Own did not read the whole body
	}
}

// serveTables serves a request of the protocol. The memory of the request is released exactly once: here, or after a
// large response was sent.
func (h *Handler) serveTables(ctx context.Context, in *inbound, c *fasthttp.RequestCtx, begin time.Time) {
	req, body := &in.req, &in.body
	req.ContentLength = body.length
	if req.ContentLength == 0 || body.stream == nil {
		req.ContentLength, body.ended = 0, true
	} else {
		req.Body = body
	}
	line := lineOf(c.Conn())
	if line != nil && line.again != nil {
		req.Waited, begin, line.again = line.again.waited, line.again.began, nil
	}
	resp := h.Protocol.Serve(ctx, req)
	if resp.Wait != nil {
		h.connections.waitApart(line, c, req, resp.Wait, begin)
		return
	}
	if l, ok := req.Stopping.(*clientContext); ok {
		l.stop()
	}
	if body.busy {
		resp.Refused = protocol.RefusedMemory
	}
	if len(resp.Body) > maxCopied || resp.Stream != nil {
		resp = h.chargeResponse(body, resp)
	}
	// A preflight request is not authenticated, so it does not count for the account.
	if resp.Operation != "" && req.Method != "OPTIONS" && !h.connections.recordAccount(line, resp.Account) {
		c.SetConnectionClose()
	}
	resp.Received, resp.Sent, resp.Duration = body.n, len(resp.Body), time.Since(begin)
	if h.Observe != nil {
		h.Observe(&resp, begin.Add(resp.Duration)) // the sum costs less than reading the clock again
	}
	if resp.Disconnect {
		resp.Release()
		body.share.release()
		abortConnection(c)
		return
	}
	if len(resp.Body) <= maxCopied && resp.Stream == nil {
		body.share.release()
	} else {
		h.releaseWhenSent(body, &resp)
	}
	if resp.Stream != nil && canBeApart(line, c) {
		h.connections.sendApart(line, c, &resp)
		return
	}
	send(&c.Response, &resp)
	stayWithTLS(c, &c.Response.Header)
	finishBody(c, req, body)
}

// finishBody prevents the rest of the body from being read as the next request. It discards the rest of a short body,
// and closes the connection after a long body.
func finishBody(c *fasthttp.RequestCtx, req *protocol.Request, body *incoming) {
	// If the request has both chunks and a Content-Length, a proxy may have used the Content-Length, and would disagree
	// with this server about where the next request begins. The connection must therefore be closed.
	twice := req.ContentLength < 0 && containsLine(c.Request.Header.RawHeaders(), "\ncontent-length:")
	if body.ended && !twice {
		return
	}
	if n := req.ContentLength; n < 0 || n > maxDrain || !body.drain(maxDrain) {
		closeAfter(c, body.waitingShare())
	}
}

// last returns the last value of a header. A proxy adds its line after the client's lines.
func last(values [][]byte) []byte {
	if len(values) == 0 {
		return nil
	}
	return values[len(values)-1]
}

// forwardedFor returns the client's address according to the proxy. The result ok is false if the proxy does not report
// an address.
func forwardedFor(head *fasthttp.RequestHeader) (netip.Addr, bool) {
	list := head.PeekAll("X-Forwarded-For")
	if len(list) == 0 {
		return netip.Addr{}, false
	}
	return forwarded(last(list)), true
}

// forwarded returns the last address in the list, which the nearest proxy has added. Clients can forge the other
// addresses. It returns the zero Addr if the last entry is not an address.
func forwarded(list []byte) netip.Addr {
	text := strings.TrimSpace(string(list[bytes.LastIndexByte(list, ',')+1:]))
	a, err := netip.ParseAddr(text)
	if err != nil {
		ap, _ := netip.ParseAddrPort(text) // some proxies add the port to the address
		a = ap.Addr()
	}
	return a.Unmap()
}

// asksForPage reports whether a browser requests a page. Clients of the protocol never accept HTML.
func asksForPage(head *fasthttp.RequestHeader) bool {
	return head.IsGet() && bytes.Contains(head.Peek("Accept"), []byte("text/html")) && len(head.Peek("Authorization")) == 0
}

// chargeResponse counts a large response towards the memory. If the client's share is used up and the request changed
// nothing, it returns a refusal instead of the response. A batch with a query changes nothing.
func (h *Handler) chargeResponse(body *incoming, resp protocol.Response) protocol.Response {
	s := &body.share
	if s.n == 0 {
		s.account = resp.Account
	}
	n := int64(len(resp.Body))
	if resp.Stream != nil {
		n = streamSize
	}
	if s.grow(n) {
		return resp
	}
	if reads := body.req.Method == "GET" || body.req.Method == "HEAD" || resp.Returned > 0; !reads || h.Refuse == nil {
		s.addAlways(n)
		return resp
	}
	resp.Release()
	refusal := h.Refuse(body.req, table.ServerBusy.Err())
	refusal.CopyRequest(&resp.Summary)
	refusal.Refused = protocol.RefusedMemory
	return refusal
}

func (h *Handler) releaseWhenSent(body *incoming, resp *protocol.Response) {
	whole, held := *resp, body.share
	resp.OnRelease(func() { whole.Release(); held.release() })
}

// abortConnection closes the connection as if the server had crashed: the client gets no response and, if possible, a
// TCP reset.
func abortConnection(c *fasthttp.RequestCtx) {
	c.HijackSetNoResponse(true)
	c.Hijack(func(conn net.Conn) {
		if u, ok := conn.(interface{ UnsafeConn() net.Conn }); ok {
			conn = u.UnsafeConn()
		}
		if line := lineOf(conn); line != nil {
			conn = line.Conn
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // the connection is closed next, so an error does not matter
		}
	})
}

// closeAfter sends the response, reads on for a while and then closes the connection. Without reading on, a client that
// is still sending could get a reset before the response. It does not read on if the client's share of the memory is
// used up.
func closeAfter(c *fasthttp.RequestCtx, waits share) {
	if !waits.tryGrow(waits.room.wait) {
		c.SetConnectionClose()
		return
	}
	c.Response.SetConnectionClose()
	c.Response.SkipBody = c.IsHead()
	var answer bytes.Buffer
	if _, err := c.Response.WriteTo(&answer); err != nil {
		waits.release()
		c.SetConnectionClose()
		return
	}
	c.HijackSetNoResponse(true)
	line := lineOf(c.Conn())
	c.Hijack(func(conn net.Conn) {
		defer waits.release()
		err := line.SetDeadline(time.Now().Add(lingerTime))
		if err == nil {
			_, err = answer.WriteTo(conn)
		}
		if err == nil {
			_, _ = io.CopyN(io.Discard, conn, 4*protocol.MaxBody)
		}
	})
}

// incoming is the body of a request. fasthttp prefetches its first bytes. The other bytes are read only when the
// protocol reads the body.
type incoming struct {
	stream io.Reader
	length int64 // length of the body; -1 if unknown
	n      int   // number of bytes that were read
	ended  bool

	req      *protocol.Request
	share    share
	counted  int  // number of bytes of the body that are included in share
	busy     bool // the client's share of the memory was used up
	unwanted bool // the rest of the body is read only to be discarded
}

// BelongsTo makes the body count towards an authenticated account.
func (b *incoming) BelongsTo(account string) { b.share.account = account }

// waitingShare returns a second share for the same request, to be used while the server waits for the client.
func (b *incoming) waitingShare() share {
	return share{room: b.share.room, client: b.share.client, account: b.share.account}
}

// countStep is the step, in bytes, in which a body is counted towards the memory while it arrives.
const countStep = 64 << 10

func (b *incoming) Read(p []byte) (int, error) {
	switch {
	case b.ended:
		return 0, io.EOF
	case b.busy && !b.unwanted:
		return 0, table.ServerBusy.Err()
	case b.unwanted, b.hasArrived():
	case b.n < b.counted:
		p = p[:min(len(p), b.counted-b.n)]
	default:
		step := countStep
		if b.length >= 0 {
			step = max(1, min(step, int(b.length)-b.n))
		}
		if b.counted == 0 {
			step = max(step, int(b.share.room.wait))
		}
		if b.busy = !b.share.grow(int64(step)); b.busy {
			return 0, table.ServerBusy.Err()
		}
		b.counted += step
		p = p[:min(len(p), step)]
	}
	n, err := b.stream.Read(p)
	b.n += n
	b.ended = err == io.EOF
	return n, err
}

// prefetchSize is the number of bytes of a body that fasthttp reads before it calls the handler.
const prefetchSize = 8 << 10

// hasArrived reports whether the body can be read without waiting for the client.
func (b *incoming) hasArrived() bool { return b.ended || b.length >= 0 && b.length <= prefetchSize }

// maxDrain is the maximum size in bytes of an unwanted body that is read completely before the response is sent.
const maxDrain = 64 << 10

// lingerTime is how long a client may continue to send an unwanted body.
const lingerTime = 10 * time.Second

// drain discards at most n bytes, and reports whether the body has ended.
func (b *incoming) drain(n int64) bool {
	if waits := b.waitingShare(); !b.hasArrived() {
		if !waits.tryGrow(waits.room.wait) {
			return false
		}
		defer waits.release()
	}
	b.unwanted = true
	_, err := io.CopyN(io.Discard, b, n+1)
	return err == io.EOF
}
