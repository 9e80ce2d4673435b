package backup

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

// fault is what the gateway does with a request.
type fault int

const (
	none       fault = iota
	unserved         // 503, and the request is not executed
	cutBefore        // the connection breaks, and the request is not executed
	cutAfter         // the request is executed, but the connection breaks before the response
	halfAnswer       // the request is executed, but the connection breaks in the middle of the response
	killBefore       // the request is not executed, the connection breaks, and the client process is killed
	killAfter        // the request is executed, the connection breaks before the response, and the client process is killed

	// After the following faults, the client does not retry the request.
	refused      // 400, and the request is not executed
	refusedAfter // 400, although the request is executed
	late         // 400, although the request is executed later
	again        // the request is executed now, and the gateway executes it once more later
)

// gateway is an S3 server behind a proxy that causes faults.
type gateway struct {
	URL string // URL of a backup location in this server's bucket
	dir string // directory in which the server stores the objects of the backup location
	dice

	mu    sync.Mutex
	fault func(r *http.Request) fault
	kill  func() // kills the client process
	late  []func()
}

// arrive simulates that up to n delayed requests arrive: it executes the requests in a random order.
func (g *gateway) arrive(n int) {
	for range n {
		g.mu.Lock()
		if len(g.late) == 0 {
			g.mu.Unlock()
			return
		}
		i := g.intN(len(g.late))
		do := g.late[i]
		g.late = slices.Delete(g.late, i, i+1)
		g.mu.Unlock()
		do()
	}
}

func (g *gateway) set(f func(r *http.Request) fault, kill func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fault, g.kill = f, kill
}

func noFault(*http.Request) fault { return none }

const access, secret = "AKIATEST", "secret-of-the-test"

// startGateway starts versitygw with an empty bucket.
func startGateway(t *testing.T) *gateway {
	t.Helper()
	dir, err := os.MkdirTemp("", "s3") // not t.TempDir, because the path must be short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket, data := filepath.Join(dir, "sock"), filepath.Join(dir, "data")
	if err := os.MkdirAll(filepath.Join(data, "bucket"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(gatewayBinary(t), "--access", access, "--secret", secret, "--port", socket, "--quiet", "posix", "--nometa", data)
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
	eventually(t, "the S3 server listens", func() bool {
		conn, err := dial(t.Context(), "", "")
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	g := &gateway{fault: noFault, dir: filepath.Join(data, "bucket", "some", "prefix")}
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "http", "gateway"
			r.Out.Host = r.In.Host // the signature covers the host
		},
		Transport: &http.Transport{DialContext: dial, DisableCompression: true},
	}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, err := io.ReadAll(r.Body)
		if err != nil { // the client has closed the connection
			panic(http.ErrAbortHandler)
		}
		g.mu.Lock()
		fault, kill := g.fault(r), g.kill
		g.mu.Unlock()
		g.arrive(g.intN(3) / 2)
		r = r.WithContext(context.WithoutCancel(r.Context())) // not the context of the request, because a received request is executed even if the client disconnects
		r.Body = io.NopCloser(bytes.NewReader(content))
		if fault == late || fault == again {
			second := r.Clone(r.Context())
			second.Body = io.NopCloser(bytes.NewReader(content))
			g.mu.Lock()
			g.late = append(g.late, func() { forward.ServeHTTP(httptest.NewRecorder(), second) })
			g.mu.Unlock()
		}
		switch fault {
		case none, again:
			forward.ServeHTTP(w, r)
		case refusedAfter:
			forward.ServeHTTP(httptest.NewRecorder(), r)
			http.Error(w, "<Error><Code>Refused</Code></Error>", http.StatusBadRequest)
		case refused, late:
			http.Error(w, "<Error><Code>Refused</Code></Error>", http.StatusBadRequest)
		case unserved:
			http.Error(w, "<Error><Code>SlowDown</Code></Error>", http.StatusServiceUnavailable)
		case killBefore:
			kill()
			panic(http.ErrAbortHandler)
		case cutBefore:
			panic(http.ErrAbortHandler)
		case cutAfter, halfAnswer, killAfter:
			answer := httptest.NewRecorder()
			forward.ServeHTTP(answer, r)
			if fault == killAfter {
				kill()
			}
			if fault == halfAnswer && answer.Body.Len() > 1 {
				for name, values := range answer.Header() {
					w.Header()[name] = values
				}
				w.WriteHeader(answer.Code)
				_, _ = w.Write(answer.Body.Bytes()[:answer.Body.Len()/2])
				_ = http.NewResponseController(w).Flush()
			}
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(proxy.Close)
	g.URL = "s3://bucket/some/prefix?endpoint=" + url.QueryEscape(proxy.URL)
	return g
}

// gatewayBinary builds versitygw once.
var gatewayBinary = func() func(t *testing.T) string {
	var once sync.Once
	var path string
	var err error
	return func(t *testing.T) string {
		t.Helper()
		once.Do(func() {
			var out []byte
			out, err = exec.Command("go", "tool", "-n", "versitygw").Output() // builds versitygw and prints its path
			path = string(out[:max(len(out)-1, 0)])
			var failed *exec.ExitError
			if errors.As(err, &failed) {
				err = errors.New(string(failed.Stderr))
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
}()

// eventually waits until the function holds returns true. The parameter what describes the expected state,
// for the error message.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	if end, ok := t.Deadline(); ok { // stop before the test's deadline, so that the error can name the missing state
		ctx, cancel = context.WithDeadline(t.Context(), end.Add(-10*time.Second))
	}
	defer cancel()
	for !holds() {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("this did not happen: %s", what)
		}
	}
}
