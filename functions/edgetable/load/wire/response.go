package wire

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"time"
)

// MaxBody is the maximum size of a response body in bytes. It protects memory from a wrong Content-Length. A page has 4
// MiB of entity data, and more with the escapes of JSON.
const MaxBody = 64 << 20

var (
	hContentLength    = []byte("content-length")
	hTransferEncoding = []byte("transfer-encoding")
	hConnection       = []byte("connection")
	hRetryAfter       = []byte("retry-after")
	hNextPartition    = []byte("x-ms-continuation-nextpartitionkey")
	hNextRow          = []byte("x-ms-continuation-nextrowkey")
)

// Response is the server's response to a request. It is valid until the next request on the connection.
type Response struct {
	Status        int
	Body          []byte
	NextPartition string // keys of the continuation token; both are empty at the end of a query
	NextRow       string
	RetryAfter    time.Duration // value of the header Retry-After; 0 without this header
}

type reader struct {
	r       *bufio.Reader
	body    []byte
	closing bool // the server closes the connection after the response
}

// read reads a response. The body must have a Content-Length or chunked encoding; otherwise read assumes that it is
// empty.
func (c *reader) read() (Response, error) {
	line, err := c.line()
	if err != nil {
		return Response{}, err
	}
	// Example: "HTTP/1.1 204 No Content".
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.")) {
		return Response{}, fmt.Errorf("not an HTTP status line: %.40q", line)
	}
	var resp Response
	if resp.Status, err = strconv.Atoi(string(line[9:12])); err != nil || resp.Status < 200 {
		return Response{}, fmt.Errorf("unexpected HTTP status line: %.40q", line)
	}
	length, chunked := 0, false
	for {
		if line, err = c.line(); err != nil {
			return Response{}, err
		}
		if len(line) == 0 {
			break
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return Response{}, fmt.Errorf("header line without a colon: %.40q", line)
		}
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, hContentLength):
			if length, err = strconv.Atoi(string(value)); err != nil || length < 0 || length > MaxBody {
				return Response{}, fmt.Errorf("unusable Content-Length %.20q", value)
			}
		case bytes.EqualFold(name, hTransferEncoding):
			chunked = bytes.EqualFold(value, []byte("chunked"))
		case bytes.EqualFold(name, hConnection):
			c.closing = bytes.EqualFold(value, []byte("close"))
		case bytes.EqualFold(name, hRetryAfter):
			seconds, err := strconv.ParseUint(string(value), 10, 16)
			if err != nil {
				return Response{}, fmt.Errorf("unusable Retry-After %.20q", value)
			}
			resp.RetryAfter = time.Duration(seconds) * time.Second
		case bytes.EqualFold(name, hNextPartition):
			resp.NextPartition = string(value)
		case bytes.EqualFold(name, hNextRow):
			resp.NextRow = string(value)
		}
	}
	c.body = c.body[:0]
	if chunked {
		err = c.readChunks()
	} else if resp.Status != 204 && resp.Status != 304 {
		err = c.readN(length)
	}
	resp.Body = c.body
	return resp, err
}

// line returns the next line without its line end. It is valid until the next read.
func (c *reader) line() ([]byte, error) {
	line, err := c.r.ReadSlice('\n')
	if err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("reading the response head: %w", err)
	}
	line = line[:len(line)-1]
	return bytes.TrimSuffix(line, []byte("\r")), nil
}

func (c *reader) readN(n int) error {
	at := len(c.body)
	if at+n > MaxBody {
		return fmt.Errorf("response body over %d bytes", MaxBody)
	}
	if cap(c.body) < at+n {
		grown := make([]byte, at, max(at+n, 2*cap(c.body)))
		copy(grown, c.body)
		c.body = grown
	}
	c.body = c.body[:at+n]
	_, err := io.ReadFull(c.r, c.body[at:])
	return err
}

// readChunks appends a chunked body, without chunk extensions and trailers.
func (c *reader) readChunks() error {
	for {
		line, err := c.line()
		if err != nil {
			return err
		}
		digits, _, _ := bytes.Cut(line, []byte(";"))
		size, err := strconv.ParseUint(string(bytes.TrimSpace(digits)), 16, 31)
		if err != nil {
			return fmt.Errorf("bad chunk size %.20q", line)
		}
		if size == 0 {
			break
		}
		if err := c.readN(int(size)); err != nil {
			return err
		}
		if line, err = c.line(); err != nil || len(line) != 0 {
			return fmt.Errorf("chunk without line end: %w", io.ErrUnexpectedEOF)
		}
	}
	for {
		line, err := c.line()
		if err != nil || len(line) == 0 {
			return err
		}
	}
}
