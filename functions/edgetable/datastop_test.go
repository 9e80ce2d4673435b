package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"edgetable/adapters/transport/httpserver"
	"edgetable/core/accounts"
	"edgetable/core/edm"
	"edgetable/core/protocol"
	"edgetable/core/sas"
	"edgetable/core/sharedkey"
	"edgetable/testdata/must"
	"edgetable/testdata/remotetest"
)

// hookedService is a service that calls a function after a number of requests.
type hookedService struct {
	*protocol.Handler
	connection string
	back       atomic.Int64 // time by which the service's clock is slow
	event      atomic.Pointer[requestHook]
}

// requestHook is a function that a service calls before it answers a certain request.
type requestHook struct {
	path string // path of the requests that are counted; "" counts all requests
	left atomic.Int64
	then func()
}

// callBefore makes the service call the callback before it answers a request. The parameter after is the number of
// this request; only requests with the given path are counted.
func (h *hookedService) callBefore(path string, after int64, then func()) {
	e := &requestHook{path: path, then: then}
	e.left.Store(after)
	h.event.Store(e)
}

func startHalfway(t *testing.T) *hookedService {
	t.Helper()
	h := &hookedService{}
	h.connection = remotetest.Start(t, func(p httpserver.Protocol) httpserver.Protocol {
		h.Handler = p.(*protocol.Handler)
		h.Now = func() edm.Ticks { return edm.TicksOf(time.Now().Add(-time.Duration(h.back.Load()))) }
		h.MaxSkew = 24 * time.Hour
		return h
	})
	return h
}

func (h *hookedService) Serve(ctx context.Context, req *protocol.Request) protocol.Response {
	page := req.Method == http.MethodGet && strings.Contains(req.Target, "()") && !strings.Contains(req.Target, "$top=")
	if page || strings.Contains(req.Target, "/$batch") {
		if e := h.event.Load(); e != nil && strings.Contains(req.Target, e.path) && e.left.Add(-1) == 0 {
			e.then()
		}
	}
	return h.Handler.Serve(ctx, req)
}

// token returns a connection string with a shared access signature that expires after the given time.
func (h *hookedService) token(t *testing.T, left time.Duration) string {
	t.Helper()
	key, err := sharedkey.ParseKey(accounts.DevelopmentKey)
	must.OK(t, err)
	token, err := sas.AccountValues{ResourceTypes: "sco", Permissions: "rwdlacu", Expiry: time.Now().Add(left).UTC().Format(time.RFC3339)}.Sign("acme", key)
	must.OK(t, err)
	_, at, _ := strings.Cut(h.connection, "TableEndpoint=")
	return at + "?" + token
}

// shell runs the program in separate processes. HOME and the cache are in a new directory.
type shell struct {
	t   *testing.T
	dir string
}

func (c shell) start(args ...string) (p *exec.Cmd, out, said *bytes.Buffer) {
	c.t.Helper()
	self, err := os.Executable()
	if err != nil {
		c.t.Fatal(err)
	}
	out, said = new(bytes.Buffer), new(bytes.Buffer)
	p = exec.Command(self, args...)
	p.Env, p.Dir, p.Stdout, p.Stderr = []string{mainVariable + "=1", "HOME=" + c.dir, "XDG_CACHE_HOME=" + c.dir}, c.dir, out, said
	if err := p.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = p.Process.Kill() })
	return p, out, said
}

func (c shell) ends(p *exec.Cmd, out, said *bytes.Buffer, status int, says ...string) string {
	c.t.Helper()
	var failed *exec.ExitError
	if err := p.Wait(); err != nil && !errors.As(err, &failed) {
		c.t.Fatal(err)
	}
	for _, want := range says {
		if !strings.Contains(out.String()+said.String(), want) {
			c.t.Errorf("%q does not say %q:\n%s%s", p.Args[1:], want, out, said)
		}
	}
	if got := p.ProcessState.ExitCode(); got != status || strings.Contains(said.String(), "sig=") {
		c.t.Fatalf("%q: status %d, want %d\n%s%s", p.Args[1:], got, status, out, said)
	}
	return out.String()
}

func (c shell) run(status int, args []string, says ...string) string {
	c.t.Helper()
	p, out, said := c.start(args...)
	return c.ends(p, out, said, status, says...)
}

