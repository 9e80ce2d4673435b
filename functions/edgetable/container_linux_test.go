package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"edgetable/core/accounts"
	"edgetable/functions/edgetable/cli"
	"edgetable/testdata/must"
	"edgetable/testdata/proc"
)

// TestGreetingInJSON checks that with --log-format json every line that a container logs is JSON. Standard output must
// have one line, which says that the server is ready and has the server's address.
func TestGreetingInJSON(t *testing.T) {
	t.Parallel()
	p := startInJSON(t, "--memory", "--metrics-listen", "127.0.0.1:0")
	var said struct {
		Level, Message, Listen, Metrics string
		Endpoints                       map[string]string
	}
	must.OK(t, json.Unmarshal([]byte(strings.Replace(p.Lines[0], `"msg"`, `"message"`, 1)), &said))
	if len(p.Lines) != 1 || said.Message != "ready" || said.Endpoints[accounts.Development] != "http://"+said.Listen+"/"+accounts.Development || !strings.HasSuffix(said.Metrics, "/metrics") {
		t.Errorf("%q: %+v", p.Lines, said)
	}
	for line := range strings.Lines(p.Log.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("the log has %q", line)
		}
	}
}

func startInJSON(t *testing.T, args ...string) *proc.Process {
	t.Helper()
	self, err := os.Executable()
	must.OK(t, err)
	c := exec.Command(self, append([]string{"serve", "--listen", "127.0.0.1:0", "--log-format", "json"}, args...)...)
	c.Env = []string{mainVariable + "=1"}
	return proc.Start(t, `{"time":`, c)
}

// TestUnknownVariables checks that the log names an environment variable that no command reads, and suggests a
// variable with a similar name. It must not name variables that Kubernetes sets for a Service.
func TestUnknownVariables(t *testing.T) {
	t.Parallel()
	p := startProcess(t, []string{"EDGETABLE_LOGFORMAT=json", "EDGETABLE_BACKUP_EVRY=1h", "EDGETABLE_ZZZZZZZZZ=1", "EDGETABLE_LEVEL=", "EDGETABLE_DRAIN=1ms",
		"EDGETABLE_SERVICE_HOST=10.0.0.1", "EDGETABLE_SERVICE_PORT_TABLES=10002", "EDGETABLE_PORT=tcp://10.0.0.1:10002", "EDGETABLE_PORT_10002_TCP_ADDR=10.0.0.1",
		"EDGETABLE_PRIMARY_SERVICE_HOST=10.0.0.1", "EDGETABLE_CONNECTION_STRING=x"}, "--memory")
	for _, want := range []string{
		`msg="no command reads this variable" variable=EDGETABLE_LOGFORMAT meant=EDGETABLE_LOG_FORMAT`,
		`msg="no command reads this variable" variable=EDGETABLE_BACKUP_EVRY meant=EDGETABLE_BACKUP_EVERY`,
		`msg="no command reads this variable" variable=EDGETABLE_ZZZZZZZZZ` + "\n",
	} {
		p.logs.Await(t, want)
	}
	if n := strings.Count(p.logs.String(), "no command reads"); n != 4 {
		t.Errorf("%d variables are said to be unknown:\n%s", n, p.logs)
	}
}

// TestOverriddenLine checks that the log names a line of the configuration file if an environment variable overrides
// the line. Container images set such variables.
func TestOverriddenLine(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "edgetable.conf")
	must.OK(t, os.WriteFile(file, []byte("grace = 5s\nslow-query = 2s\ndrain = 1ms\n"), 0o600))
	p := startProcess(t, []string{"EDGETABLE_GRACE=3s", "EDGETABLE_SLOW_QUERY=2s"}, "--memory", "--config", file)
	p.logs.Await(t, `msg="a variable overrides the file of --config" flag=grace variable=EDGETABLE_GRACE value=3s file=5s`) // the log goes to another pipe
	if n := strings.Count(p.logs.String(), "overrides"); n != 1 {
		t.Errorf("the log says of %d variables that they override, want 1:\n%s", n, p.logs)
	}
}

