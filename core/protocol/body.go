package protocol

import (
	"errors"
	"io"
	"slices"

	"edgetable/core/table"
)

// MaxBody is the maximum size of a request body in bytes. It also applies to a batch as a whole.
const MaxBody = 4 << 20

// readBody reads the request body. The returned bytes are valid until the response is released.
func (x *exchange) readBody() ([]byte, error) {
	if x.req.ContentLength > MaxBody {
		return nil, table.RequestBodyTooLarge.Err()
	}
	h := x.req.Header
	if x.req.ContentLength == 0 && h.Get("Content-Length") == "" && h.Get("Transfer-Encoding") == "" {
		return nil, table.MissingContentLengthHeader.Err()
	}
	if x.req.Body == nil {
		return nil, nil
	}
	if whole, ok := x.req.Body.(interface{ Bytes() []byte }); ok {
		return checkLength(whole.Bytes(), x.req.ContentLength)
	}
	if b, ok := x.req.Body.(interface{ BelongsTo(account string) }); ok {
		b.BelongsTo(x.address.Account)
	}
	buf := buffers.Get().(*[]byte)
	x.chainRelease(func() { x.putBuffer(buf) })
	b, err := readAll((*buf)[:0], x.req.Body, x.req.ContentLength)
	*buf = b
	if e, ok := errors.AsType[*table.Error](err); ok && e.Code == table.ServerBusy {
		x.resp.Refused = RefusedMemory
	}
	return b, err
}

func checkLength(b []byte, length int64) ([]byte, error) {
	switch {
	case len(b) > MaxBody:
		return nil, table.RequestBodyTooLarge.Err()
	case length >= 0 && int64(len(b)) != length:
		return nil, errBodyEnded()
	}
	return b, nil
}

func errBodyEnded() error {
	return table.InvalidInput.With("The request body ended before its Content-Length, or could not be read.")
}

// readAll reads a body of at most MaxBody bytes. The parameter length is the length that the client announced, or -1 if
// it is unknown.
func readAll(b []byte, r io.Reader, length int64) ([]byte, error) {
	// A client can announce any length, so the buffer grows to at most four times the received bytes. Smaller steps
	// would copy a large body more often.
	const step = 64 << 10
	if want := int(min(max(length, 512), step)) + 1; cap(b) < want {
		b = make([]byte, 0, want)
	}
	for {
		if len(b) == cap(b) {
			b = slices.Grow(b, int(min(max(length+1-int64(len(b)), step), 3*int64(len(b)))))
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if len(b) > MaxBody {
			return b[:0], table.RequestBodyTooLarge.Err()
		}
		if errors.Is(err, io.EOF) && (length < 0 || int64(len(b)) == length) {
			return b, nil
		}
		if e, ok := errors.AsType[*table.Error](err); ok {
			return b[:0], e // the transport returns a *table.Error if its memory for bodies is exhausted
		}
		if err != nil {
			return b[:0], errBodyEnded()
		}
	}
}
