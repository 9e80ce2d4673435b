package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// engine runs Docker or Podman with separate files and a separate network. So concurrent tests do not affect each
// other, and nothing remains after a test.
type engine struct {
	name  string
	base  []string // the command docker or podman, with flags for sockets and folders that only this test uses
	alone string   // process id; the engine runs in this process's network namespace
	host  []string // flags for starting a container, if containers share the engine's network
}

// noEngine fails a test that cannot start an engine. It does not skip the test, because then nobody would notice that
// the image is never run. EDGETABLE_NO_DOCKER=1 skips the test.
func noEngine(t *testing.T, reason ...any) {
	t.Helper()
	t.Fatal(append([]any{"no container can be run here (EDGETABLE_NO_DOCKER=1 leaves the test out): "}, reason...)...)
}

func startDocker(t *testing.T, dir string) *engine {
	t.Helper()
	socket := filepath.Join(dir, "socket")
	var logs bytes.Buffer
	c := exec.Command("unshare", "--net", "sh", "-c", `ip link set lo up && exec dockerd --data-root "$1/root" --exec-root "$1/exec" --pidfile "$1/pid" -H "unix://$1/socket" --group root`, "sh", dir)
	c.Stderr = &logs
	out, err := c.StdoutPipe()
	if err == nil {
		c.Stderr = c.Stdout // dockerd reports on standard error that it is ready
		err = c.Start()
	}
	if err != nil {
		noEngine(t, err)
	}
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		_ = c.Wait()
	})
	ready := false
	for lines := bufio.NewScanner(out); !ready && lines.Scan(); {
		logs.WriteString(lines.Text() + "\n")
		ready = strings.Contains(lines.Text(), "API listen on")
	}
	if !ready {
		noEngine(t, logs.String())
	}
	go func() { _, _ = bufio.NewReader(out).WriteTo(new(bytes.Buffer)) }()
	return &engine{name: "docker", base: []string{"docker", "-H", "unix://" + socket}, alone: strconv.Itoa(c.Process.Pid)}
}

// startPodman prepares the folders of Podman, which has no daemon. All containers use the engine's network, so Podman
// needs no programs for networks.
func startPodman(t *testing.T, dir string) *engine {
	t.Helper()
	c := exec.Command("unshare", "--net", "sh", "-c", "ip link set lo up && echo ready && exec sleep infinity")
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		noEngine(t, err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		noEngine(t, "no network of its own: ", line, err)
	}
	// Podman requests more open files and processes than the system permits inside a container. So both numbers are
	// limited here.
	limits := []string{"--network", "host", "--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096"}
	alone := strconv.Itoa(c.Process.Pid)
	e := &engine{name: "podman", alone: alone, host: limits, base: []string{
		"nsenter", "--target", alone, "--net", "podman", "--root", dir + "/root", "--runroot", dir + "/run", "--tmpdir", dir + "/tmp",
		"--runtime", "runc", "--cgroup-manager", "cgroupfs", "--events-backend", "file",
	}}
	if text, err := e.try("info"); err != nil {
		noEngine(t, text)
	}
	return e
}

// try runs a command of the engine and returns its output, including standard error.
func (e *engine) try(args ...string) (string, error) {
	text, err := exec.Command(e.base[0], append(append([]string{}, e.base[1:]...), args...)...).CombinedOutput()
	return string(text), err
}

func (e *engine) must(t *testing.T, args ...string) string {
	t.Helper()
	text, err := e.try(args...)
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", e.name, args, err, text)
	}
	return text
}

// begin runs a container until the test ends, and waits until the server in the container is ready.
func (e *engine) begin(t *testing.T, name string, args ...string) {
	t.Helper()
	e.must(t, append(append([]string{"run", "--detach", "--name", name}, e.host...), args...)...)
	t.Cleanup(func() { e.remove(name) })
	e.ready(t, name)
}

// remove kills and removes a container. It is no error if the container does not exist.
func (e *engine) remove(name string) {
	_, _ = e.try("kill", name)
	_, _ = e.try("rm", "--force", "--volumes", name)
}

// ready waits until the server in a container prints that it is ready. The test fails if the container ends first.
func (e *engine) ready(t *testing.T, name string) {
	t.Helper()
	e.await(t, name, "ready")
}

// await waits until a container, since its last start, has printed a line that contains the text.
func (e *engine) await(t *testing.T, name, text string) {
	t.Helper()
	e.findLine(t, name, func(_ time.Time, line string) bool { return strings.Contains(line, text) })
}

