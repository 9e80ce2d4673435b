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
		format, accept, version string // format "-" is absent
		want                    payload.Format
		err                     table.Code
	}{
		{"-", "", now, payload.Minimal, ""},
		{"-", "*/*", now, payload.Minimal, ""},
		{"-", "application/*", now, payload.Minimal, ""},
		{"-", "application/json", now, payload.Minimal, ""},
		{"-", "application/json;odata=nometadata", now, payload.NoMetadata, ""},
		{"-", "Application/JSON; ODATA=FullMetadata; charset=utf-8", now, payload.Full, ""},
		{"-", `application/json;odata="minimalmetadata"`, now, payload.Minimal, ""},
		{"-", "application/json;q=0.5;odata=nometadata", now, payload.NoMetadata, ""},
		{"-", "text/html,application/json;odata=fullmetadata,*/*", now, payload.Full, ""},
		{"-", "application/atom+xml, application/json;odata=nometadata", now, payload.NoMetadata, ""},
		{"-", "application/json;odata=verbose, application/json;odata=nometadata", now, payload.NoMetadata, ""},
		{"json", "application/atom+xml", now, payload.Minimal, ""},
		{"application/json;odata=nometadata", "application/json;odata=fullmetadata", now, payload.NoMetadata, ""},
		{"", "application/json;odata=fullmetadata", now, payload.Full, ""},
		{"-", "application/json", "", payload.Minimal, ""},
		{"-", "application/json", "2013-08-15", payload.Minimal, ""},
		{"-", "*/*", "2012-02-12", payload.Minimal, ""},

		{"-", "application/json", "2012-02-12", payload.Minimal, table.JSONFormatNotSupported},
		{"-", "application/json;odata=verbose", now, payload.Minimal, table.JSONVerboseFormatNotSupported},
		{"-", "application/json;odata=nonsense", now, payload.Minimal, table.MediaTypeNotSupported},
		{"-", "application/atom+xml,application/xml", now, payload.Minimal, table.AtomFormatNotSupported},
		{"-", "text/html, application/atom+xml", now, payload.Minimal, table.AtomFormatNotSupported},
		{"atom", "application/json", now, payload.Minimal, table.AtomFormatNotSupported},
		{"-", "text/html", now, payload.Minimal, table.MediaTypeNotSupported},
		{"-", ",", now, payload.Minimal, table.MediaTypeNotSupported},
		{"banana", "application/json", now, payload.Minimal, table.MediaTypeNotSupported},
	} {
		var format *string
		if tt.format != "-" {
			format = &tt.format
		}
		got, err := protocol.ResponseFormat(format, tt.accept, tt.version)
		if got != tt.want || code(t, err) != tt.err {
			t.Errorf("$format %q, Accept %q, version %q: got %v, %v, want %v, %s", tt.format, tt.accept, tt.version, got, err, tt.want, tt.err)
		}
	}
}

func TestCheckContentType(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		contentType string
		want        table.Code
	}{
		{"", ""},
		{"application/json", ""},
		{"application/json;odata=nometadata;charset=utf-8", ""},
		{"APPLICATION/JSON; charset=UTF-8", ""},
		{"application/json;type=entry", ""},
		{"application/atom+xml;type=entry", table.AtomFormatNotSupported},
		{"application/xml", table.AtomFormatNotSupported},
		{"multipart/mixed; boundary=b", table.MediaTypeNotSupported},
		{"*/*", table.MediaTypeNotSupported},
		{"text/plain", table.MediaTypeNotSupported},
		{"application/jsonp", table.MediaTypeNotSupported},
	} {
		if err := protocol.CheckContentType(tt.contentType); code(t, err) != tt.want {
			t.Errorf("%q: got %v, want %q", tt.contentType, err, tt.want)
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

func TestCheckVersions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		version, data, max string
		ok                 bool
	}{
		{"", "", "", true},
		{"2009-04-14", "", "", true},
		{"2099-12-31", "3.0;NetFx", "", true},
		{"2019-02-02", "1.0", "2.0;", true},
		{"2019-02-02", "garbage", "3.0", true},
		{"2009-04-13", "", "", false},
		{"2019-2-2", "", "", false},
		{"2019-00-10", "", "", false},
		{"2019-01-32", "", "", false},
		{"2019/01/01", "", "", false},
		{"20x9-01-01", "", "", false},
		{"2019-02-02", "garbage", "", false},
		{"2019-02-02", "NaN", "", false},
		{"2019-02-02", "3.0", "9.0", false},
		{"2019-02-02", "0.5", "", false},
	} {
		h := protocol.Header{}
		if tt.data != "" {
			h["Dataserviceversion"] = []string{tt.data}
		}
		if tt.max != "" {
			h["Maxdataserviceversion"] = []string{tt.max}
		}
		want := table.InvalidHeaderValue
		if tt.ok {
			want = ""
		}
		if err := protocol.CheckVersions(tt.version, h); code(t, err) != want {
			t.Errorf("%+v: got %v", tt, err)
		}
	}
}

// A body is read up to the limit, in memory that grows with what arrives and not
// with what was announced.
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
		{"all that is allowed", strings.NewReader(strings.Repeat("a", protocol.MaxBody)), -1, protocol.MaxBody, ""},
		{"a byte more", strings.NewReader(strings.Repeat("a", protocol.MaxBody+1)), -1, 0, table.RequestBodyTooLarge},
		{"without end", endless{}, -1, 0, table.RequestBodyTooLarge},
		{"longer than its length", strings.NewReader("abc"), 2, 0, table.InvalidInput},
		{"shorter than its length", strings.NewReader("abc"), 4, 0, table.InvalidInput},
		{"broken", iotest.ErrReader(broken), 4, 0, table.InvalidInput},
		{"broken within", io.MultiReader(strings.NewReader("ab"), iotest.ErrReader(broken)), -1, 0, table.InvalidInput},
	} {
		for _, buffer := range [][]byte{nil, make([]byte, 0, 10), make([]byte, 0, 100_000)} {
			if buffer != nil && tt.want == 0 {
				continue // the readers of failures are used up
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
		t.Errorf("an announcement of 4 MiB took %d bytes, %v", cap(got), err)
	}
}

// endless is a body whose sender does not stop.
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
