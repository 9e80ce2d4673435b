package httpserver

import (
	"bufio"
	"bytes"
	"edgetable/core/protocol"
	"io"
	"net"
	"strconv"
	"sync"

	"github.com/valyala/fasthttp"
)

// maxCopied is the maximum size in bytes of a response body that is copied. It is cheaper to retain a larger body until
// it is sent.
const maxCopied = 16 << 10

// sendHead passes the head of a response to fasthttp. It does not change the case of header names, on which some
// clients depend.
func sendHead(r *fasthttp.ResponseHeader, resp *protocol.Response) {
	r.DisableNormalizing()
	r.SetStatusCode(resp.Status)
	if resp.Reason != "" {
		r.SetStatusMessage([]byte(resp.Reason))
	}
	for _, f := range resp.Header {
		r.Set(f.Name, f.Value)
	}
}

func send(r *fasthttp.Response, resp *protocol.Response) {
	sendHead(&r.Header, resp)
	if resp.Stream != nil {
		r.SetBodyStream(&stream{resp.Stream, resp.Release}, -1)
		return
	}
	if len(resp.Body) <= maxCopied {
		r.SetBody(resp.Body)
		resp.Release()
		return
	}
	r.SetBodyStream(&outgoing{Reader: *bytes.NewReader(resp.Body), release: resp.Release}, len(resp.Body))
}

// streamSize is the number of bytes that an open stream counts towards the memory: about the size of its buffers.
const streamSize = 64 << 10

// stream is a response body without a known end. Each part is sent immediately. The stream is closed at its end, or
// when the client has disconnected.
type stream struct {
	io.Reader
	release func()
}

func (s *stream) Close() error {
	s.release()
	return nil
}

// outgoing is a large response body that is being sent. fasthttp closes it afterwards, even if sending fails.
type outgoing struct {
	bytes.Reader
	release func()
}

var _ io.WriterTo = (*outgoing)(nil)

func (b *outgoing) Close() error {
	b.release()
	return nil
}

// sendApart sends a response whose body is a stream, while the connection is set apart.
func (s *connections) sendApart(line *conn, c *fasthttp.RequestCtx, resp *protocol.Response) {
	head := new(fasthttp.ResponseHeader)
	head.SetNoDefaultContentType(true)
	head.SetContentLength(-1)
	stays := !c.Response.ConnectionClose()
	if !stays {
		head.SetConnectionClose()
	}
	sendHead(head, resp)
	stayWithTLS(c, head)
	body := stream{resp.Stream, resp.Release}
	s.setApart(line, c, func() bool {
		defer body.Close()
		w := &chunked{to: line.front, head: head.Header()}
		head = nil
		_, err := io.Copy(w, body.Reader)
		return err == nil && w.send([]byte("0\r\n\r\n")) == nil && stays
	})
}

// chunked sends each write immediately, in chunked transfer coding. It needs no buffer between two writes.
type chunked struct {
	to   net.Conn
	head []byte // head of the response; sent with the first write
}

// writeBuffer is the size in bytes of the buffers through which responses are written.
const writeBuffer = 8 << 10

var writers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, writeBuffer) }}

func (c *chunked) Write(b []byte) (int, error) {
	return len(b), c.send(strconv.AppendInt(nil, int64(len(b)), 16), crlf, b, crlf)
}

var crlf = []byte("\r\n")

// send sends the texts in order. The first call also sends the head of the response.
func (c *chunked) send(texts ...[]byte) error {
	w := writers.Get().(*bufio.Writer)
	defer writers.Put(w)
	w.Reset(c.to)
	_, _ = w.Write(c.head)
	c.head = nil
	for _, text := range texts {
		_, _ = w.Write(text) // Flush returns the same error
	}
	err := w.Flush()
	w.Reset(nil)
	return err
}
