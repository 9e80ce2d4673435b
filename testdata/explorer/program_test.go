package explorer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// start starts a command of the binary and returns when it has printed a line that contains the text.
func start(t *testing.T, until string, args ...string) (lines <-chan string, seen []string, stop func()) {
	t.Helper()
	return launch(t, until, exec.Command(os.Getenv("EDGETABLE_BINARY"), args...))
}

// launch starts a program and returns when it has printed a line that contains the text.
func launch(t *testing.T, until string, c *exec.Cmd) (lines <-chan string, seen []string, stop func()) {
	t.Helper()
	var log bytes.Buffer
	c.Stderr = &log
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	all := make(chan string, 1000)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer close(all)
		for s := bufio.NewScanner(out); s.Scan(); {
			all <- s.Text()
		}
	}()
	stop = sync.OnceFunc(func() {
		_ = c.Process.Signal(syscall.SIGTERM) // an error is ignored, because it means that the process has already ended
		<-ended
		if err := c.Wait(); err != nil && c.Path == os.Getenv("EDGETABLE_BINARY") { // other programs, such as workerd, may exit with another status
			t.Errorf("%q: %v\n%s", c.Args, err, log.String())
		}
	})
	t.Cleanup(stop)
	for line := range all {
		seen = append(seen, line)
		if strings.Contains(line, until) {
			return all, seen, stop
		}
	}
	t.Fatalf("%q ended\n%s", c.Args, log.String())
	return nil, nil, nil
}

// server is a running 'edgetable serve' with an account.
type server struct {
	t                    *testing.T
	endpoint, connection string
	page                 string // URL of the explorer
	stop                 func()
	token                string // SAS token that permits everything
}

// serve starts a server with the development account.
func serve(t *testing.T, args ...string) *server {
	t.Helper()
	_, lines, stop := start(t, "ready", append([]string{"serve", "--memory", "--listen", "127.0.0.1:0"}, args...)...)
	s := described(t, lines)
	s.stop = stop
	return s
}

// described returns a server. It finds the addresses of the server in the lines that the server has printed.
func described(t *testing.T, lines []string) *server {
	s := &server{t: t}
	for _, line := range lines {
		line = strings.TrimSpace(line)
		for label, to := range map[string]*string{"endpoint ": &s.endpoint, "connection string ": &s.connection, "explorer at ": &s.page} {
			if text, ok := strings.CutPrefix(line, label); ok && *to == "" {
				*to = strings.TrimSpace(text)
			}
		}
	}
	return s
}

// run runs a command of the binary with the server as its table service.
func (s *server) run(stdin string, args ...string) string {
	s.t.Helper()
	c := exec.Command(os.Getenv("EDGETABLE_BINARY"), args...)
	c.Stdin = strings.NewReader(stdin)
	out, err := c.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return string(out)
}

// do sends a signed request and fails the test if the response has another status.
func (s *server) do(method, path, body string, want int) string {
	s.t.Helper()
	if s.token == "" {
		s.token = strings.TrimSpace(s.run("", "sas", "--permissions", "all", "--quiet"))
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.endpoint+path+"?"+s.token, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Content-Type", "application/json")
	if method == http.MethodDelete {
		req.Header.Set("If-Match", "*")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != want {
		s.t.Fatalf("%s %s: %d %s %v", method, path, resp.StatusCode, text, err)
	}
	return string(text)
}

// entity contains the JSON members of an entity.
type entity map[string]any

// fill creates a table and imports entities. The traffic statistics do not count imports.
func (s *server) fill(table string, entities ...entity) {
	s.t.Helper()
	var b strings.Builder
	for _, e := range entities {
		text, err := json.Marshal(e)
		if err != nil {
			s.t.Fatal(err)
		}
		b.Write(text)
		b.WriteByte('\n')
	}
	s.run(b.String(), "import", "-", "--table", table, "--to", s.connection)
}

// use creates a table and inserts entities as a program of the user does, so that the traffic statistics count them.
func (s *server) use(table string, entities ...entity) {
	s.t.Helper()
	s.do("POST", "/Tables", `{"TableName":"`+table+`"}`, 201)
	s.insert(table, entities...)
}

// insert writes entities one by one, as a program of the user does.
func (s *server) insert(table string, entities ...entity) {
	s.t.Helper()
	for _, e := range entities {
		text, err := json.Marshal(e)
		if err != nil {
			s.t.Fatal(err)
		}
		s.do("POST", "/"+table, string(text), 201)
	}
}

// explore starts 'edgetable explorer' for the server and returns its link.
func (s *server) explore(args ...string) (link string) {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "profiles.json")
	s.run(s.connection, "profile", "add", "dev", "-", "--profiles", file)
	s.run(s.connection, "profile", "add", "prod", "-", "--profiles", file, "--read-only", "--color", "red")
	return explore(s.t, file, args...)
}

// explore starts 'edgetable explorer' with a file of profiles and returns its link.
func explore(t *testing.T, file string, args ...string) (link string) {
	t.Helper()
	_, lines, _ := start(t, "#token=", append([]string{"explorer", "--profiles", file}, args...)...)
	return strings.TrimPrefix(lines[len(lines)-1], "explorer at ")
}

// exploreProfiles starts 'edgetable explorer' with profiles: connection strings by their names. It returns the link.
func exploreProfiles(t *testing.T, connections map[string]string, args ...string) (link string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "profiles.json")
	for name, connection := range connections {
		(&server{t: t}).run(connection, "profile", "add", name, "-", "--profiles", file)
	}
	return explore(t, file, args...)
}