// findLine calls its last argument for each line that a container has printed since its last end, or since it was
// created, until a call returns true. The container's recorded start is no bound: the engine records it after the start,
// and the server may have printed its first lines before. The test fails if the container ends first.
func (e *engine) findLine(t *testing.T, name string, found func(at time.Time, line string) bool) {
	t.Helper()
	args := append(append([]string{}, e.base[1:]...), "logs", "--follow", "--timestamps")
	if ended := strings.Trim(strings.TrimSpace(e.must(t, "inspect", "--format", "{{json .State.FinishedAt}}", name)), `"`); !strings.HasPrefix(ended, "0001-") {
		args = append(args, "--since", ended)
	}
	c := exec.Command(e.base[0], append(args, name)...)
	out, err := c.StdoutPipe()
	c.Stderr = c.Stdout
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Wait() }()
	defer func() { _ = c.Process.Kill() }()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		printed, line, _ := strings.Cut(lines.Text(), " ")
		at, err := time.Parse(time.RFC3339Nano, printed)
		if err == nil && found(at, line) {
			return
		}
	}
	t.Fatalf("%s has not said what was waited for:\n%s", name, e.must(t, "logs", name))
}

// healthy fails the test if the engine's health check of the container does not succeed.
func (e *engine) healthy(t *testing.T, name string) {
	t.Helper()
	if e.name == "podman" {
		e.must(t, "healthcheck", "run", name)
		return
	}
	events := exec.Command(e.base[0], append(e.base[1:len(e.base):len(e.base)], "events", "--since", "1", "--filter", "container="+name, "--filter", "event=health_status", "--format", "{{.Status}}")...)
	out, err := events.StdoutPipe()
	if err == nil {
		err = events.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = events.Wait() }()
	defer func() { _ = events.Process.Kill() }()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.HasSuffix(strings.TrimSpace(line), ": healthy") {
		t.Fatalf("%q, %v\n%s", line, err, e.must(t, "inspect", "--format", "{{json .State.Health}}", name))
	}
}

var engineImage = flag.String("image", "", "run this `file` of an image 1.2.3 instead of the release's")

// TestEngines runs the image under Docker and under Podman, and checks what the documentation says about the image. It
// checks the first start, health checks, limits of memory and processors, users, and data folders. It also kills a
// server, and starts the image with the command lines that are usual for Azurite.
func TestEngines(t *testing.T) {
	if os.Getenv("EDGETABLE_NO_DOCKER") == "1" {
		t.Skip("EDGETABLE_NO_DOCKER=1: the image is not run under Docker and Podman")
	}
	if os.Geteuid() != 0 {
		noEngine(t, "this user is not root")
	}
	file, err := filepath.Abs(*engineImage)
	if err != nil {
		t.Fatal(err)
	}
	if *engineImage == "" {
		dist, _ := releaseFolders(t)
		file = filepath.Join(dist, "edgetable_1.2.3_"+runtime.GOARCH+"_image.tar")
	}
	for name, start := range map[string]func(*testing.T, string) *engine{"docker": startDocker, "podman": startPodman} {
		t.Run(name, func(t *testing.T) {
			dir, err := os.MkdirTemp("/tmp", "edgetable-engine-*") // a short path, because the path of a Unix socket has a maximum length
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			e := start(t, dir)
			loaded := e.must(t, strings.Fields(strings.Replace(readme(t, "`docker (load [^`]+)`"), "dist/edgetable_*_amd64_image.tar", file, 1))...)
			for _, tag := range []string{"edgetable:1.2.3", "edgetable:latest"} {
				if !strings.Contains(loaded, tag) {
					t.Errorf("%s loaded\n%s, not %s", name, loaded, tag)
				}
			}
			t.Run("first", e.firstMinute)
			if *allPlatforms { // only in 'make weekly', because these tests take minutes
				t.Run("rights", func(t *testing.T) { e.rights(t, dir) })
				t.Run("azurite", e.azurite)
				t.Run("users", e.users)
				t.Run("kill", e.kill)
				if name == "docker" {
					t.Run("soon", e.soonHealthy)
					t.Run("testcontainers", e.testcontainers)
					t.Run("projects", e.projects)
					t.Run("two", e.twoServers)
				}
			}
			if left := strings.TrimSpace(e.must(t, "ps", "--all", "--quiet")); left != "" {
				t.Errorf("containers are left: %s", left)
			}
		})
	}
}

