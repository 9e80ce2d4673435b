package wire_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"edgetable/core/sharedkey"
	"edgetable/functions/edgetable/load/wire"
	"edgetable/testdata/must"
)

func target(t *testing.T, url string) wire.Target {
	t.Helper()
	tg, err := wire.NewTarget(url+"/a", wire.Development("a"))
	must.OK(t, err)
	return tg
}

// TestAgainstNetHTTP sends each request twice over one connection to a server of Go's library. The server must
// understand the requests, the signature must be valid, and response bodies with any framing must be read
// completely.
func TestAgainstNetHTTP(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789abcdef", 20000)
	mux := http.NewServeMux()
	account := wire.Development("a")
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		cred, err := sharedkey.ParseAuthorization(r.Header.Get("Authorization"))
		path, query, _ := strings.Cut(r.RequestURI, "?")
		if err == nil {
			err = account.Verify(cred, sharedkey.Request{Method: r.Method, Path: path, RawQuery: query, XMSDate: r.Header.Get("x-ms-date")}, time.Now(), time.Minute)
		}
		body, _ := io.ReadAll(r.Body)
		if err != nil || string(body) != "" && string(body) != "hello" || r.Header.Get("Accept") != "x" {
			http.Error(w, fmt.Sprint(err, len(body), r.Header), 400)
			return
		}
		switch r.URL.Path {
		case "/devstoreaccount1/length":
			w.Header().Set("Content-Length", fmt.Sprint(len(long)))
			io.WriteString(w, long)
		case "/devstoreaccount1/chunks":
			w.Header().Set("x-ms-continuation-NextPartitionKey", "1!4!cA--")
			w.Header().Set("x-ms-continuation-NextRowKey", "1!4!cg--")
			io.WriteString(w, long[:10])
			w.(http.Flusher).Flush()
			io.WriteString(w, long[10:])
		default:
			w.WriteHeader(204)
		}
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	c, err := wire.Dial(t.Context(), target(t, srv.URL))
	must.OK(t, err)
	t.Cleanup(func() { c.Close() })
	for range 2 {
		for _, tt := range []struct {
			req    wire.Request
			status int
			body   string
			next   string
		}{
			{wire.Request{Method: "GET", Path: []byte("/devstoreaccount1/length"), Query: []byte("$filter=a%20eq%201")}, 200, long, ""},
			{wire.Request{Method: "GET", Path: []byte("/devstoreaccount1/chunks")}, 200, long, "1!4!cA--/1!4!cg--"},
			{wire.Request{Method: "POST", Path: []byte("/devstoreaccount1/t(a='b%20c')"), Body: []byte("hello")}, 204, "", ""},
			{wire.Request{Method: "DELETE", Path: []byte("/devstoreaccount1/t")}, 204, "", ""},
		} {
			tt.req.Header = "Accept: x\r\n"
			resp, err := c.Do(&tt.req)
			if err != nil {
				t.Fatalf("%s %s: %v", tt.req.Method, tt.req.Path, err)
			}
			next := ""
			if resp.NextPartition != "" {
				next = resp.NextPartition + "/" + resp.NextRow
			}
			if resp.Status != tt.status || string(resp.Body) != tt.body || next != tt.next {
				t.Errorf("%s %s: status %d, %d bytes, next %q; want %d, %d, %q: %.100s", tt.req.Method, tt.req.Path,
					resp.Status, len(resp.Body), next, tt.status, len(tt.body), tt.next, resp.Body)
			}
		}
	}
}

// TestConnectAgain sends requests to a server that closes the connection after every second response. Proxies do
// this after a number of requests. No request may fail. After Close, a Conn must not reconnect.
func TestConnectAgain(t *testing.T) {
	t.Parallel()
	var served atomic.Int32
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if served.Add(1)%2 == 0 {
			w.Header().Set("Connection", "close")
		}
		io.WriteString(w, "hello")
	}))
	var opened atomic.Int32
	srv.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	srv.Start()
	t.Cleanup(srv.Close)
	c, err := wire.Dial(t.Context(), target(t, srv.URL))
	must.OK(t, err)
	get := &wire.Request{Method: "GET", Path: []byte("/t")}
	for range 6 {
		if resp, err := c.Do(get); err != nil || resp.Status != 200 || string(resp.Body) != "hello" {
			t.Fatalf("request %d: %+v, %v", served.Load(), resp, err)
		}
	}
	if got := opened.Load(); got != 3 {
		t.Errorf("%d connections for 6 requests, want 3", got)
	}
	c.Close()
	if resp, err := c.Do(get); err == nil {
		t.Errorf("a closed connection answers %+v", resp)
	}
}

