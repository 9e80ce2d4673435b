package main

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"edgetable/core/accounts"
	"edgetable/testdata/must"
	"edgetable/testdata/proc"
)

func TestRestartKeepsData(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "missing", "data")
	s := start(t, nil, "--data", dir)
	if !strings.Contains(s.greeting, dir+", which is new\n") {
		t.Errorf("greeting:\n%s", s.greeting)
	}
	s.client(t, "").fill(t)
	s.ends(t)
	s = start(t, nil, "--data", dir, "--cache-size", "1MiB")
	if !strings.Contains(s.greeting, dir+"\n") {
		t.Errorf("greeting:\n%s", s.greeting)
	}
	s.client(t, "").filled(t)
	s.ends(t)
}

func TestMemoryIsGone(t *testing.T) {
	t.Parallel()
	s := start(t, nil, "--memory")
	s.client(t, "").fill(t)
	s.client(t, "").filled(t)
	s.ends(t)
	start(t, nil, "--memory").client(t, "").do(t, "GET", ada, "", 404)
	if _, err := os.Stat("data"); err == nil {
		t.Error("a store in memory made the default directory")
	}
}

// TestGreetingAddress checks that the URLs that a server prints have the host of --listen. If this
// host is a wildcard address, they must have an address that works on this machine.
func TestGreetingAddress(t *testing.T) {
	t.Parallel()
	own := map[string]string{accounts.Variable: "acme:" + key1}
	for listen, want := range map[string]string{
		"localhost:0": "http://localhost:",
		"127.0.0.1:0": "http://127.0.0.1:",
		":0":          "http://127.0.0.1:",
		"[::1]:0":     "http://[::1]:",
	} {
		l, err := net.Listen("tcp", listen)
		if err != nil {
			t.Logf("%s: %v", listen, err) // the machine may have no IPv6
			continue
		}
		l.Close()
		s := start(t, own, "--memory", "--listen", listen)
		if got := s.greetingText(t, "endpoint"); !strings.HasPrefix(got, want) {
			t.Errorf("--listen %s: endpoint %s", listen, got)
		}
		s.client(t, key1).fill(t)
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	cert, key, roots := proc.Certificate(t, time.Now().Add(time.Hour))
	s := start(t, nil, "--memory", "--tls-cert", cert, "--tls-key", key)
	c := s.client(t, "")
	if !strings.HasPrefix(c.endpoint, "https://") {
		t.Errorf("endpoint %s", c.endpoint)
	}
	// The client offers HTTP/2 and also accepts HTTP/1.1, as curl and the SDKs do.
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	c.Transport = transport
	c.fill(t)
	c.filled(t)
	if text := c.do(t, "GET", "/people()?$top=1", "", 200); !strings.Contains(text, "https://") {
		t.Errorf("URLs of an answer: %s", text)
	}
}

// sendHeader sends the header of a PUT request with Expect: 100-continue. It waits until the server
// asks for the body.
func sendHeader(t *testing.T, c *signingClient) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.Split(c.endpoint, "/")[2])
	must.OK(t, err)
	t.Cleanup(func() { conn.Close() })
	req := c.request(t, "PUT", ada, `{"Name":"Ada"}`)
	fmt.Fprintf(conn, "PUT %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\nExpect: 100-continue\r\n", req.URL.EscapedPath(), req.ContentLength)
	must.OK(t, req.Header.Write(conn))
	fmt.Fprint(conn, "\r\n")
	r := bufio.NewReader(conn)
	if line, err := r.ReadString('\n'); err != nil || !strings.Contains(line, " 100 ") {
		t.Fatalf("%q, %v", line, err)
	}
	if _, err := r.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return conn, r
}

// TestInterruptWaits interrupts a server while a request is running. The server must complete the
// request and keep the written entity.
func TestInterruptWaits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, nil, "--data", dir, "--grace", "1h")
	c := s.client(t, "")
	c.do(t, "POST", "/Tables", `{"TableName":"people"}`, 204)
	conn, r := sendHeader(t, c)
	s.interrupt()
	for { // wait until the server accepts no more connections
		conn, err := net.Dial("tcp", conn.RemoteAddr().String())
		if err != nil {
			break
		}
		conn.Close()
	}
	fmt.Fprint(conn, `{"Name":"Ada"}`)
	resp, err := http.ReadResponse(r, nil)
	if err != nil || resp.StatusCode != 204 {
		t.Fatalf("%v, %v", resp, err)
	}
	s.ends(t)
	start(t, nil, "--data", dir).client(t, "").filled(t)
}

func TestInterruptCutsOff(t *testing.T) {
	t.Parallel()
	s := start(t, nil, "--memory", "--grace", "1ms")
	c := s.client(t, "")
	c.do(t, "POST", "/Tables", `{"TableName":"people"}`, 204)
	_, r := sendHeader(t, c)
	if status := s.stop(); status != 0 || !strings.Contains(s.logs.String(), "cut off after 1ms") {
		t.Errorf("status %d\n%s", status, s.logs)
	}
	if _, err := io.Copy(io.Discard, r); err == nil {
		t.Log("the connection was closed in order")
	}
}

// TestLogKeepsSecrets checks that the log contains neither keys nor signatures, whatever error
// occurs.
func TestLogKeepsSecrets(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			s := start(t, map[string]string{accounts.Variable: "acme:" + key1 + ":" + key2}, "--memory", "--log-level", "debug", "--log-format", format)
			c := s.client(t, key1)
			c.fill(t)
			c.filled(t)
			good := c.request(t, "GET", "/Tables", "")
			signature := strings.TrimPrefix(good.Header.Get("Authorization"), "SharedKeyLite acme:")
			answer(t, &c.Client, good, 200)
			c.account = "beta"
			bad := c.request(t, "GET", "/Tables", "")
			signed := strings.TrimPrefix(bad.Header.Get("Authorization"), "SharedKeyLite beta:")
			answer(t, &c.Client, bad, 403)
			sas := c.request(t, "GET", "/people()?sv=2019-02-02&sig=c2VjcmV0", "")
			sas.Header.Del("Authorization")
			answer(t, &c.Client, sas, 403)
			for _, broken := range []string{
				"GET /acme/Tables HTTP/1.1\r\nAuthorization SharedKeyLite acme:" + signature + "\r\n\r\n",
				"SharedKeyLite acme:" + signature + "\r\n\r\n",
				"PUT /acme/people HTTP/1.1\r\nContent-Length: x\r\nAuthorization: SharedKeyLite acme:" + signature + "\r\n\r\n",
			} {
				conn, err := net.Dial("tcp", strings.Split(c.endpoint, "/")[2])
				must.OK(t, err)
				fmt.Fprint(conn, broken)
				if text, err := io.ReadAll(conn); err != nil || !strings.Contains(string(text), " 400 ") {
					t.Errorf("%q: %s, %v", broken, text, err)
				}
				conn.Close()
			}
			s.ends(t)
			logs := s.logs.String()
			for _, want := range []string{"CreateTable", "GetEntity", "acme", "people", "403", "stopping"} {
				if !strings.Contains(logs, want) {
					t.Errorf("the log lacks %s:\n%s", want, logs)
				}
			}
			for _, secret := range []string{key1, key2, signature, signed, "c2VjcmV0", "SharedKey"} {
				if strings.Contains(logs, secret) || strings.Contains(s.greeting, secret) {
					t.Errorf("%s is shown:\n%s%s", secret, s.greeting, logs)
				}
			}
		})
	}
}