// waitForRemoval waits until Docker has removed a container that was run with --rm. 'docker stop' does not wait for
// the removal.
func (e *engine) waitForRemoval(t *testing.T, name string) {
	t.Helper()
	events := exec.Command(e.base[0], append(e.base[1:len(e.base):len(e.base)], "events", "--since", "1", "--filter", "container="+name, "--filter", "event=destroy")...)
	out, err := events.StdoutPipe()
	if err == nil {
		err = events.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = bufio.NewReader(out).ReadString('\n')
	_ = events.Process.Kill()
	_ = events.Wait()
	if err != nil {
		t.Fatal(err)
	}
}

// firstMinute runs the command line that README shows, in a container with limited memory and processors.
func (e *engine) firstMinute(t *testing.T) {
	line := strings.Fields(readme(t, `\n    docker run (.*)\n`))
	e.begin(t, "first", append([]string{"--memory", "128m", "--memory-swap", "128m", "--cpus", "0.5"}, line...)...)
	e.healthy(t, "first")
	if text, err := exec.Command("nsenter", "--target", e.alone, "--net", "curl", "--silent", "--fail", "http://127.0.0.1:10002/_/ready").CombinedOutput(); err != nil && !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("the published port: %v %s", err, text)
	}
	e.must(t, "exec", "first", "edgetable", "tables", "list", "--from", "UseDevelopmentStorage=true")
	logs := e.must(t, "logs", "first")
	for _, want := range []string{"memory_mib=128", "processors=0.5 threads=1"} {
		if !strings.Contains(logs, want) {
			t.Errorf("the log does not say %q:\n%s", want, logs)
		}
	}
	e.must(t, "stop", "first")
	if e.name == "podman" {
		return // Podman removes a container of 'run --rm' some time after its end, and reports the removal before it removes the volume
	}
	e.waitForRemoval(t, "first")
	if left := strings.TrimSpace(e.must(t, "volume", "ls", "--quiet")); left != "" {
		t.Errorf("a try leaves volumes: %s", left)
	}
}

