package protocol_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"edgetable/core/protocol"
	"edgetable/core/table"
	"edgetable/core/wiretest"
)

// TestReadAll checks that a body is read up to the limit. The size of the buffer must depend on the number of received
// bytes, not on the announced length.
func TestReadAll(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken pipe")
	for _, tt := range []struct {
		why    string
		body   io.Reader
		length int64
		want   int
		err    table.Code
	}{
		{"empty", strings.NewReader(""), 0, 0, ""},
		{"its length", strings.NewReader(strings.Repeat("a", 1000)), 1000, 1000, ""},
		{"byte by byte", iotest.OneByteReader(strings.NewReader(strings.Repeat("a", 1000))), 1000, 1000, ""},
		{"the end together with the data", iotest.DataErrReader(strings.NewReader(strings.Repeat("a", 70_000))), 70_000, 70_000, ""},
		{"unknown length", strings.NewReader(strings.Repeat("a", 200_000)), -1, 200_000, ""},
		{"exactly the limit", strings.NewReader(strings.Repeat("a", protocol.MaxBody)), -1, protocol.MaxBody, ""},
		{"one byte above the limit", strings.NewReader(strings.Repeat("a", protocol.MaxBody+1)), -1, 0, table.RequestBodyTooLarge},
		{"an endless body", endless{}, -1, 0, table.RequestBodyTooLarge},
		{"longer than its length", strings.NewReader("abc"), 2, 0, table.InvalidInput},
		{"longer than no length", strings.NewReader("abc"), 0, 0, table.InvalidInput},
		{"shorter than its length", strings.NewReader("abc"), 4, 0, table.InvalidInput},
		{"broken", iotest.ErrReader(broken), 4, 0, table.InvalidInput},
		{"a read error in the middle", io.MultiReader(strings.NewReader("ab"), iotest.ErrReader(broken)), -1, 0, table.InvalidInput},
	} {
		for _, buffer := range [][]byte{nil, make([]byte, 0, 10), make([]byte, 0, 100_000)} {
			if buffer != nil && tt.want == 0 {
				continue // a case that expects an error runs only once, because its body cannot be read again
			}
			got, err := protocol.ReadAll(buffer, tt.body, tt.length)
			if len(got) != tt.want || code(t, err) != tt.err {
				t.Errorf("%s: %d bytes, %v, want %d, %q", tt.why, len(got), err, tt.want, tt.err)
			}
			if s, ok := tt.body.(*strings.Reader); ok {
				if _, err := s.Seek(0, io.SeekStart); err != nil {
					t.Fatal(err)
				}
			} else {
				break
			}
		}
	}
	if got, err := protocol.ReadAll(nil, strings.NewReader("a"), protocol.MaxBody); err == nil || cap(got) > 128<<10 {
		t.Errorf("an announced length of 4 MiB allocated %d bytes, %v", cap(got), err)
	}
}

// grows is a body. Its method Read checks the sizes of the buffers that the reader allocates.
type grows struct {
	t           *testing.T
	read, total int // the number of bytes read so far; the sum of the sizes of all buffers
	room        int
}

func (g *grows) Read(p []byte) (int, error) {
	if g.room != len(p) { // after the previous Read, its buffer had space for g.room bytes; p has another length, so p is in a new buffer
		size := g.read + len(p)
		if g.total += size; g.read > 0 && size > 5*g.read {
			g.t.Errorf("a buffer of %d bytes after %d have arrived", size, g.read)
		}
	}
	n := min(len(p), 10_000, protocol.MaxBody-g.read)
	g.read += n
	g.room = len(p) - n
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// TestBodyGrows checks that a large body is copied only a few times while its buffer grows. Together, all its buffers
// must be at most twice as large as the body.
func TestBodyGrows(t *testing.T) {
	g := &grows{t: t}
	if got, err := protocol.ReadAll(nil, g, protocol.MaxBody); err != nil || len(got) != protocol.MaxBody || g.total > 2*protocol.MaxBody {
		t.Errorf("%d bytes, %v, in buffers of %d bytes", len(got), err, g.total)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// whole is a body that is in memory already, as a transport of functions passes it.
type whole []byte

func (b whole) Bytes() []byte            { return b }
func (b whole) Read([]byte) (int, error) { panic("the handler must use Bytes") }

// TestWholeBody checks the limit and the length of a body that is in memory already.
func TestWholeBody(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const entity = `{"PartitionKey":"p","RowKey":"3"}`
	for _, tt := range []struct {
		why    string
		body   string
		length int64
		status int
		code   table.Code
	}{
		{"its length", entity, int64(len(entity)), 201, ""},
		{"shorter than its length", entity, int64(len(entity)) + 1, 400, table.InvalidInput},
		{"longer than its length", entity, int64(len(entity)) - 1, 400, table.InvalidInput},
		{"exactly the limit", strings.Repeat(" ", protocol.MaxBody), protocol.MaxBody, 400, table.InvalidInput},
		{"one byte above the limit", strings.Repeat(" ", protocol.MaxBody+1), -1, 413, table.RequestBodyTooLarge},
	} {
		req := s.request("POST", "/people", "application/json", nil)
		req.Body, req.ContentLength = whole(tt.body), tt.length
		resp := s.Serve(t.Context(), req)
		if resp.Status != tt.status || resp.Code != string(tt.code) {
			t.Errorf("%s: %d %s, want %d %s", tt.why, resp.Status, resp.Body, tt.status, tt.code)
		}
		resp.Release()
	}
}

// refused is a body that the transport refuses with an error.
type refused struct {
	account string
	err     *table.Error
}

func (b *refused) BelongsTo(account string) { b.account = account }
func (b *refused) Read([]byte) (int, error) { return 0, b.err }

// TestRefusedBody checks that a transport learns to which account a body belongs, and may refuse the body.
func TestRefusedBody(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for code, want := range map[table.Code]protocol.Refusal{table.ServerBusy: protocol.RefusedMemory, table.RequestBodyTooLarge: ""} {
		req, body := s.request("POST", "/people", "application/json", nil), &refused{err: code.Err()}
		req.Body, req.ContentLength = body, 100
		resp := s.Serve(t.Context(), req)
		if resp.Status != code.Err().Status() || resp.Refused != want || body.account != wiretest.Account {
			t.Errorf("status %d, refused %q, a body of %q", resp.Status, resp.Refused, body.account)
		}
		resp.Release()
	}
}
