package wiretest

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

func TestExpand(t *testing.T) {
	t.Parallel()
	captured := map[string]string{"02.etag": `W/"a b"`, "03": "<Key><Value>a+b=</Value><Empty></Empty></Key>"}
	for _, tt := range []struct{ in, want string }{
		{"plain $batch (x)", "plain $batch (x)"},
		{"$(repeat 3|ab|)c", "abababc"},
		{"$(count 9 11|r@,|).", "r9,r10,r11,."},
		{"$(repeat 2|(|)$(repeat 2|)|)", "(())"},
		{"If-Match: $(02.ETag)", `If-Match: W/"a b"`},
		{"$(02.ETAG|query)&", "W%2F%22a%20b%22&"},
		{"$(03<Value>)$(03<Empty>)", "a+b="},
		{"$(03<Value>|query)", "a%2Bb%3D"},
	} {
		if got, err := expand(tt.in, Account, captured); err != nil || got != tt.want {
			t.Errorf("%q: got %q, %v, want %q", tt.in, got, err, tt.want)
		}
	}
	for _, in := range []string{"$(03.ETag)", "$(repeat 3|ab", "$(repeat x|a|)", "$(count 1|a|)",
		"$(03<Nothing>)", "$(04<Value>)", "$(sas 04<Value> sv=1)", "$(sas sv=%)"} {
		if got, err := expand(in, Account, captured); err == nil {
			t.Errorf("%q: got %q, want an error", in, got)
		}
	}
}

// TestLines checks that every sequence of line ends can be written as text in an archive, and that lines()
// restores the line ends.
func TestLines(t *testing.T) {
	t.Parallel()
	for _, wire := range []string{"", "a", "a\n", "a\r\n", "a\n\n", "a\r\n\r\n", "\r\n", "a\r\nb", "a\nb\r\nc\n", "a\r\n\n",
		"\ufeff<?xml version=\"1.0\"?><a><b>x</b><c/><d><e>y</e></d></a>"} {
		if got := lines(unlines(wire)); got != wire {
			t.Errorf("%q became %q, through the text %q", wire, got, unlines(wire))
		}
	}
}

// TestTranscriptShape checks that malformed transcripts are refused. A transcript must name exactly one authority
// (the evidence that a response is right) for each exchange.
func TestTranscriptShape(t *testing.T) {
	t.Parallel()
	const files = "-- 01-a.request --\nGET / HTTP/1.1\n-- 01-a.response --\nHTTP/1.1 200\n-- 02-b.request --\nGET / HTTP/1.1\n"
	tr, err := parseText("Title.\n\nserver: lag 5m\nserver: no bearer\n\n01: documentation\n02: choice: why not\n" + files)
	if err != nil || strings.Join(tr.Directives, ",") != "lag 5m,no bearer" || len(tr.Exchanges) != 2 || tr.Exchanges[1].Name != "b" || tr.Exchanges[1].Response != "" {
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
		if _, err := parseText(tt.text); err == nil {
			t.Errorf("accepted: %s", tt.why)
		}
	}
}

func TestNewRequest(t *testing.T) {
	t.Parallel()
	r, err := NewRequest("POST /devstoreaccount1/t HTTP/1.1\nHost: h\nPrefer: x\nx-ms-version: (absent)\n\na⏎\nb\n", Start)
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
		if r, err := NewRequest(text, Start); err == nil {
			t.Errorf("%q: got %+v, want an error", text, r)
		}
	}
}

// TestResponseText checks that Response.text verifies the request id, the date and the length of a response. The
// resulting text leaves out these headers.
func TestResponseText(t *testing.T) {
	t.Parallel()
	const id, boundary = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", "11111111-2222-3333-4444-555555555555"
	header := func(more ...Field) []Field {
		return append([]Field{{Name: "x-ms-request-id", Value: id}, {Name: "Date", Value: "Wed, 04 Mar 2026 05:06:07 GMT"}}, more...)
	}
	r := Response{Status: 202, Header: header(Field{Name: "Content-Type", Value: "x; boundary=batchresponse_" + boundary}, Field{Name: "a", Value: "1"}),
		Body: []byte("--batchresponse_" + boundary + "\r\n" + `"x\nRequestId:` + id + `\nTime:2026-03-04T05:06:07.1234567Z"`)}
	got, err := r.text("GET")
	const want = "HTTP/1.1 202\na: 1\nContent-Type: x; boundary=batchresponse_{guid-1}\n\n--batchresponse_{guid-1}⏎\n" + `"x\nRequestId:{request-id}\nTime:{time}"` + "\n"
	if err != nil || got != want {
		t.Errorf("got %q, %v\nwant %q", got, err, want)
	}
	for _, tt := range []struct {
		why    string
		header []Field
	}{
		{"no request id", header()[1:]},
		{"two request ids", header(header()[0])},
		{"a request id that is no GUID", []Field{{Name: "x-ms-request-id", Value: "1"}, header()[1]}},
		{"no date", header()[:1]},
		{"an unreadable date", []Field{header()[0], {Name: "Date", Value: "now"}}},
		{"a wrong length", header(Field{Name: "Content-Length", Value: "5"})},
	} {
		r := Response{Status: 200, Header: tt.header, Body: []byte("four")}
		if text, err := r.text("GET"); err == nil {
			t.Errorf("accepted: %s: %q", tt.why, text)
		}
	}
	r = Response{Status: 200, Header: header(Field{Name: "Content-Length", Value: "5"})}
	if _, err := r.text("HEAD"); err != nil {
		t.Errorf("HEAD: %v", err)
	}
}

