package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"edgetable/adapters/client/remote"
	"edgetable/core/accounts"
	"edgetable/core/sharedkey"
	"edgetable/testdata/must"
	"edgetable/testdata/proc"
)

// mostOfWaiter is the maximum resident memory in bytes for one request that waits for changes.
const mostOfWaiter = 16_000

// BenchmarkWaiters measures the resident memory of a server for each of a thousand requests that wait for changes.
// The requests are of four accounts, over HTTP. Each client first requests the current position. Nothing is written
// during the measurement.
func BenchmarkWaiters(b *testing.B) {
	for _, way := range []struct{ name, accept string }{{"poll", "application/json"}, {"stream", "text/event-stream"}} {
		b.Run(way.name, func(b *testing.B) {
			for b.Loop() {
				w := startFeedServer(b)
				w.addWaiters(20, way.accept) // the first requests allocate memory that later requests share
				before, begun := w.residentAfterGC(), w.resident()
				const n = 980 // together with the first 20, this makes 1,000 requests, the maximum that may wait for changes
				w.addWaiters(n, way.accept)
				b.ReportMetric((w.resident()-begun)*1024/n, "B/waiter-at-once")
				each := (w.residentAfterGC() - before) * 1024 / n
				b.ReportMetric(each, "B/waiter")
				w.counted()
				if each > mostOfWaiter {
					b.Errorf("a waiter uses %.0f bytes, want at most %d", each, mostOfWaiter)
				}
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// collectVariable is an environment variable. If it is set, the program collects garbage when it receives SIGUSR2,
// and then prints a line. Otherwise an idle process would collect garbage only every two minutes.
const collectVariable = "TEST_COLLECT"

var _ = func() bool { // a variable, because its initial value is computed before the init function that starts the program
	asked := os.Getenv(collectVariable) != ""
	if asked {
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGUSR2)
		go func() {
			for range signals {
				debug.FreeOSMemory()
				fmt.Fprintln(os.Stderr, "collected")
			}
		}()
	}
	return asked
}()

// feedServer is a server with tables and clients that wait for changes of these tables.
type feedServer struct {
	b           *testing.B
	process     *proc.Process
	endpoints   []string // endpoints of its accounts
	key         *sharedkey.Key
	waiting     int
	collections int
}

// startFeedServer starts a server with four accounts. Each account has a table with a feed of changes.
func startFeedServer(b *testing.B) *feedServer {
	key, err := sharedkey.ParseKey(accounts.DevelopmentKey)
	must.OK(b, err)
	var known strings.Builder
	for i := range 4 {
		fmt.Fprintf(&known, "account%d:%s\n", i, accounts.DevelopmentKey)
	}
	dir := b.TempDir()
	file := filepath.Join(dir, "accounts")
	must.OK(b, os.WriteFile(file, []byte(known.String()), 0o600))
	self, err := os.Executable()
	must.OK(b, err)
	c := exec.Command(self, "serve", "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data"), "--accounts", file)
	c.Env = []string{mainVariable + "=1", collectVariable + "=1", "GOMEMLIMIT=1GiB"} // permits 2,000 requests in flight; half of them may wait
	w := &feedServer{b: b, process: proc.Start(b, "ready", c), key: key}
	for _, line := range w.process.Lines {
		e, ok := strings.CutPrefix(strings.TrimSpace(line), "endpoint ")
		if !ok {
			continue
		}
		e = strings.TrimSpace(e)
		w.endpoints = append(w.endpoints, e)
		endpoint, err := remote.Owned(e, &sharedkey.Account{Name: path.Base(e), Keys: [2]*sharedkey.Key{key}})
		must.OK(b, err)
		client := remote.New(endpoint, 1)
		_, err = client.CreateTable(b.Context(), "People")
		must.OK(b, err)
		must.OK(b, client.SetOptions(b.Context(), "People", "", []byte(`{"changes":{"keep":"P1D"}}`)))
		client.Close()
	}
	return w
}

// addWaiters starts n more clients, each with its own connection, whose requests wait for changes. It returns when
// the server counts these requests.
func (w *feedServer) addWaiters(n int, accept string) {
	for range n {
		i := w.waiting % len(w.endpoints)
		at := w.endpoints[i]
		// one account may have only 256 waiting requests, so use four accounts; each account has its own
		// client address
		from := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+i))}}
		client := &http.Client{Transport: &http.Transport{DialContext: from.DialContext}}
		resp, err := client.Do(w.request(at, "", "application/json"))
		must.OK(w.b, err)
		text, err := io.ReadAll(resp.Body)
		must.OK(w.b, err)
		if resp.Body.Close(); resp.StatusCode != 200 {
			w.b.Fatalf("%s: %s", resp.Status, text)
		}
		req := w.request(at, "&wait=30&since="+resp.Header.Get("x-edgetable-next"), accept)
		go func() {
			if resp, err := client.Do(req); err == nil { // the error is ignored, because the end of the benchmark may close the connection
				if resp.StatusCode != 200 {
					w.b.Error(resp.Status)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		}()
		w.waiting++
	}
	for w.counted() != w.waiting {
		time.Sleep(10 * time.Millisecond)
	}
}

// request makes a request for changes.
func (w *feedServer) request(endpoint, query, accept string) *http.Request {
	req, err := http.NewRequestWithContext(w.b.Context(), "GET", endpoint+"/People?comp=changes"+query, nil)
	must.OK(w.b, err)
	date := sharedkey.FormatDate(time.Now())
	req.Header.Set("X-Ms-Date", date)
	req.Header.Set("Accept", accept)
	req.Header.Set("Authorization", w.key.Authorization(sharedkey.SharedKeyLite, path.Base(endpoint),
		sharedkey.Request{Method: "GET", Path: req.URL.EscapedPath(), RawQuery: req.URL.RawQuery, XMSDate: date}))
	return req
}

func (w *feedServer) counted() (n int) {
	resp, err := http.Get(w.process.Value(w.b, "metrics at"))
	must.OK(w.b, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	must.OK(w.b, err)
	_, value, _ := strings.Cut(string(text), "\nedgetable_changes_waiting ")
	_, err = fmt.Sscan(value, &n)
	must.OK(w.b, err)
	return n
}

// residentAfterGC makes the server collect garbage and returns its resident memory. Several collections are needed,
// because each collection halves the size of unused stacks.
func (w *feedServer) residentAfterGC() (kib float64) {
	for range 3 {
		w.collections++
		must.OK(w.b, w.process.Process.Signal(syscall.SIGUSR2))
		w.process.Log.AwaitTimes(w.b, "collected", w.collections)
	}
	return w.resident()
}

// resident returns the server's resident memory in KiB, without the pages of files.
func (w *feedServer) resident() (kib float64) {
	return proc.Memory(w.b, w.process.Cmd, "RssAnon")
}
