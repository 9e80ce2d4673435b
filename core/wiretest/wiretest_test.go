package wiretest_test

import (
	"strings"
	"testing"

	"edgetable/core/wiretest"
)

func TestExpand(t *testing.T) {
	t.Parallel()
	captured := map[string]string{"02.etag": `W/"a b"`}
	for _, tt := range []struct{ in, want string }{
		{"plain $batch (x)", "plain $batch (x)"},
		{"$(repeat 3|ab|)c", "abababc"},
		{"$(count 9 11|r@,|).", "r9,r10,r11,."},
		{"$(repeat 2|(|)$(repeat 2|)|)", "(())"},
		{"If-Match: $(02.ETag)", `If-Match: W/"a b"`},
		{"$(02.ETAG|query)&", "W%2F%22a%20b%22&"},
	} {
		if got, err := wiretest.Expand(tt.in, captured); err != nil || got != tt.want {
			t.Errorf("%q: got %q, %v, want %q", tt.in, got, err, tt.want)
		}
	}
	for _, in := range []string{"$(03.ETag)", "$(repeat 3|ab", "$(repeat x|a|)", "$(count 1|a|)"} {
		if got, err := wiretest.Expand(in, captured); err == nil {
			t.Errorf("%q: got %q", in, got)
		}
	}
}

// Every sequence of line ends has a text, and the text gives it back.
func TestLines(t *testing.T) {
	t.Parallel()
	for _, wire := range []string{"", "a", "a\n", "a\r\n", "a\n\n", "a\r\n\r\n", "\r\n", "a\r\nb", "a\nb\r\nc\n", "a\r\n\n"} {
		if got := wiretest.Lines(wiretest.Unlines(wire)); got != wire {
			t.Errorf("%q became %q by %q", wire, got, wiretest.Unlines(wire))
		}
	}
}

// A transcript says for each exchange, once, on what authority its answer is
// right.
func TestTranscriptShape(t *testing.T) {
	t.Parallel()
	const files = "-- 01-a.request --\nGET / HTTP/1.1\n-- 01-a.response --\nHTTP/1.1 200\n-- 02-b.request --\nGET / HTTP/1.1\n"
	tr, err := wiretest.Parse("Title.\n\n01: documentation\n02: choice: why not\n" + files)
	if err != nil || len(tr.Exchanges) != 2 || tr.Exchanges[1].Name != "b" || tr.Exchanges[1].Response != "" {
		t.Fatalf("%+v, %v", tr, err)
	}
	for _, tt := range []struct{ text, why string }{
		{"01: documentation\n" + files, "an exchange without an authority"},
		{"01: documentation\n02: hearsay\n" + files, "an authority that is none"},
		{"01: documentation\n02: choice:\n" + files, "a choice without a reason"},
		{"01-02: documentation\n02: users\n" + files, "two authorities"},
		{"01-02: documentation\n", "no exchange"},
		{"01-02: documentation\n-- 02-a.request --\nx\n-- 01-b.request --\nx\n", "numbers that fall"},
		{"01: documentation\n-- 01-a.response --\nx\n", "an answer to nothing"},
		{"01: documentation\n-- first.request --\nx\n", "no number"},
	} {
		if _, err := wiretest.Parse(tt.text); err == nil {
			t.Errorf("%s was taken", tt.why)
		}
	}
}

func TestNewRequest(t *testing.T) {
	t.Parallel()
	r, err := wiretest.NewRequest("POST /devstoreaccount1/t HTTP/1.1\nHost: h\nPrefer: x\nx-ms-version: (absent)\n\na⏎\nb\n", wiretest.Start)
	if err != nil {
		t.Fatal(err)
	}
	if r.Method != "POST" || r.Target != "/devstoreaccount1/t" || r.Host != "h" || string(r.Body) != "a\r\nb" || r.Chunked {
		t.Errorf("%+v", r)
	}
	for name, want := range map[string]string{
		"Prefer": "x", "x-ms-version": "", "Content-Length": "4", "x-ms-date": "Wed, 04 Mar 2026 05:06:07 GMT", "host": "",
	} {
		if got := r.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if !strings.HasPrefix(r.Get("Authorization"), "SharedKeyLite devstoreaccount1:") {
		t.Errorf("Authorization: %s", r.Get("Authorization"))
	}
	for _, text := range []string{"GET /", "GET / x HTTP/1.1\n", "GET / HTTP/1.1\nno colon\n", "GET / HTTP/1.1\nAuthorization: (nonsense)\n"} {
		if r, err := wiretest.NewRequest(text, wiretest.Start); err == nil {
			t.Errorf("%q: %+v", text, r)
		}
	}
}

// What is left out of a text was judged.
func TestResponseText(t *testing.T) {
	t.Parallel()
	const id, boundary = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", "11111111-2222-3333-4444-555555555555"
	header := func(more ...wiretest.Field) []wiretest.Field {
		return append([]wiretest.Field{{Name: "x-ms-request-id", Value: id}, {Name: "Date", Value: "Wed, 04 Mar 2026 05:06:07 GMT"}}, more...)
	}
	r := wiretest.Response{Status: 202, Header: header(wiretest.Field{Name: "Content-Type", Value: "x; boundary=batchresponse_" + boundary}, wiretest.Field{Name: "a", Value: "1"}),
		Body: []byte("--batchresponse_" + boundary + "\r\n" + `"x\nRequestId:` + id + `\nTime:2026-03-04T05:06:07.1234567Z"`)}
	got, err := r.Text("GET")
	const want = "HTTP/1.1 202\na: 1\nContent-Type: x; boundary=batchresponse_{guid-1}\n\n--batchresponse_{guid-1}⏎\n" + `"x\nRequestId:{request-id}\nTime:{time}"` + "\n"
	if err != nil || got != want {
		t.Errorf("got %q, %v\nwant %q", got, err, want)
	}
	for _, tt := range []struct {
		why    string
		header []wiretest.Field
	}{
		{"no request id", header()[1:]},
		{"two request ids", header(header()[0])},
		{"a request id that is no GUID", []wiretest.Field{{Name: "x-ms-request-id", Value: "1"}, header()[1]}},
		{"no date", header()[:1]},
		{"an unreadable date", []wiretest.Field{header()[0], {Name: "Date", Value: "now"}}},
		{"a wrong length", header(wiretest.Field{Name: "Content-Length", Value: "5"})},
	} {
		r := wiretest.Response{Status: 200, Header: tt.header, Body: []byte("four")}
		if text, err := r.Text("GET"); err == nil {
			t.Errorf("%s was taken: %q", tt.why, text)
		}
	}
	r = wiretest.Response{Status: 200, Header: header(wiretest.Field{Name: "Content-Length", Value: "5"})}
	if _, err := r.Text("HEAD"); err != nil {
		t.Errorf("HEAD: %v", err)
	}
}

func TestDifference(t *testing.T) {
	t.Parallel()
	got := wiretest.Difference("a\nb\nc\n", "a\nx\nc\n")
	if !strings.Contains(got, "line 2") || !strings.Contains(got, "b\nc\n") || !strings.Contains(got, "x\nc\n") || strings.Contains(got, "a\n") {
		t.Errorf("%s", got)
	}
}