// answer starts a server that answers one request with the given bytes and then closes the connection.
func answer(t testing.TB, raw string) wire.Target {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	must.OK(t, err)
	t.Cleanup(func() { ln.Close() })
	go func() {
		nc, err := ln.Accept()
		if err != nil {
			return
		}
		defer nc.Close()
		if _, err := http.ReadRequest(bufio.NewReader(nc)); err == nil {
			io.WriteString(nc, raw)
		}
	}()
	tg, err := wire.NewTarget("http://"+ln.Addr().String(), wire.Development("a"))
	must.OK(t, err)
	return tg
}

func TestBrokenResponses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, raw string }{
		{"closed before the answer", ""},
		{"another protocol", "SSH-2.0-OpenSSH_9.2\r\n\r\n"},
		{"status not a number", "HTTP/1.1 abc OK\r\n\r\n"},
		{"interim response, never asked for", "HTTP/1.1 100 Continue\r\n\r\n"},
		{"head cut off", "HTTP/1.1 200 OK\r\nContent-Le"},
		{"header without colon", "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n"},
		{"body shorter than promised", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n123"},
		{"negative length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"},
		{"length beyond the limit", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"},
		{"chunk size not hexadecimal", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"},
		{"chunk beyond the limit", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7fffffff\r\n"},
		{"chunk without its line end", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n"},
		{"no last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := wire.Dial(t.Context(), answer(t, tt.raw))
			must.OK(t, err)
			defer c.Close()
			if resp, err := c.Do(&wire.Request{Method: "GET", Path: []byte("/t")}); err == nil {
				t.Errorf("accepted as %+v", resp)
			}
		})
	}
}

func TestNewTarget(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		endpoint string
		want     string // fields Addr, Host and Base of the target, or "" if NewTarget must return an error
	}{
		{"http://127.0.0.1:10002/devstoreaccount1", "127.0.0.1:10002 127.0.0.1:10002 /devstoreaccount1"},
		{"https://acct.table.example.com/", "acct.table.example.com:443 acct.table.example.com "}, // the host names the account, so Base is empty
		{"http://[::1]/a", "[::1]:80 [::1] /a"},
		{"127.0.0.1:10002/a", ""},           // no scheme
		{"ftp://host/a", ""},                // not HTTP
		{"http://host/a?sv=2019-02-02", ""}, // an endpoint with a shared access signature is not supported
	} {
		tg, err := wire.NewTarget(tt.endpoint, wire.Development("a"))
		got := ""
		if err == nil {
			got = tg.Addr + " " + tg.Host + " " + tg.Base
		}
		if got != tt.want {
			t.Errorf("%s: %q (%v), want %q", tt.endpoint, got, err, tt.want)
		}
	}
}

// FuzzResponse reads arbitrary bytes as a response. It checks that the reader does not panic, and that the body is
// not longer than these bytes.
func FuzzResponse(f *testing.F) {
	f.Add("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
	f.Add("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nhi\r\n0\r\nTrailer: z\r\n\r\n")
	f.Add("HTTP/1.1 204 No Content\r\nETag: W/\"x\"\r\n\r\n")
	f.Fuzz(func(t *testing.T, raw string) {
		c, err := wire.Dial(t.Context(), answer(t, raw))
		if err != nil {
			t.Skip("no connection to be had") // if the fuzzer has used all free ports, Dial fails
		}
		defer c.Close()
		resp, err := c.Do(&wire.Request{Method: "GET", Path: []byte("/t")})
		if err == nil && len(resp.Body) > len(raw) {
			t.Errorf("%d bytes of body from %d bytes", len(resp.Body), len(raw))
		}
	})
}

func BenchmarkExchange(b *testing.B) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }))
	defer srv.Close()
	tg, err := wire.NewTarget(srv.URL, wire.Development("a"))
	must.OK(b, err)
	c, err := wire.Dial(b.Context(), tg)
	must.OK(b, err)
	defer c.Close()
	req := wire.Request{Method: "POST", Path: []byte("/t"), Body: make([]byte, 1024)}
	b.ReportAllocs()
	for b.Loop() {
		if resp, err := c.Do(&req); err != nil || resp.Status != 204 {
			b.Fatal(resp.Status, err)
		}
	}
}
