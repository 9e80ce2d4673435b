package main

import (
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// composeFolder is the folder with the projects for Docker Compose.
const composeFolder = "../../infra/machines/compose"

// project is a folder with Compose files, which docker compose runs.
type project struct {
	*engine
	dir         string
	environment []string
}

// newProject copies a folder with Compose files. It builds Compose, a plug-in of Docker, in the version that
// .ci/compose pins.
func (e *engine) newProject(t *testing.T, folder string) *project {
	t.Helper()
	dir := t.TempDir()
	plugins := filepath.Join(dir, "config", "cli-plugins")
	command(t, "../compose", nil, "go", "build", "-ldflags=-s -w", "-o", filepath.Join(plugins, "docker-compose"), "github.com/docker/compose/v2/cmd")
	if err := os.CopyFS(filepath.Join(dir, "compose"), os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	p := &project{e, filepath.Join(dir, "compose"), []string{"DOCKER_HOST=" + e.base[2], "DOCKER_CONFIG=" + filepath.Dir(plugins), "EDGETABLE_VERSION=1.2.3"}}
	t.Cleanup(func() { _ = os.Remove(filepath.Join(dir, "compose", "accounts")) }) // t.TempDir cannot remove this file, because it belongs to another user
	return p
}

func (p *project) compose(t *testing.T, args ...string) string {
	t.Helper()
	return command(t, p.dir, p.environment, "docker", append([]string{"compose"}, args...)...)
}

// down registers a cleanup: when the test ends, 'docker compose down' removes the project's containers, networks and
// volumes.
func (p *project) down(t *testing.T, file string) {
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(p.compose(t, "-f", file, "logs", "--tail", "20"))
		}
		p.compose(t, "-f", file, "down", "--volumes", "--timeout", "2")
	})
}

