package lambdaurl_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"edgetable/adapters/transport/lambdaurl"
	"edgetable/core/protocol"
	"edgetable/testdata/lambda/front"
)

// invoke returns the answer to an event.
func invoke(t *testing.T, h *lambdaurl.Handler, event []byte) []byte {
	t.Helper()
	answer, err := h.Invoke(t.Context(), event)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// TestAnswers checks that the answers have the form that each front door expects.
func TestAnswers(t *testing.T) {
	t.Parallel()
	header := []protocol.Field{
		{Name: "Content-Type", Value: "application/json"}, {Name: "Date", Value: "today"}, {Name: "Content-Length", Value: "9"},
		{Name: "Vary", Value: "Origin"}, {Name: "ETag", Value: `W/"1"`}, {Name: "Vary", Value: "Accept"},
	}
	batch := []protocol.Field{{Name: "Content-Type", Value: "multipart/mixed; boundary=b"}}
	for _, tt := range []struct {
		door   string
		header []protocol.Field
		body   string
		want   string
		why    string
	}{
		{"function-url", header, "{\"longer\":12345678}\r\n", `{"statusCode":200,"headers":{"Content-Type":"application/json","Vary":"Origin, Accept","ETag":"W/\"1\""},"isBase64Encoded":false,"body":"{\"longer\":12345678}\r\n"}`, "text"},
		{"function-url", batch, "--b\r\n", `{"statusCode":200,"headers":{"Content-Type":"multipart/mixed; boundary=b"},"isBase64Encoded":true,"body":"LS1iDQo="}`, "a batch"},
		{"function-url", nil, `""""""""`, `{"statusCode":200,"headers":{},"isBase64Encoded":true,"body":"IiIiIiIiIiI="}`, "base64 is shorter"},
		{"function-url", nil, "\x01\x7f\t<é\\", `{"statusCode":200,"headers":{},"isBase64Encoded":true,"body":"AX8JPMOpXA=="}`, "control characters"},
		{"function-url", nil, "abcdefghijklmnop\x01\t<é\\", `{"statusCode":200,"headers":{},"isBase64Encoded":false,"body":"abcdefghijklmnop\u0001\t<é\\"}`, "fewer of them"},
		{"function-url", nil, "\xff", `{"statusCode":200,"headers":{},"isBase64Encoded":true,"body":"/w=="}`, "no text"},
		{"rest-api", batch, "--b\r\n", `{"statusCode":200,"headers":{"Content-Type":"multipart/mixed; boundary=b"},"isBase64Encoded":false,"body":"--b\r\n"}`, "base64 would reach clients as such"},
		{"load-balancer", nil, "x", `{"statusCode":200,"headers":{},"isBase64Encoded":false,"body":"x"}`, "single values"},
		{"load-balancer-lists", header[3:], "x", `{"statusCode":200,"statusDescription":"200 OK","multiValueHeaders":{"Vary":["Origin, Accept"],"ETag":["W/\"1\""]},"isBase64Encoded":false,"body":"x"}`, "lists"},
	} {
		r := &recorder{resp: protocol.Response{Status: 200, Header: tt.header, Body: []byte(tt.body)}}
		got := invoke(t, &lambdaurl.Handler{Protocol: r}, fixture(t, tt.door))
		if string(got) != tt.want {
			t.Errorf("%s, %s:\n%s\nwant\n%s", tt.door, tt.why, got, tt.want)
		}
		if !json.Valid(got) {
			t.Errorf("%s, %s: no JSON: %s", tt.door, tt.why, got)
		}
	}
}

// TestHead checks that the response to HEAD has no body, buffered or streamed.
func TestHead(t *testing.T) {
	t.Parallel()
	r := &recorder{resp: protocol.Response{Status: 200, Body: []byte("x")}}
	event := bytes.Replace(fixture(t, "function-url"), []byte(`"method": "POST"`), []byte(`"method": "HEAD"`), 1)
	h := &lambdaurl.Handler{Protocol: r}
	if got := invoke(t, h, event); !bytes.HasSuffix(got, []byte(`"isBase64Encoded":false,"body":""}`)) {
		t.Errorf("%s", got)
	}
	stream, err := h.Stream(t.Context(), event)
	if err != nil || stream.Body != nil {
		t.Errorf("%v, %v", stream, err)
	}
}

// pages is a Protocol whose response bodies have this number of bytes.
type pages struct {
	recorder
	bytes int
}

func (p *pages) Serve(ctx context.Context, req *protocol.Request) protocol.Response {
	resp := p.recorder.Serve(ctx, req)
	resp.Status, resp.Body = 200, bytes.Repeat([]byte("x"), p.bytes)
	return resp
}

// TestSizes checks that a read whose response is too large is repeated with smaller pages.
func TestSizes(t *testing.T) {
	t.Parallel()
	const mega = 1 << 20
	for _, tt := range []struct {
		door, method string
		sizes        [3]int // sizes of the responses of Handler.Protocol and of the two elements of Handler.Narrow
		status       int
		served       [3]int // number of calls of Handler.Protocol and of the two elements of Handler.Narrow
		why          string
	}{
		{"function-url", "GET", [3]int{5 * mega, 1, 1}, 200, [3]int{1, 0, 0}, "it fits"},
		{"function-url", "GET", [3]int{6 * mega, 5 * mega, 1}, 200, [3]int{1, 1, 0}, "its frame makes it too large"},
		{"function-url", "GET", [3]int{9 * mega, 7 * mega, 5 * mega}, 200, [3]int{1, 1, 1}, "the last one fits"},
		{"function-url", "GET", [3]int{9 * mega, 9 * mega, 9 * mega}, 501, [3]int{1, 1, 1}, "none does"},
		{"function-url", "POST", [3]int{9 * mega, 1, 1}, 500, [3]int{1, 0, 0}, "a write is not done again"},
		{"load-balancer", "GET", [3]int{1, 1, mega / 2}, 200, [3]int{0, 0, 1}, "pages of a load balancer are short from the start"},
		{"load-balancer", "GET", [3]int{1, 1, 2 * mega}, 501, [3]int{0, 0, 1}, "not short enough"},
		{"load-balancer", "POST", [3]int{mega / 2, 1, 1}, 200, [3]int{1, 0, 0}, "a write is done as anywhere"},
	} {
		var p [3]*pages
		for i, n := range tt.sizes {
			p[i] = &pages{bytes: n}
		}
		var seen lambdaurl.Observation
		h := &lambdaurl.Handler{Protocol: p[0], Narrow: []lambdaurl.Protocol{p[1], p[2]}, Observe: func(_ context.Context, o *lambdaurl.Observation) {
			seen = *o
		}}
		event := fixture(t, tt.door)
		for _, method := range []string{"GET", "POST"} {
			event = bytes.Replace(event, []byte(`ethod": "`+method), []byte(`ethod": "`+tt.method), 1)
		}
		answer := invoke(t, h, event)
		if !bytes.HasPrefix(answer, fmt.Appendf(nil, `{"statusCode":%d,`, tt.status)) {
			t.Errorf("%s: %.200s", tt.why, answer)
		}
		for i := range p {
			if p[i].served != tt.served[i] {
				t.Errorf("%s: protocol %d was asked %d times", tt.why, i, p[i].served)
			}
		}
		again := tt.served[0] + tt.served[1] + tt.served[2] - 1
		if seen.Response.Sent != len(answer) || seen.Narrowed != again || seen.Response.Status != tt.status || seen.Door != tt.door {
			t.Errorf("%s: observed %+v", tt.why, seen)
		}
	}
}

// TestStream checks that a streamed response has no size limit, and that a load balancer gets an error instead of
// a stream.
func TestStream(t *testing.T) {
	t.Parallel()
	h := &lambdaurl.Handler{Protocol: &pages{bytes: 20 << 20}}
	stream, err := h.Stream(t.Context(), fixture(t, "function-url"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(stream)
	if err != nil || stream.Close() != nil {
		t.Fatal(err)
	}
	if resp, err := front.Stream(b, time.Now()); err != nil || resp.Status != 200 || len(resp.Body) != 20<<20 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if _, err := h.Stream(t.Context(), fixture(t, "load-balancer")); err == nil || !strings.Contains(err.Error(), "no stream") {
		t.Errorf("a load balancer: %v", err)
	}
}

// TestCut checks that a response with Cut set becomes an empty response, because a Lambda function cannot cut a
// connection.
func TestCut(t *testing.T) {
	t.Parallel()
	h := &lambdaurl.Handler{Protocol: &recorder{resp: protocol.Response{
		Status: 201, Disconnect: true, Body: []byte("nobody gets this"), Header: []protocol.Field{{Name: "ETag", Value: "1"}},
	}}}
	if got := invoke(t, h, fixture(t, "function-url")); string(got) != `{"statusCode":502,"headers":{},"isBase64Encoded":false,"body":""}` {
		t.Errorf("%s", got)
	}
	if stream, err := h.Stream(t.Context(), fixture(t, "function-url")); err != nil || stream.StatusCode != http.StatusBadGateway || stream.Body != nil {
		t.Errorf("%+v, %v", stream, err)
	}
}

// TestDeadline checks that the context of the protocol ends before Lambda ends the function.
func TestDeadline(t *testing.T) {
	t.Parallel()
	for all, want := range map[time.Duration]time.Duration{
		time.Hour:   500 * time.Millisecond,
		time.Second: 250 * time.Millisecond, // a quarter of the function's time, because the usual margin of 500 ms is more than a quarter
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), all)
			defer cancel()
			end, _ := ctx.Deadline()
			r := &recorder{resp: protocol.Response{Status: 204}}
			if _, err := (&lambdaurl.Handler{Protocol: r}).Invoke(ctx, fixture(t, "function-url")); err != nil {
				t.Fatal(err)
			}
			if got, ok := r.ctx.Deadline(); !ok || end.Sub(got) != want {
				t.Errorf("of %v, %v are left for the answer, want %v", all, end.Sub(got), want)
			}
		})
	}
}
