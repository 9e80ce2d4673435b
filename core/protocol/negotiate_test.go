package protocol_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"edgetable/core/payload"
	"edgetable/core/protocol"
	"edgetable/core/table"
)

func TestResponseFormat(t *testing.T) {
	t.Parallel()
	const now = "2019-02-02"
	for _, tt := range []struct {
		format, accept, version string // "-" if the query has no $format
		odata                   float64
		want                    payload.Format
		err                     table.Code
	}{
		{"-", "", now, 0, payload.Minimal, ""},
		{"-", "*/*", now, 0, payload.Minimal, ""},
		{"-", "application/*", now, 0, payload.Minimal, ""},
		{"-", "application/json", now, 0, payload.Minimal, ""},
		{"-", "application/json;odata=nometadata", now, 3, payload.NoMetadata, ""},
		{"-", "Application/JSON; ODATA=FullMetadata; charset=utf-8", now, 0, payload.Full, ""},
		{"-", `application/json;odata="minimalmetadata"`, now, 0, payload.Minimal, ""},
		{"-", "application/json;q=0.5;odata=nometadata", now, 0, payload.NoMetadata, ""},
		{"-", "text/html,application/json;odata=fullmetadata,*/*", now, 0, payload.Full, ""},
		{"-", "application/atom+xml, application/json;odata=nometadata", now, 0, payload.NoMetadata, ""},
		{"-", "application/json;odata=verbose, application/json;odata=nometadata", now, 0, payload.NoMetadata, ""},
		{"json", "application/atom+xml", now, 0, payload.Minimal, ""},
		{"application/json;odata=nometadata", "application/json;odata=fullmetadata", now, 0, payload.NoMetadata, ""},
		{"", "application/json;odata=fullmetadata", now, 0, payload.Full, ""},

		// JSON is available since 2013-08-15, for clients that request OData 3.
		{"-", "application/json", "2013-08-15", 0, payload.Minimal, ""},
		{"-", "application/json", "2012-02-12", 0, payload.Atom, table.JSONFormatNotSupported},
		{"-", "application/json", "2014-02-14", 2, payload.Atom, table.JSONFormatNotSupported},
		{"-", "application/json", now, 2, payload.Minimal, ""},
		{"-", "application/json, application/atom+xml", "2012-02-12", 0, payload.Atom, ""},
		// ATOM was the default format until 2015-12-11, when it was removed.
		{"-", "", "2009-09-19", 0, payload.Atom, ""},
		{"-", "*/*", "2015-07-08", 3, payload.Atom, ""},
		{"-", "application/atom+xml,application/xml", "2011-08-18", 0, payload.Atom, ""},
		{"-", "application/xml", "2015-07-08", 3, payload.Atom, ""},
		{"atom", "application/json", "2014-02-14", 0, payload.Atom, ""},
		{"-", "application/atom+xml,application/xml", "2015-12-11", 0, payload.Minimal, table.AtomFormatNotSupported},
		{"-", "text/html, application/atom+xml", now, 0, payload.Minimal, table.AtomFormatNotSupported},
		{"atom", "application/json", now, 0, payload.Minimal, table.AtomFormatNotSupported},
		// If the client sends no version, all formats are available.
		{"-", "", "", 0, payload.Atom, ""},
		{"-", "application/json", "", 0, payload.Minimal, ""},
		{"-", "application/atom+xml", "", 0, payload.Atom, ""},

		{"-", "application/json;odata=verbose", now, 0, payload.Minimal, table.JSONVerboseFormatNotSupported},
		{"-", "application/json;odata=nonsense", now, 0, payload.Minimal, table.MediaTypeNotSupported},
		{"-", "text/html", now, 0, payload.Minimal, table.MediaTypeNotSupported},
		{"-", "text/html", "2012-02-12", 0, payload.Atom, table.MediaTypeNotSupported},
		{"-", ",", now, 0, payload.Minimal, table.MediaTypeNotSupported},
		{"banana", "application/json", now, 0, payload.Minimal, table.MediaTypeNotSupported},
	} {
		var format *string
		if tt.format != "-" {
			format = &tt.format
		}
		got, err := protocol.ResponseFormat(tt.version, tt.odata, format, tt.accept)
		if got != tt.want || code(t, err) != tt.err {
			t.Errorf("$format %q, Accept %q, version %q: got %v, %v, want %v, %s", tt.format, tt.accept, tt.version, got, err, tt.want, tt.err)
		}
	}
}