// entitiesFile writes a file of entities in partitions of 100.
func entitiesFile(t *testing.T, n int, text string) string {
	t.Helper()
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, `{"PartitionKey":"p%03d","RowKey":"%05d","N":%d,"Text":"%s"}`+"\n", i/100, i, i, text)
	}
	file := filepath.Join(t.TempDir(), "People.jsonl")
	must.OK(t, os.WriteFile(file, []byte(lines.String()), 0o600))
	return file
}

func exported(t *testing.T, dir, table string) string {
	t.Helper()
	parts, err := filepath.Glob(filepath.Join(dir, table, "*"))
	must.OK(t, err)
	var all strings.Builder
	for _, part := range parts {
		text, err := os.ReadFile(part)
		must.OK(t, err)
		all.Write(text)
	}
	return all.String()
}

// TestStopped stops commands by an interrupt from the terminal, or by the expiry of their shared access signature. A
// stopped command must print how to continue. The same command with a new signature must resume. Its result must be
// that of a command that was not stopped. The target has entities that the source lacks, and sync deletes them.
func TestStopped(t *testing.T) {
	t.Parallel()
	const rows = 3300
	file := entitiesFile(t, rows, "x")
	for _, work := range []struct {
		name    string
		watched string // service whose requests are counted: "from" or "to"
		after   int64  // number of the request during which the command is stopped
		args    func(from, to, dir string) []string
		stopped string // text that the command prints after an interrupt
	}{
		{"export", "from", 3, func(from, _, dir string) []string { return []string{"export", "People", "--from", from, "--to", dir} }, "entities are in "},
		{"import", "to", 8, func(_, to, _ string) []string { return []string{"import", file, "--to", to} }, "rows written; run the same command to resume"},
		{"copy", "from", 3, func(from, to, _ string) []string { return []string{"copy", "People", "--from", from, "--to", to} }, "rows written; run the same command to resume"},
		{"sync", "to", 20, func(from, to, _ string) []string {
			return []string{"sync", "People", "--from", from, "--to", to, "--delete"}
		}, "deleted; run the same command to resume"},
	} {
		for _, why := range []string{"expiry", "interrupt"} {
			t.Run(work.name+" "+why, func(t *testing.T) {
				t.Parallel()
				from, to := startHalfway(t), startHalfway(t)
				c := shell{t, t.TempDir()}
				out := filepath.Join(c.dir, "out")
				c.run(0, []string{"import", file, "--table", "People", "--to", from.connection, "--progress-file", filepath.Join(c.dir, "first")})
				if work.name == "sync" {
					c.run(0, []string{"import", file, "--table", "People", "--to", to.connection, "--progress-file", filepath.Join(c.dir, "second"), "--partition-key", "=old", "--row-key", "{PartitionKey}-{RowKey}"})
				}
				watched := map[string]*hookedService{"from": from, "to": to}[work.watched]
				args := func(left time.Duration) []string {
					places := map[string]string{"from": from.connection, "to": to.connection}
					if why == "expiry" {
						places[work.watched] = watched.token(t, left)
					}
					args := append(work.args(places["from"], places["to"], out), "--connections", "1")
					if work.name == "import" {
						args = append(args, "--progress-file", filepath.Join(c.dir, "progress"), "--rejects", filepath.Join(c.dir, "rejects"))
					}
					return args
				}
				started, ended := make(chan *os.Process, 1), make(chan struct{})
				then := func() { watched.back.Store(0) }
				says := []string{"the shared access signature expired at 20", ": run the command again with a new one\n", "run the same command to resume"}
				if why == "interrupt" {
					then = func() {
						if err := (<-started).Signal(os.Interrupt); err != nil {
							t.Error(err)
						}
						<-ended
					}
					says = []string{"edgetable: stopped", work.stopped}
				}
				watched.back.Store(int64(2 * time.Hour))
				watched.callBefore("", work.after, then)
				p, printed, said := c.start(args(-time.Hour)...)
				started <- p.Process
				c.ends(p, printed, said, 3, says...)
				close(ended)
				watched.back.Store(0)
				again := []string{"resuming: "}
				if work.name == "sync" {
					again = append(again, "the next sync copies their later changes")
				}
				c.run(0, args(time.Hour), again...)
				if work.name == "export" {
					if whole := c.run(0, []string{"export", "People", "--from", from.connection, "--to", "-"}); exported(t, out, "People") != whole {
						t.Error("the export is not what an uninterrupted one is")
					}
					return
				}
				c.run(0, []string{"verify", "People", "--from", from.connection, "--to", to.connection}, "People: 3,300 entities are equal, 0 are not\n")
			})
		}
	}
}
