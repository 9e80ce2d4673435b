//go:build linux

package main

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// server is the server under attack, in a separate process.
type server struct {
	cmd      *exec.Cmd
	dir      string
	addr     string
	keys     map[string][]byte
	log      lockedBuffer
	ended    chan error
	issuer   string      // URL of a token issuer that accepts connections and never responds
	tls      *tls.Config // TLS configuration for clients; nil without TLS
	samples  []sample
	disabled time.Duration // how long a disabled account was still served
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// names of the accounts; during the attack, the test disables the account "gone"
var names = []string{"acme", "evil", "gone"}

func startServer(o *options) (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{addr: l.Addr().String(), keys: map[string][]byte{}, ended: make(chan error, 1)}
	l.Close()
	if s.dir, err = os.MkdirTemp("", "attack"); err != nil {
		return nil, err
	}
	for _, name := range names {
		key := make([]byte, 32)
		_, _ = rand.Read(key)
		s.keys[name] = key
	}
	if s.issuer, err = silentIssuer(); err != nil {
		return nil, err
	}
	if err := s.writeAccounts(""); err != nil {
		return nil, err
	}
	s.cmd = exec.Command("sh", "-c", `ulimit -n $1; shift; exec "$@"`, "sh", strconv.Itoa(o.files),
		o.edgetable, "serve", "--data", s.dir, "--listen", s.addr, "--oidc-issuer", s.issuer, "--oidc-audiences", "tables")
	if o.tls {
		certificate, key, err := s.certify()
		if err != nil {
			return nil, err
		}
		s.cmd.Args = append(s.cmd.Args, "--tls-cert", certificate, "--tls-key", key)
	}
	s.cmd.Env = append(os.Environ(), "GOMEMLIMIT="+o.memory)
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { s.ended <- s.cmd.Wait() }()
	for !strings.Contains(s.log.String(), "ready") {
		select {
		case err := <-s.ended:
			return nil, fmt.Errorf("the server ended: %v\n%s", err, &s.log)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return s, nil
}

func (s *server) url() string {
	if s.tls != nil {
		return "https://" + s.addr
	}
	return "http://" + s.addr
}

func (s *server) writeAccounts(disabled string) error {
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "%s:%s audience=tables", name, base64.StdEncoding.EncodeToString(s.keys[name]))
		if name == disabled {
			b.WriteString(" disabled")
		}
		b.WriteString("\n")
	}
	path := filepath.Join(s.dir, "accounts")
	if err := os.WriteFile(path+".new", []byte(b.String()), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func (s *server) tail() string {
	text := s.log.String()
	return text[max(0, len(text)-2000):]
}

// series formats a dozen samples, evenly spaced in time, as a table.
func (s *server) series() string {
	var b strings.Builder
	b.WriteString("| After | Memory | Files |\n|---|---|---|\n")
	for i := 1; i <= parts; i++ {
		if at := s.samples[max(0, i*len(s.samples)/parts-1)]; len(s.samples) > 0 {
			fmt.Fprintf(&b, "| %v | %d MiB | %d |\n", at.at.Round(time.Second), at.memory, at.files)
		}
	}
	return b.String()
}

func (s *server) stop() error {
	defer os.RemoveAll(s.dir + ".tls")
	defer os.RemoveAll(s.dir)
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-s.ended:
		if err != nil {
			return fmt.Errorf("the server ended: %w\n%s", err, s.tail())
		}
		return nil
	case <-time.After(30 * time.Second):
		_ = s.cmd.Process.Kill()
		return errors.Join(errors.New("the server did not stop"), <-s.ended)
	}
}

// sas returns a shared access signature, made with 'edgetable sas', for a range of keys in a table of the
// account evil.
func (s *server) sas(o *options, table string) (string, error) {
	c := exec.Command(o.edgetable, "sas", "--accounts", filepath.Join(s.dir, "accounts"), "--account", "evil",
		"--table", table, "--permissions", "r", "--from-partition", "a", "--to-partition", "b", "--quiet")
	text, err := c.Output()
	return strings.TrimSpace(string(text)), err
}