func TestRequestFormat(t *testing.T) {
	t.Parallel()
	const now = "2019-02-02"
	for _, tt := range []struct {
		version, contentType string
		want                 payload.Format
		err                  table.Code
	}{
		{now, "", payload.Minimal, ""},
		{"2012-02-12", "", payload.Atom, ""},
		{"", "", payload.Minimal, ""},
		{now, "application/json", payload.Minimal, ""},
		{now, "application/json;odata=nometadata;charset=utf-8", payload.NoMetadata, ""},
		{now, "APPLICATION/JSON; charset=UTF-8", payload.Minimal, ""},
		{now, "application/json;type=entry", payload.Minimal, ""},
		{now, "application/atom+xml;type=entry", payload.Atom, table.AtomFormatNotSupported},
		{"2015-07-08", "application/atom+xml;type=entry", payload.Atom, ""},
		{"", "application/xml", payload.Atom, ""},
		{"2012-02-12", "application/json", payload.Minimal, table.JSONFormatNotSupported},
		{now, "multipart/mixed; boundary=b", payload.Minimal, table.MediaTypeNotSupported},
		{now, "*/*", payload.Minimal, table.MediaTypeNotSupported},
		{"2012-02-12", "application/*", payload.Atom, table.MediaTypeNotSupported},
		{now, "text/plain", payload.Minimal, table.MediaTypeNotSupported},
		{now, "application/jsonp", payload.Minimal, table.MediaTypeNotSupported},
	} {
		got, err := protocol.RequestFormat(tt.version, tt.contentType)
		if got != tt.want || code(t, err) != tt.err {
			t.Errorf("%q of %q: got %v, %v, want %v, %q", tt.contentType, tt.version, got, err, tt.want, tt.err)
		}
	}
}

func TestParsePreference(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ prefer, want string }{
		{"", ""},
		{"return-content", "return-content"},
		{"return-no-content", "return-no-content"},
		{"Return-No-Content", "return-no-content"},
		{"respond-async, return-content ,return-no-content", "return-content"},
		{"return=minimal", ""},
		{",,", ""},
	} {
		if got := protocol.ParsePreference(tt.prefer); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.prefer, got, tt.want)
		}
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		version, data, max string
		want               float64 // -1 if an error is expected
	}{
		{"", "", "", 0},
		{"2009-04-14", "", "", 0},
		{"2099-12-31", "3.0;NetFx", "", 3},
		{"2019-02-02", "1.0", "2.0;", 2},
		{"2019-02-02", "garbage", "3.0", 3},
		{"2009-04-13", "", "", -1},
		{"2019-2-2", "", "", -1},
		{"2019-00-10", "", "", -1},
		{"2019-01-32", "", "", -1},
		{"2019/01/01", "", "", -1},
		{"20x9-01-01", "", "", -1},
		{"2019-02-02", "garbage", "", -1},
		{"2019-02-02", "NaN", "", -1},
		{"2019-02-02", "3.0", "9.0", -1},
		{"2019-02-02", "0.5", "", -1},
	} {
		h := protocol.Header{}
		if tt.data != "" {
			h["Dataserviceversion"] = []string{tt.data}
		}
		if tt.max != "" {
			h["Maxdataserviceversion"] = []string{tt.max}
		}
		got, err := protocol.Versions(tt.version, h)
		if tt.want < 0 && code(t, err) != table.InvalidHeaderValue || tt.want >= 0 && (err != nil || got != tt.want) {
			t.Errorf("%+v: got %v, %v", tt, got, err)
		}
	}
}

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
	if g.room != len(p) { // the previous buffer had space for g.room bytes, so p is in a new buffer
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

func TestEchoable(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		id   string
		want bool
	}{
		{"0f1e2d3c", true}, {strings.Repeat("x", 1024), true}, {"!~", true},
		{strings.Repeat("x", 1025), false}, {"two words", false}, {"a\r\nSet-Cookie: x", false}, {"é", false}, {"\x7f", false},
	} {
		if got := protocol.Echoable(tt.id); got != tt.want {
			t.Errorf("%.20q: %t", tt.id, got)
		}
	}
}

func TestAsError(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want table.Code
	}{
		{table.TableNotFound.Err(), table.TableNotFound},
		{context.Canceled, table.OperationTimedOut},
		{context.DeadlineExceeded, table.OperationTimedOut},
		{errors.New("secret"), table.InternalError},
	} {
		e := protocol.AsError(tt.err)
		if e.Code != tt.want || strings.Contains(e.Message, "secret") {
			t.Errorf("%v: got %+v", tt.err, e)
		}
	}
}
