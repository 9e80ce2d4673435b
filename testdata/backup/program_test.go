package backup

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// command returns a command that runs the real binary with these arguments.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	binary := os.Getenv("EDGETABLE_BINARY")
	if binary == "" {
		t.Fatal("EDGETABLE_BINARY must name the binary: use 'make backup-s3'")
	}
	c := exec.CommandContext(t.Context(), binary, args...)
	c.Env = append(os.Environ(), "AWS_ACCESS_KEY_ID="+access, "AWS_SECRET_ACCESS_KEY="+secret, "AWS_EC2_METADATA_DISABLED=true")
	return c
}

// succeed runs a command that must succeed and returns what it prints.
func succeed(t *testing.T, args ...string) string {
	t.Helper()
	out, err := command(t, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return string(out)
}

// server is a running server.
type server struct {
	*exec.Cmd
	endpoint string
	mu       sync.Mutex
	log      bytes.Buffer
}

func (s *server) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Write(b)
}

func (s *server) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

func (s *server) logged(text string) bool { return strings.Contains(s.said(), text) }

// start starts a server on a data directory.
func start(t *testing.T, data string, args ...string) *server {
	t.Helper()
	s := &server{Cmd: command(t, append([]string{"serve", "--listen", "127.0.0.1:0", "--data", data}, args...)...)}
	s.Stderr = s
	out, err := s.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.Process.Kill()
		_ = s.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "ready" {
		if _, endpoint, ok := strings.Cut(lines.Text(), "  endpoint           "); ok {
			s.endpoint = endpoint
		}
	}
	if lines.Text() != "ready" {
		t.Fatalf("the server did not start:\n%s", s.said())
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return s
}

// stop interrupts the server and waits until it has ended.
func (s *server) stop(t *testing.T) {
	t.Helper()
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, &s.log)
	}
}

const developmentKey = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

// do sends a signed request and returns the status.
func (s *server) do(t *testing.T, method, path, body string) int {
	t.Helper()
	status, _, err := s.try(t, method, s.endpoint+path, body)
	if err != nil {
		t.Fatal(err)
	}
	return status
}

// try sends a signed request to a server that may be killed meanwhile. If the server is killed, the result is an error.
func (s *server) try(t *testing.T, method, address, body string) (status int, answer string, err error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	date := time.Now().UTC().Format(http.TimeFormat)
	key, err := base64.StdEncoding.DecodeString(developmentKey)
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s\n/devstoreaccount1%s", date, req.URL.EscapedPath())
	if comp := req.URL.Query().Get("comp"); comp != "" {
		fmt.Fprintf(mac, "?comp=%s", comp)
	}
	req.Header = http.Header{
		"X-Ms-Date": {date}, "Accept": {"application/json"}, "Content-Type": {"application/json"},
		"Authorization": {"SharedKeyLite devstoreaccount1:" + base64.StdEncoding.EncodeToString(mac.Sum(nil))},
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

// put writes an entity with a text that cannot be compressed.
func (s *server) put(t *testing.T, row int) {
	t.Helper()
	text := sha256.Sum256(fmt.Append(nil, row))
	if status := s.do(t, "PUT", fmt.Sprintf("/people(PartitionKey='p',RowKey='%d')", row), fmt.Sprintf(`{"Text":%q}`, strings.Repeat(base64.StdEncoding.EncodeToString(text[:]), 400))); status != 204 {
		t.Fatalf("PUT: status %d", status)
	}
}

func (s *server) has(t *testing.T, row int) bool {
	t.Helper()
	return s.do(t, "GET", fmt.Sprintf("/people(PartitionKey='p',RowKey='%d')", row), "") == 200
}