func TestDifference(t *testing.T) {
	t.Parallel()
	got := difference("a\nb\nc\n", "a\nx\nc\n")
	if !strings.Contains(got, "line 2") || !strings.Contains(got, "b\nc\n") || !strings.Contains(got, "x\nc\n") || strings.Contains(got, "a\n") {
		t.Errorf("%s", got)
	}
}

// TestXMLText checks that XML in a transcript has a visible byte order mark, and is broken into lines.
func TestXMLText(t *testing.T) {
	t.Parallel()
	const wire = "\ufeff<?xml version=\"1.0\"?><a><b>x</b><c /><d><e>y</e></d></a>"
	const want = "⟨BOM⟩<?xml version=\"1.0\"?>¬\n<a><b>x</b>¬\n<c />¬\n<d><e>y</e></d></a>\n"
	if got := unlines(wire); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestSignature compares shared access signatures with known results.
func TestSignature(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, signature string }{
		{"sv=2019-02-02&tn=MyTable&sp=raud&se=2030-01-01T00%3A00%3A00Z", "VH1kJ2dMcGJPJnFMefVZ3HMd1fedSci/031kWIgJz0w="},
		{"sp=r&st=2020-01-01T00:00:00Z&se=2030-01-01T00:00:00Z&tn=mytable&sip=168.1.5.60-168.1.5.70&spr=https,http&sv=2019-02-02&spk=a&srk=1&epk=b&erk=9", "x4zuakaT9Lrn1j5Asah+4CZnJnzx5Ojnghnt2CoEwfk="},
		{"sp=r&se=2030-01-01T00:00:00Z&tn=mytable&sv=2013-08-15", "c00v2CQEAVbFrIq2ft+GYjp3/UOs0dKAQ+X/Kda/D3k="},
		{"sp=rwdlacu&ss=t&srt=sco&se=2030-01-01T00:00:00Z&spr=https,http&sv=2019-02-02", "dKEa4zPUq/dWdOLrCYusn1Jnz45OJCCdBPi+hMWeijk="},
		{"sp=rwdlacu&ss=t&srt=sco&se=2030-01-01T00:00:00Z&spr=https,http&sv=2020-12-06", "aQbb1uM9CNZPJhjuzMWpvrja5t6VW2FlvCUFVvjctAk="},
	} {
		got, err := expand("/t?$(sas "+tt.in+")", Account, nil)
		if want := "/t?" + tt.in + "&sig=" + url.QueryEscape(tt.signature); err != nil || got != want {
			t.Errorf("got %s, %v\nwant %s", got, err, want)
		}
	}
	seen := make(map[string]bool)
	for _, key := range []string{"", "wrong ", "second ", "03<Value> "} {
		got, err := expand("$(sas "+key+"sv=2019-02-02&tn=t&skoid=x)", Account, map[string]string{"03": "<Value>YQ==</Value>"})
		if err != nil || seen[got] {
			t.Errorf("%q: %s, %v", key, got, err)
		}
		seen[got] = true
	}
}

// TestAddressed checks that requests are signed for the right account.
func TestAddressed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"GET /devstoreaccount1/Tables HTTP/1.1\n":                                     Account,
		"GET /twokeys-secondary/Tables HTTP/1.1\n":                                    "twokeys",
		"GET //secondaccount?comp=list HTTP/1.1\n":                                    Account,
		"GET /secondaccount HTTP/1.1\n":                                               "secondaccount",
		"GET /Tables HTTP/1.1\nAccept: x\nHost: twokeys.table.example.com\n\nbody":    "twokeys",
		"GET http://twokeys-secondary.table.example.com/Tables HTTP/1.1\n":            "twokeys",
		"GET /nobody/Tables HTTP/1.1\n\nHost: twokeys.table.example.com\n":            Account,
		"GET http://127.0.0.1:10002/twokeys/Tables HTTP/1.1\nHost: 127.0.0.1:10002\n": "twokeys",
	} {
		if got := addressed(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

// TestDirectives checks that the server obeys known directives, and refuses unknown ones.
func TestDirectives(t *testing.T) {
	t.Parallel()
	var clock Clock
	for _, d := range []string{
		"no bearer", "any date", "path style", "lag 5m", "limits account=1/s burst=2", "limits partition=0.5/s burst=1", "limits failures=1/s burst=1",
		"store Commit busy", "store WriteRecord being-deleted",
	} {
		if _, err := newHandler(&clock, []string{d}); err != nil {
			t.Error(err)
		}
	}
	for _, d := range []string{"", "bearer", "lag", "limits", "limits account", "limits everybody=1/s burst=2", "store Commit", "store Commit well", "store Strengths busy"} {
		if _, err := newHandler(&clock, []string{"no bearer", d}); err == nil {
			t.Errorf("accepted the directive %q", d)
		}
	}
}

// parseText parses an archive from its text.
func parseText(text string) (*Transcript, error) { return parse("x.txtar", txtar.Parse([]byte(text))) }

// TestRecentTimestamps checks that nameAny replaces the Timestamps of the last hour by placeholders, even those
// at a whole second. It must not replace older Timestamps, because they are data.
func TestRecentTimestamps(t *testing.T) {
	t.Parallel()
	var m moments
	now := time.Now().UTC().Truncate(time.Second)
	whole, after := now.Format(time.RFC3339), now.Add(time.Millisecond).Format(time.RFC3339Nano)
	text := whole + " " + strings.ReplaceAll(after, ":", "%3A") + " " + whole + " 2008-07-10T00:00:00Z"
	if got, want := m.nameAny(text), "{Timestamp 0} {Timestamp 1} {Timestamp 0} 2008-07-10T00:00:00Z"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
