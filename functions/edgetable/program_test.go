package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"edgetable/core/accounts"
	"edgetable/core/sharedkey"
	"edgetable/functions/edgetable/account"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/server"
	"edgetable/testdata/must"
	"edgetable/testdata/proc"
)

// run runs a command until the command ends. The context is already cancelled, so a server that the command starts
// stops at once.
func run(t *testing.T, environment map[string]string, args ...string) (status int, out, err string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return runUntil(ctx, environment, args...)
}

// lookup returns a function that looks up environment variables. It sets no memory limit for servers. Dozens of servers
// share the test process, so a limit for one server would make the garbage collector run all the time. Servers in
// separate processes have a limit.
func lookup(environment map[string]string) func(name string) string {
	return func(name string) string {
		if name == "GOMEMLIMIT" {
			return "off"
		}
		return environment[name]
	}
}

var quiet = server.Signals{Hangups: func() <-chan os.Signal { return nil }, Ticks: func() <-chan time.Time { return nil }}

// runUntil runs a command until the command or ctx ends.
func runUntil(ctx context.Context, environment map[string]string, args ...string) (status int, out, err string) {
	var o proc.Buffer
	e := newBuffer(args)
	p := program{args: args, signals: quiet, Terminal: &cli.Terminal{Environment: lookup(environment), In: strings.NewReader(""), Out: &o, Err: e}}
	status = p.run(ctx)
	return status, o.String(), e.String()
}

// console runs commands, and checks their status and output. All commands get the same environment
// variables.
type console struct {
	t           *testing.T
	environment map[string]string
}

// run runs a command and returns what the command prints. It fails the test unless the command ends with the status
// want.
func (c console) run(want int, args ...string) (out, said string) {
	c.t.Helper()
	status, out, said := runUntil(c.t.Context(), c.environment, args...)
	if status != want {
		c.t.Fatalf("%q: status %d, want %d\n%s%s", args, status, want, out, said)
	}
	return out, said
}

func (c console) prints(want string, args ...string) {
	c.t.Helper()
	if out, _ := c.run(0, args...); out != want {
		c.t.Errorf("%q prints\n%s\nwant\n%s", args, out, want)
	}
}

func (c console) says(want int, words string, args ...string) {
	c.t.Helper()
	if out, said := c.run(want, args...); !strings.Contains(out+said, words) {
		c.t.Errorf("%q does not say %q\n%s%s", args, words, out, said)
	}
}

// testServer is a server that 'edgetable serve' runs in the test process.
type testServer struct {
	greeting  string
	logs      *proc.Buffer
	stop      func() (status int) // stop may be called several times
	interrupt func()
	ticks     chan time.Time
	ended     chan struct{}
}

// look makes the server apply the changes of its files. The server applies a change after two successive checks have
// found the same content. So look starts three checks. When the third check starts, the second check has ended.
func (s *testServer) look() {
	for range 3 {
		select {
		case s.ticks <- time.Time{}:
		case <-s.ended:
		}
	}
}

// start starts a server and waits until the server is ready. The server listens on a free loopback port, unless the
// arguments name another address.
func start(t *testing.T, environment map[string]string, args ...string) *testServer {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	s := &testServer{logs: newBuffer(append([]string{"serve"}, args...)), interrupt: cancel, ticks: make(chan time.Time), ended: make(chan struct{})}
	p := program{
		args: append([]string{"serve", "--listen", "127.0.0.1:0"}, args...), signals: server.Signals{Hangups: quiet.Hangups, Ticks: func() <-chan time.Time { return s.ticks }},
		Terminal: &cli.Terminal{Environment: lookup(environment), Out: w, Err: s.logs},
	}
	done := make(chan int, 1)
	go func() {
		done <- p.run(ctx)
		close(s.ended)
		w.Close()
	}()
	s.stop = sync.OnceValue(func() int {
		cancel()
		return <-done
	})
	t.Cleanup(func() { s.stop() })
	lines := bufio.NewScanner(r)
	ready := false
	for !ready && lines.Scan() {
		var text string
		text, ready = greeting(lines.Text())
		s.greeting += text
	}
	go func() { _, _ = io.Copy(io.Discard, r) }() // a secondary prints its greeting again when it starts again with a new store
	if !ready {
		t.Fatalf("the server did not start: status %d\n%s", s.stop(), s.logs)
	}
	if !strings.Contains(s.greeting, accounts.DevelopmentKey) { // the public development key may be printed
		keepOutput("the greeting", func() string { return s.greeting })
	}
	return s
}

