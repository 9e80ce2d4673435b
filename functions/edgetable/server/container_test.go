package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestListenOfServer checks that the health check of an image finds the address of the server, even if a
// command line sets the address. The test creates files like those in /proc.
func TestListenOfServer(t *testing.T) {
	t.Setenv("EDGETABLE_LISTEN", "0.0.0.0:10002")
	for _, c := range []struct{ comm, program, line, want string }{
		{"edgetable", "own", "/usr/bin/edgetable serve --listen 0.0.0.0:8080 --memory", "0.0.0.0:8080"},
		{"edgetable", "own", "/usr/bin/edgetable serve --listen=0.0.0.0:8080", "0.0.0.0:8080"},
		{"edgetable", "own", "/usr/bin/edgetable serve", ""},
		{"azurite", "own", "azurite --tablePort 11002", "0.0.0.0:11002"},
		{"edgetable", "own", "/usr/bin/edgetable azurite-table --tableHost 127.0.0.1", "127.0.0.1:10002"},
		{"docker-init", "other", "/sbin/docker-init -- /usr/bin/edgetable serve --listen 0.0.0.0:8081", "0.0.0.0:8081"},
		{"systemd", "other", "/sbin/init --listen 0.0.0.0:8082", ""},
	} {
		dir := t.TempDir()
		write := func(name, text string) {
			t.Helper()
			if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		write("own", "")
		write("other", "")
		write("1/comm", c.comm+"\n")
		write("1/cmdline", strings.ReplaceAll(c.line, " ", "\x00")+"\x00")
		write("1/task/1/children", "7 ")
		_, child, _ := strings.Cut(c.line, "-- ")
		write("7/cmdline", strings.ReplaceAll(child, " ", "\x00")+"\x00")
		for link, to := range map[string]string{"self/exe": "own", "1/exe": c.program, "7/exe": "own"} {
			if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(link)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("../"+to, filepath.Join(dir, link)); err != nil {
				t.Skip("this system has no symbolic links: ", err)
			}
		}
		if got := listenOfServer(dir); got != c.want {
			t.Errorf("%s: %q, want %q", c.line, got, c.want)
		}
	}
}