// users is a test of the server with the user ids and the data folders that are common in practice.
func (e *engine) users(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
	}{
		{"volume", []string{"--volume", "one:/data"}},
		{"other", []string{"--volume", "two:/data", "--user", "1000:1000"}},
		{"openshift", []string{"--user", "1000660000:0"}},
		{"readonly", []string{"--volume", "three:/data", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"}},
		{"tmpfs", []string{"--tmpfs", "/data"}},
		{"backup", []string{"--volume", "four:/backup", "--env", "EDGETABLE_BACKUP_TO=/backup", "--env", "EDGETABLE_BACKUP_EVERY=1h"}},
		{"port", []string{"--memory", "256m"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := append(c.args, serve...)
			if c.name == "port" {
				args = append(args, "--listen", "0.0.0.0:8080") // the health check of the image must then use this port too
			}
			e.begin(t, c.name, args...)
			e.healthy(t, c.name)
			e.must(t, "stop", c.name)
			if status := strings.TrimSpace(e.must(t, "inspect", "--format", "{{.State.ExitCode}}", c.name)); status != "0" {
				t.Errorf("after a stop the status is %s:\n%s", status, e.must(t, "logs", c.name))
			}
		})
	}
}

// serve is the command line of a server with the development account.
var serve = []string{"edgetable", "serve", "--allow-development-account"}

// rights checks two cases. A data folder that belongs to root gives an error with advice. A secret works if it is
// mounted in the way of Swarm and Compose.
func (e *engine) rights(t *testing.T, dir string) {
	bind := filepath.Join(dir, "bind") // Docker creates a missing folder with this owner and mode
	if err := os.Mkdir(bind, 0o755); err != nil {
		t.Fatal(err)
	}
	text, err := e.try(append(append([]string{"run", "--rm", "--volume", bind + ":/data"}, e.host...), serve...)...)
	for _, want := range []string{"user 65532", "/data belongs to user 0", "chown 65532 /data", "--user 0:0"} {
		if err == nil || !strings.Contains(text, want) {
			t.Errorf("on a folder of root: %v, %s, which does not say %q", err, text, want)
		}
	}
	if err := os.Chown(bind, imageUser, imageUser); err != nil {
		t.Fatal(err)
	}
	e.begin(t, "bind", append([]string{"--volume", bind + ":/data"}, serve...)...)

	secret := filepath.Join(dir, "accounts")
	if err := errors.Join(os.WriteFile(secret, []byte("acme:c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0\n"), 0o444), os.Chmod(secret, 0o444)); err != nil {
		t.Fatal(err)
	}
	e.remove("bind") // the container "bind", which was started above, still occupies the port
	e.begin(t, "secret", "--volume", secret+":/run/secrets/accounts:ro", "--env", "EDGETABLE_ACCOUNTS_FILE=/run/secrets/accounts", "--env", "EDGETABLE_MEMORY=true", "edgetable")
	e.remove("secret")

	if text, err := e.try(append(append([]string{"run", "--rm"}, e.host...), "edgetable")...); err == nil || !strings.Contains(text, "EDGETABLE_ALLOW_DEVELOPMENT_ACCOUNT=true") {
		t.Errorf("without an account: %v, %s", err, text)
	}
}

// soonHealthy checks that a container is healthy soon after its server is ready. Docker from version 25 on checks
// health more often until the first success. One of three attempts must succeed, because the machine may be busy.
func (e *engine) soonHealthy(t *testing.T) {
	bar := 2 * time.Second
	var major, minor int
	if _, err := fmt.Sscanf(e.must(t, "version", "--format", "{{.Server.APIVersion}}"), "%d.%d", &major, &minor); err != nil {
		t.Fatal(err)
	}
	if major > 1 || minor >= 44 {
		bar = time.Second
	}
	least := time.Hour
	for i := range 3 {
		name := fmt.Sprint("soon", i)
		e.begin(t, name, "edgetable", "serve", "--memory", "--allow-development-account")
		e.healthy(t, name)
		var health struct{ Log []struct{ End time.Time } }
		if err := json.Unmarshal([]byte(e.must(t, "inspect", "--format", "{{json .State.Health}}", name)), &health); err != nil || len(health.Log) == 0 {
			t.Fatalf("%+v, %v", health, err)
		}
		var ready time.Time
		for line := range strings.Lines(e.must(t, "logs", "--timestamps", name)) {
			if at, text, _ := strings.Cut(strings.TrimSpace(line), " "); text == "ready" {
				var err error
				if ready, err = time.Parse(time.RFC3339Nano, at); err != nil {
					t.Fatal(err)
				}
			}
		}
		took := health.Log[len(health.Log)-1].End.Sub(ready)
		t.Logf("healthy %v after the server was ready, at check %d", took, len(health.Log))
		least = min(least, took)
		e.remove(name)
	}
	if least > bar {
		t.Errorf("healthy %v after the server was ready, want %v", least, bar)
	}
}

// developmentKey is the public key of the development account. Azurite has the same key.
const developmentKey = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

// kill sends SIGKILL to a server with a volume while clients write. It then checks that a new server on the same
// volume has every confirmed row.
func (e *engine) kill(t *testing.T) {
	e.begin(t, "kill", "--publish", "127.0.0.1:10002:10002", "--volume", "killed:/data", "edgetable", "serve", "--allow-development-account")
	key, err := base64.StdEncoding.DecodeString(developmentKey)
	if err != nil {
		t.Fatal(err)
	}
	w := &writers{client: e.client(t), endpoint: "http://127.0.0.1:10002/devstoreaccount1", account: "devstoreaccount1", key: key}
	w.write(t)
	<-w.enough
	s := span{from: time.Now()}
	e.must(t, "kill", "kill")
	e.must(t, "wait", "kill")
	w.all.Wait() // each writer ends when its first request fails
	s.to = time.Now()
	e.must(t, "start", "kill")
	e.ready(t, "kill")
	w.checkRows(t, []span{s})
}

// azurite starts the image with the command lines that Testcontainers and Compose files use for Azurite.
func (e *engine) azurite(t *testing.T) {
	for name, args := range map[string][]string{
		"entrypoint": {"--entrypoint", "azurite", "edgetable", "--blobHost", "0.0.0.0", "--queueHost", "0.0.0.0", "--tableHost", "0.0.0.0", "--inMemoryPersistence"},
		"command":    {"edgetable", "azurite-table", "--tableHost", "0.0.0.0", "-l", "/data"},
		"account":    {"--env", "AZURITE_ACCOUNTS=acme:c2VjcmV0c2VjcmV0c2VjcmV0", "edgetable", "azurite", "--tableHost", "0.0.0.0", "--tablePort", "10012", "--silent", "--loose"},
	} {
		t.Run(name, func(t *testing.T) {
			e.begin(t, "azurite-"+name, args...)
			e.healthy(t, "azurite-"+name)
			if logs := e.must(t, "logs", "azurite-"+name); !strings.Contains(logs, "Azurite Table service is successfully listening at ") {
				t.Errorf("the log is\n%s", logs)
			}
		})
	}
}

// testcontainers starts the image with the Azurite module of Testcontainers for Node.js.
func (e *engine) testcontainers(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/testcontainers")); err != nil {
		t.Fatal(err)
	}
	command(t, dir, nil, "npm", "ci", "--silent", "--no-audit", "--no-fund")
	command(t, dir, nil, "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem")
	if err := os.Chmod(filepath.Join(dir, "key.pem"), 0o644); err != nil {
		t.Fatal(err)
	}
	said := command(t, dir, []string{
		"DOCKER_HOST=" + e.base[2], "TESTCONTAINERS_RYUK_DISABLED=true", "TESTCONTAINERS_HOST_OVERRIDE=127.0.0.1", "IMAGE=edgetable:1.2.3",
		"CERT=" + dir + "/cert.pem", "KEY=" + dir + "/key.pem", "NODE_EXTRA_CA_CERTS=" + dir + "/cert.pem",
	}, "nsenter", "--target", e.alone, "--net", "node", "azurite.js")
	if said != "plain\nmemory\naccount\ntls\n" {
		t.Errorf("it says\n%s", said)
	}
}