// greeting returns a line that a server prints at its start, and whether this line is the last one. With --log-format
// json, the server prints a single line, which greeting converts to the usual lines.
func greeting(line string) (text string, ready bool) {
	var said struct {
		Message   string `json:"msg"`
		Listen    string
		Metrics   string
		Endpoints map[string]string
	}
	if json.Unmarshal([]byte(line), &said) != nil || said.Message != "ready" {
		return line + "\n", line == "ready"
	}
	text = "edgetable listens on " + said.Listen + " \n"
	if said.Metrics != "" {
		text += "metrics at " + said.Metrics + "\n"
	}
	for _, name := range slices.Sorted(maps.Keys(said.Endpoints)) {
		endpoint := said.Endpoints[name]
		text += "  endpoint  " + endpoint + "\n  connection string  " + account.ConnectionString(name, accounts.DevelopmentKey, endpoint) + "\n"
	}
	return text, true
}

func (s *testServer) ends(t *testing.T) {
	t.Helper()
	if status := s.stop(); status != 0 {
		t.Fatalf("status %d\n%s", status, s.logs)
	}
}

// greetingText returns the text after a label in the server's greeting. For a label of accounts, it returns the text of
// the first account.
func (s *testServer) greetingText(t *testing.T, label string) string {
	t.Helper()
	_, text, ok := strings.Cut(s.greeting, label)
	if !ok {
		t.Fatalf("the greeting has no %q:\n%s", label, s.greeting)
	}
	text, _, _ = strings.Cut(text, "\n")
	return strings.TrimSpace(text)
}

// client returns a client for the first account in the server's greeting. If key is "", the client uses the key in the
// connection string.
func (s *testServer) client(t *testing.T, key string) *signingClient {
	t.Helper()
	endpoint := s.greetingText(t, "\n  endpoint ")
	if key == "" {
		_, key, _ = strings.Cut(s.greetingText(t, "connection string"), ";AccountKey=")
		key, _, _ = strings.Cut(key, ";")
	}
	return newClient(t, endpoint, path.Base(endpoint), key)
}

// signingClient sends signed requests for an account.
type signingClient struct {
	http.Client
	endpoint, account string
	key               *sharedkey.Key
}

func newClient(t *testing.T, endpoint, account, key string) *signingClient {
	t.Helper()
	k, err := sharedkey.ParseKey(key)
	if err != nil {
		t.Fatalf("key of %s: %v", account, err)
	}
	c := &signingClient{Client: http.Client{Transport: &http.Transport{}}, endpoint: endpoint, account: account, key: k}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// request makes a signed request. path begins after the name of the account.
func (c *signingClient) request(t *testing.T, method, path, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, c.endpoint+path, strings.NewReader(body))
	must.OK(t, err)
	date := sharedkey.FormatDate(time.Now())
	req.Header.Set("X-Ms-Date", date)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Prefer", "return-no-content")
	if method == http.MethodDelete {
		req.Header.Set("If-Match", "*")
	}
	req.Header.Set("Authorization", c.key.Authorization(sharedkey.SharedKeyLite, c.account,
		sharedkey.Request{Method: method, Path: req.URL.EscapedPath(), RawQuery: req.URL.RawQuery, XMSDate: date}))
	return req
}

// do sends a signed request. It fails the test unless the response has the status want.
func (c *signingClient) do(t *testing.T, method, path, body string, want int) string {
	t.Helper()
	return answer(t, &c.Client, c.request(t, method, path, body), want)
}

func answer(t *testing.T, c *http.Client, req *http.Request, want int) string {
	t.Helper()
	resp, err := c.Do(req)
	must.OK(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	must.OK(t, err)
	if resp.StatusCode != want {
		t.Fatalf("%s %s: status %d, want %d: %s", req.Method, req.URL.Path, resp.StatusCode, want, text)
	}
	return string(text)
}

// ada is the path of the entity that most tests use, in the table people.
const ada = "/people(PartitionKey='a',RowKey='1')"

// fill creates the table people and inserts the entity ada.
func (c *signingClient) fill(t *testing.T) {
	t.Helper()
	c.do(t, "POST", "/Tables", `{"TableName":"people"}`, 204)
	c.do(t, "PUT", ada, `{"Name":"Ada"}`, 204)
}

func (c *signingClient) filled(t *testing.T) {
	t.Helper()
	if text := c.do(t, "GET", ada, "", 200); !strings.Contains(text, `"Name":"Ada"`) {
		t.Errorf("the entity is %s", text)
	}
}
