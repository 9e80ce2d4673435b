package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"edgetable/core/accounts"
	"edgetable/testdata/must"
	"edgetable/testdata/proc"
)

// mainVariable is an environment variable. If it is set, the test binary runs the program instead
// of the tests.
const mainVariable = "TEST_RUN_MAIN"

func init() {
	if os.Getenv(mainVariable) != "" {
		main()
	}
}

// process is a server that runs in a separate process.
type process struct {
	*exec.Cmd
	testServer
}

// greeted matches lines of a server's greeting that contain a key or a signature.
var greeted = regexp.MustCompile(`(?m)^  (connection string|try) .*$`)

// startProcess starts a server in a separate process, as users do.
func startProcess(t *testing.T, environment []string, args ...string) *process {
	t.Helper()
	self, err := os.Executable()
	must.OK(t, err)
	c := exec.Command(self, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	c.Env = append(environment, mainVariable+"=1")
	p := proc.Start(t, "ready", c)
	keepOutput(strings.Join(args, " "), func() string { // a secondary prints its greeting again when it has built a new store
		return greeted.ReplaceAllString(p.Log.String(), "")
	})
	return &process{Cmd: c, testServer: testServer{greeting: strings.Join(p.Lines, "\n") + "\n", logs: p.Log}}
}

func (p *process) signal(t *testing.T, s os.Signal) {
	t.Helper()
	must.OK(t, p.Process.Signal(s))
}

// TestDrain sends SIGTERM to a server. The server must report that it is not ready. The server must
// still serve requests for the duration of --drain. The log must contain the reason for the stop.
func TestDrain(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "notify")
	systemd, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	must.OK(t, err)
	defer systemd.Close()
	hears := func(want string) {
		t.Helper()
		text := make([]byte, 100)
		n, err := systemd.Read(text)
		if err != nil || string(text[:n]) != want {
			t.Errorf("systemd hears %q, %v; want %q", text[:n], err, want)
		}
	}
	p := startProcess(t, []string{"NOTIFY_SOCKET=" + socket}, "--memory", "--drain", "2s")
	hears("READY=1")
	c := p.client(t, "")
	c.fill(t)
	base := strings.TrimSuffix(c.endpoint, "/devstoreaccount1")
	if status, text := get(t, base+"/_/ready"); status != 200 {
		t.Errorf("%d %s", status, text)
	}
	p.signal(t, syscall.SIGTERM)
	hears("STOPPING=1")
	if status, text := get(t, base+"/_/ready"); status != 503 || !strings.Contains(text, "stopping") {
		t.Errorf("while it drains: %d %s", status, text)
	}
	c.filled(t)
	if err := p.Wait(); err != nil {
		t.Error(err)
	}
	logs := p.logs.String()
	if !strings.Contains(logs, "msg=stopping why=\"terminated signal received\"") || !strings.HasSuffix(logs, "msg=stopped\n") {
		t.Errorf("the log:\n%s", logs)
	}
}

// TestEveryStopIsLogged stops many servers, and checks that each logs its stop.
func TestEveryStopIsLogged(t *testing.T) {
	t.Parallel()
	for range 12 {
		p := startProcess(t, nil, "--memory")
		p.signal(t, os.Interrupt)
		if err := p.Wait(); err != nil {
			t.Error(err)
		}
		if logs := p.logs.String(); !strings.Contains(logs, "msg=stopping why=\"interrupt signal received\"") || !strings.HasSuffix(logs, "msg=stopped\n") {
			t.Errorf("the log:\n%s", logs)
		}
	}
}

// TestHangup checks that a server reads its files at once when it gets SIGHUP.
func TestHangup(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "accounts")
	write := func(text string) {
		t.Helper()
		must.OK(t, os.WriteFile(file, []byte(text), 0o600))
	}
	write("acme:" + key1 + "\n")
	p := startProcess(t, nil, "--memory", "--accounts", file)
	p.client(t, key1).do(t, "GET", "/Tables", "", 200)
	write("acme:" + key1 + ":" + key2 + "\n")
	p.signal(t, syscall.SIGHUP)
	p.logs.Await(t, "the accounts were reloaded")
	p.client(t, key2).do(t, "GET", "/Tables", "", 200)
	write("acme:" + accounts.DevelopmentKey[:20] + "\n")
	p.signal(t, syscall.SIGHUP)
	p.logs.Await(t, "the accounts cannot be reloaded; the previous accounts stay in use")
	p.client(t, key2).do(t, "GET", "/Tables", "", 200)
	p.signal(t, syscall.SIGTERM)
	if err := p.Wait(); err != nil {
		t.Errorf("%v\n%s", err, p.logs)
	}
	if logs := p.logs.String(); !strings.Contains(logs, `msg=reload why="hangup signal received"`) || strings.Contains(logs, key2) {
		t.Errorf("the log:\n%s", logs)
	}
}