// TestStandsInForAzurite starts the program under Azurite's name, with Azurite's flags and accounts. The program must
// print the lines by which other programs recognize that Azurite is ready.
func TestStandsInForAzurite(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	must.OK(t, err)
	dir := t.TempDir()
	must.OK(t, os.Symlink(self, filepath.Join(dir, "azurite")))
	begin := func(environment []string, program string, args ...string) *process {
		c := exec.Command(program, args...)
		c.Env = append(environment, mainVariable+"=1")
		p := proc.Start(t, "ready", c)
		return &process{Cmd: c, testServer: testServer{greeting: strings.Join(p.Lines, "\n") + "\n", logs: p.Log}}
	}
	p := begin(nil, filepath.Join(dir, "azurite"), "--silent", "--inMemoryPersistence", "--skipApiVersionCheck", "--blobHost", "0.0.0.0", "--tableHost", "0.0.0.0", "--tablePort", "0")
	for _, want := range []string{"Azurite Table service is successfully listening at http://", "Blob service is successfully listening", "are not served"} {
		if !strings.Contains(p.greeting, want) {
			t.Errorf("the greeting does not say %q:\n%s", want, p.greeting)
		}
	}
	for _, want := range []string{"as with --allow-development-account", "nothing listens for --blobHost"} {
		p.logs.Await(t, want)
	}
	p.client(t, "").fill(t)

	p = begin([]string{"AZURITE_ACCOUNTS=acme:" + key1 + ";test-account:dGVzdC1rZXk="}, self, "azurite-table", "--tablePort", "0", "-l", filepath.Join(dir, "data"))
	p.client(t, key1).fill(t)
	endpoint := strings.TrimSuffix(p.client(t, key1).endpoint, "acme") + "test-account"
	newClient(t, endpoint, "test-account", "dGVzdC1rZXk=").fill(t)
	if strings.Contains(p.greeting, "devstoreaccount1") || strings.Contains(p.greeting, "Blob") {
		t.Errorf("the greeting is\n%s", p.greeting)
	}

	cert, key, _ := proc.Certificate(t, time.Now().Add(time.Hour))
	must.OK(t, os.Chmod(key, 0o644)) // Testcontainers copies files with this mode
	p = begin(nil, self, "azurite", "--inMemoryPersistence", "--tablePort", "0", "--cert", cert, "--key", key)
	if !strings.Contains(p.greeting, "listening at https://") {
		t.Errorf("the greeting is\n%s", p.greeting)
	}

	foreign := filepath.Join(dir, "azurites")
	must.OK(t, os.Mkdir(foreign, 0o755))
	must.OK(t, os.WriteFile(filepath.Join(foreign, "__azurite_db_table__.json"), []byte("{}"), 0o644))
	c := exec.Command(self, "azurite", "-l", foreign, "--tablePort", "0")
	c.Env = []string{mainVariable + "=1"}
	if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "edgetable import "+foreign) {
		t.Errorf("on Azurite's files: %v, %s", err, out)
	}
}

// TestNoRight checks the error for a directory in which the process has no permission to write. The error must name the
// user of the process, the owner of the directory, and a command that gives the permission.
func TestNoRight(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("root alone can make a directory that belongs to another user")
	}
	self, err := os.Executable()
	must.OK(t, err)
	dir, err := os.MkdirTemp("/tmp", "edgetable-right-*")
	must.OK(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must.OK(t, os.Chmod(dir, 0o755))
	program := filepath.Join(dir, "edgetable")
	text, err := os.ReadFile(self)
	must.OK(t, err)
	must.OK(t, os.WriteFile(program, text, 0o755))
	must.OK(t, os.Chmod(program, 0o755))
	roots := filepath.Join(dir, "data")
	must.OK(t, os.Mkdir(roots, 0o755))
	must.OK(t, os.Chmod(roots, 0o755))
	secret := filepath.Join(dir, "accounts")
	must.OK(t, os.WriteFile(secret, []byte("acme:"+key1+"\n"), 0o600))
	for _, args := range [][]string{
		{"serve", "--listen", "127.0.0.1:0", "--data", roots},
		{"account", "new", "acme", "--data", roots, "--endpoint", "http://127.0.0.1:1/acme"},
		{"backup", "list", filepath.Join(roots, "x")},
		{"serve", "--listen", "127.0.0.1:0", "--memory", "--accounts", secret},
	} {
		c := exec.Command(program, args...)
		c.Dir, c.Env = "/", []string{mainVariable + "=1"}
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
		out, err := c.CombinedOutput()
		if args[0] == "backup" {
			continue // this command fails for another reason, because the path does not exist
		}
		for _, want := range []string{"user 65532", "belongs to user 0", "chown 65532 ", "--user"} {
			if err == nil || !strings.Contains(string(out), want) {
				t.Errorf("%q does not say %q: %v, %s", args, want, err, out)
			}
		}
	}
}

// TestMountedSecret checks that a server accepts secrets that Kubernetes mounts with its default mode. Everybody in
// the container can read these files. The server must refuse other files with this mode.
func TestMountedSecret(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.OK(t, os.MkdirAll(filepath.Join(dir, "..2026_11_28"), 0o755))
	must.OK(t, os.WriteFile(filepath.Join(dir, "..2026_11_28/accounts"), []byte("acme:"+key1+"\n"), 0o644))
	must.OK(t, os.Chmod(filepath.Join(dir, "..2026_11_28/accounts"), 0o644))
	must.OK(t, os.Symlink("..2026_11_28", filepath.Join(dir, "..data")))
	must.OK(t, os.Symlink("..data/accounts", filepath.Join(dir, "accounts")))
	if _, err := cli.ReadPrivate(filepath.Join(dir, "accounts")); err != nil {
		t.Error(err)
	}
	must.OK(t, os.Chmod(filepath.Join(dir, "..2026_11_28/accounts"), 0o666))
	if _, err := cli.ReadPrivate(filepath.Join(dir, "accounts")); err == nil {
		t.Error("others may change the secret")
	}
	plain := filepath.Join(t.TempDir(), "accounts")
	must.OK(t, os.WriteFile(plain, []byte("acme:"+key1+"\n"), 0o600))
	must.OK(t, os.Chmod(plain, 0o644))
	if _, err := cli.ReadPrivate(plain); err == nil {
		t.Error("others may read the file")
	}
}