// packages downloads Debian packages with all their dependencies, and unpacks them into an empty folder.
func packages(t *testing.T, names ...string) (root string) {
	t.Helper()
	dir := t.TempDir()
	archives, root := filepath.Join(dir, "archives"), filepath.Join(dir, "root")
	if err := errors.Join(os.MkdirAll(filepath.Join(archives, "partial"), 0o755), os.Mkdir(root, 0o755), os.WriteFile(filepath.Join(dir, "status"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	// Use an empty package status, so that all dependencies are downloaded.
	command(t, dir, nil, retryScript(t), append([]string{"apt-get", "-o", "APT::Sandbox::User=root", "-o", "Dir::State::status=" + dir + "/status", "-o", "Dir::Cache::archives=" + archives,
		"install", "-q", "--yes", "--download-only", "--no-install-recommends"}, names...)...)
	found, err := filepath.Glob(archives + "/*.deb")
	if err != nil || len(found) == 0 {
		t.Fatalf("%q, %v", found, err)
	}
	for _, file := range found {
		command(t, dir, nil, "dpkg-deb", "--extract", file, root)
	}
	return root
}

// imports creates a container image from the files of a folder. Each string in changes is an instruction of a
// Dockerfile.
func (e *engine) imports(t *testing.T, root, name string, changes ...string) {
	t.Helper()
	args := append(append([]string{"-c", `set -o pipefail; tar --create --directory "$0" . | "$@"`, root}, e.base...), "import")
	for _, change := range changes {
		args = append(args, "--change", change)
	}
	command(t, ".", nil, "bash", append(args, "-", name)...)
}

// database is the entrypoint of a PostgreSQL image. It handles the same environment variables as the official image.
const database = `#!/bin/sh
set -eu
if [ "$(id -u)" = 0 ]; then
  POSTGRES_PASSWORD=$(cat "$POSTGRES_PASSWORD_FILE")
  export POSTGRES_PASSWORD
  chown 999:999 "$PGDATA"
  exec setpriv --reuid 999 --regid 999 --clear-groups "$0"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  echo "$POSTGRES_PASSWORD" >/tmp/password
  initdb --username "$POSTGRES_USER" --pwfile /tmp/password --auth-host scram-sha-256 --encoding UTF8 --locale C.UTF-8
  echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
  pg_ctl start --wait -o "-c listen_addresses= -k /tmp"
  createdb --host /tmp --username "$POSTGRES_USER" "$POSTGRES_DB"
  pg_ctl stop --wait
fi
exec postgres -c 'listen_addresses=*' -k /tmp
`

// standIns makes replacements for the images that a Compose file names: PostgreSQL from Debian's packages, and Caddy
// in the version that .ci/caddy pins. Debian's Caddy is 2.6, which does not retry a PUT while both servers are marked
// as unhealthy.
func (e *engine) standIns(t *testing.T, file string) {
	t.Helper()
	name := func(of string) string {
		found := regexp.MustCompile(`image: (` + of + `:\S+)`).FindSubmatch(readFile(t, file))
		if found == nil {
			t.Fatalf("%s has no image of %s", file, of)
		}
		return string(found[1])
	}
	root := packages(t, "postgresql", "dash", "coreutils", "util-linux")
	programs, err := filepath.Glob(root + "/usr/lib/postgresql/*/bin")
	if err != nil || len(programs) != 1 {
		t.Fatalf("%q, %v", programs, err)
	}
	err = errors.Join(os.MkdirAll(root+"/var/lib/postgresql/data", 0o755), os.MkdirAll(root+"/tmp", 0o755), os.Chmod(root+"/tmp", 0o1777), os.MkdirAll(root+"/etc", 0o755), os.MkdirAll(root+"/usr/local/bin", 0o755),
		os.WriteFile(root+"/etc/passwd", []byte("root:x:0:0::/:\npostgres:x:999:999::/:\n"), 0o644), os.WriteFile(root+"/usr/local/bin/database", []byte(database), 0o755))
	if err != nil {
		t.Fatal(err)
	}
	e.imports(t, root, name("postgres"), "ENV PATH="+strings.TrimPrefix(programs[0], root)+":/usr/bin:/bin", "ENV PGDATA=/var/lib/postgresql/data",
		"VOLUME /var/lib/postgresql/data", `ENTRYPOINT ["/usr/local/bin/database"]`)
	root = t.TempDir()
	t.Setenv("CGO_ENABLED", "0")
	command(t, "../caddy", nil, "go", "build", "-ldflags=-s -w", "-o", filepath.Join(root, "usr/bin/caddy"), "github.com/caddyserver/caddy/v2/cmd/caddy")
	e.imports(t, root, name("caddy"), "ENV XDG_CONFIG_HOME=/config XDG_DATA_HOME=/data",
		`CMD ["/usr/bin/caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]`)
}

// twoServers runs compose/postgres.yaml as infra/machines/README.md describes, and stops, kills and starts each of
// the two servers in turn. It checks that all confirmed rows exist, and that only requests that were in flight at a
// kill failed.
func (e *engine) twoServers(t *testing.T) {
	e.standIns(t, composeFolder+"/postgres.yaml")
	p := e.newProject(t, composeFolder)
	e.must(t, "run", "--rm", "--user", "0:0", "--volume", p.dir+":/here", "edgetable:1.2.3", "account", "new", "acme", "--accounts", "/here/accounts", "--endpoint", "http://127.0.0.1:10002/acme")
	command(t, p.dir, nil, "sh", "-c", "head -c 24 /dev/urandom | base64 > password; chown 65532 accounts password; chmod 600 accounts password")
	write(t, p.dir, "watched.yaml", "services:\n  one: &watched {environment: {EDGETABLE_ACCESS_LOG: \"-\"}}\n  two: *watched\n") // an access log shows when the proxy sends requests to a server
	t.Setenv("COMPOSE_FILE", "postgres.yaml:watched.yaml")
	p.down(t, "postgres.yaml")
	p.compose(t, "up", "--detach")
	_, key, _ := strings.Cut(string(readFile(t, filepath.Join(p.dir, "accounts"))), "acme:")
	key, _, _ = strings.Cut(strings.TrimSpace(key), " ")
	w := &writers{client: e.client(t), endpoint: "http://127.0.0.1:10002/acme", account: "acme", patient: true}
	var err error
	if w.key, err = base64.StdEncoding.DecodeString(key); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "two"} {
		e.ready(t, "edgetable-postgres-"+name+"-1")
	}
	e.await(t, "edgetable-postgres-proxy-1", "serving initial configuration")
	w.write(t)
	var kills []span
	for _, end := range []string{"stop", "kill"} {
		for _, name := range []string{"one", "two"} {
			e.waitForTraffic(t, "edgetable-postgres-one-1")
			e.waitForTraffic(t, "edgetable-postgres-two-1")
			s := span{from: time.Now()}
			p.compose(t, end, name)
			e.must(t, "wait", "edgetable-postgres-"+name+"-1")
			s.to = time.Now()
			if end == "kill" {
				kills = append(kills, s)
			}
			p.compose(t, "start", name)
		}
	}
	e.waitForTraffic(t, "edgetable-postgres-two-1")
	w.stop()
	w.checkRows(t, kills)
}

// settleTime is how long a started server must receive requests before the test stops the other server. A health
// check that the proxy sent before the start may time out later, and mark the started server as unhealthy once more.
const settleTime = 6 * time.Second

// waitForTraffic waits until the proxy has sent requests to a server for settleTime. It reads the server's access
// log.
func (e *engine) waitForTraffic(t *testing.T, name string) {
	t.Helper()
	var makeReleaseOnce time.Time
	e.findLine(t, name, func(at time.Time, line string) bool {
		if !strings.Contains(line, "InsertOrReplaceEntity") {
			return false
		}
		if makeReleaseOnce.IsZero() {
			makeReleaseOnce = at
		}
		return at.Sub(makeReleaseOnce) >= settleTime
	})
}

// projects runs the Compose files of docs/start/containers.md, and compose.yaml without Prometheus and Grafana.
func (e *engine) projects(t *testing.T) {
	p := e.newProject(t, composeFolder)
	t.Run("compose.yaml", func(t *testing.T) {
		p.down(t, "compose.yaml")
		if said := p.compose(t, "run", "--rm", "edgetable", "account", "new", "acme"); !strings.Contains(said, "AccountName=acme;") {
			t.Errorf("it says %s", said)
		}
		p.compose(t, "up", "--detach", "--wait", "edgetable")
	})
	for i, found := range regexp.MustCompile("(?s)```yaml\n(services:\n  tables:\n    image: edgetable:.*?)```").FindAllSubmatch(readFile(t, "../../docs/start/containers.md"), -1) {
		t.Run([]string{"development", "azurite"}[i], func(t *testing.T) {
			write(t, p.dir, "page.yaml", strings.ReplaceAll(string(found[1]), "edgetable:VERSION", "edgetable:1.2.3"))
			p.down(t, "page.yaml")
			p.compose(t, "-f", "page.yaml", "up", "--detach", "--wait", "tables")
			p.compose(t, "-f", "page.yaml", "exec", "tables", "edgetable", "tables", "list", "--from", "UseDevelopmentStorage=true")
		})
	}
}
