package main

import (
	"crypto/tls"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"edgetable/functions/edgetable/cli"
	"edgetable/testdata/must"
	"edgetable/testdata/proc"
)

// TestFilesArePrivate checks that only the owner can read the files that the program writes. This
// must hold in a directory that others can read, and with a permissive umask.
func TestFilesArePrivate(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	must.OK(t, err)
	dir := t.TempDir()
	for _, name := range []string{"", "data", "export", "backup"} {
		path := filepath.Join(dir, name)
		if name != "" {
			must.OK(t, os.Mkdir(path, 0o755))
		}
		must.OK(t, os.Chmod(path, 0o755)) // Chmod, unlike Mkdir, ignores the umask of the test process
	}
	command := func(args ...string) *exec.Cmd {
		c := exec.Command("sh", append([]string{"-c", `umask 022 && exec "$0" "$@"`, self}, args...)...)
		c.Dir, c.Env = dir, []string{mainVariable + "=1", "HOME=" + dir, "XDG_CACHE_HOME=" + dir}
		return c
	}
	run := func(args ...string) {
		t.Helper()
		if out, err := command(args...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	server := proc.Start(t, "ready", command("serve", "--data", "data", "--listen", "127.0.0.1:0", "--access-log", "access.log", "--log-level", "error"))
	connection := server.Value(t, "connection string")
	run("import", entitiesFile(t, 300, "x"), "--to", connection)
	run("export", "People", "--from", connection, "--to", "export")
	must.OK(t, server.Process.Signal(os.Interrupt))
	_ = server.Wait()
	run("backup", "create", "backup", "--data", "data")
	files := 0
	must.OK(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch name, _ := filepath.Rel(dir, path); name {
		case ".", "data", "export", "backup": // the test itself has made these directories
		default:
			files++
			if info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s has the mode %v", name, info.Mode())
			}
		}
		return nil
	}))
	if files < 10 {
		t.Errorf("only %d files were looked at", files)
	}
}

// TestPrivateKeyOfOthers checks that a file of keys is refused if other users can read the file.
// The file is also refused if a foreign group can read it. The process does not belong to this
// group.
func TestPrivateKeyOfOthers(t *testing.T) {
	t.Parallel()
	cert, key, _ := proc.Certificate(t, time.Now().Add(1000*time.Hour))
	foreign := os.Getegid() + 12345
	groups, err := os.Getgroups()
	must.OK(t, err)
	for _, g := range groups {
		foreign = max(foreign, g+1)
	}
	for _, tt := range []struct {
		mode  fs.FileMode
		group int
		says  string // text in the error; "" if the file must be accepted
	}{
		{0o600, os.Getegid(), ""},
		{0o640, os.Getegid(), ""},
		{0o644, os.Getegid(), "other users can read the keys"},
		{0o660, os.Getegid(), "other users can read the keys"},
		{0o600, foreign, ""},
		{0o640, foreign, "users of another group can read the keys"},
	} {
		if err := os.Chown(key, -1, tt.group); err != nil && tt.group == foreign {
			t.Logf("group %d is left out: %v", tt.group, err)
			continue
		}
		must.OK(t, os.Chmod(key, tt.mode))
		err := cli.CheckPrivate(key)
		if tt.says == "" && err != nil || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%v, group %d: %v", tt.mode, tt.group, err)
		}
		if tt.mode == 0o644 {
			status, _, said := run(t, nil, "serve", "--memory", "--listen", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key)
			if status != 1 || !strings.Contains(said, tt.says) || !strings.Contains(said, "chmod 600 "+key) {
				t.Errorf("status %d: %s", status, said)
			}
		}
	}
}

// TestTLSIsStrict checks that TLS 1.2 connections need forward secrecy and a cipher without CBC. A
// response to a request with a host name must tell browsers to use only HTTPS.
func TestTLSIsStrict(t *testing.T) {
	t.Parallel()
	cert, key, _ := proc.Certificate(t, time.Now().Add(1000*time.Hour))
	s := start(t, nil, "--memory", "--tls-cert", cert, "--tls-key", key, "--public-url", "https://tables.example.com/")
	address := "127.0.0.1" + s.listening(t)
	for _, suite := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		if suite.SupportedVersions[0] > tls.VersionTLS12 {
			continue // all cipher suites of TLS 1.3 are secure
		}
		conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{suite.ID}})
		if err == nil {
			conn.Close()
		}
		if err == nil && (strings.Contains(suite.Name, "_CBC_") || !strings.Contains(suite.Name, "_ECDHE_")) {
			t.Errorf("%s is accepted", suite.Name)
		}
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	for _, tt := range []struct {
		host, path string
		strict     bool
	}{
		{"tables.example.com", "/_/", true},
		{"tables.example.com", "/_/live", true},
		{"tables.example.com:8443", "/devstoreaccount1/Tables", true},
		{"localhost", "/_/", false},
		{"127.0.0.1", "/_/", false},
		{"[::1]:443", "/devstoreaccount1/Tables", false},
	} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", "https://"+address+tt.path, nil)
		must.OK(t, err)
		req.Host = tt.host
		resp, err := client.Do(req)
		must.OK(t, err)
		resp.Body.Close()
		if got := resp.Header.Get("Strict-Transport-Security"); (got == "max-age=31536000") != tt.strict {
			t.Errorf("%s%s: status %d, Strict-Transport-Security %q", tt.host, tt.path, resp.StatusCode, got)
		}
	}
}

// TestPipeWithoutWriter checks that a server does not wait for accounts from a pipe to which no program writes.
func TestPipeWithoutWriter(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	must.OK(t, syscall.Mkfifo(pipe, 0o600))
	refused(t, "--accounts: "+pipe+" is a pipe without content: start the program that writes to it first, or name a file", "serve", "--memory", "--listen", "127.0.0.1:0", "--accounts", pipe)
}

// TestReadOnlyDisk checks the error for a data directory, new or existing, on a read-only file system.
func TestReadOnlyDisk(t *testing.T) {
	t.Parallel()
	disk := proc.Disk(t, "64m")
	data := filepath.Join(disk, "data")
	start(t, nil, "--data", data).ends(t)
	must.OK(t, syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	for _, dir := range []string{data, filepath.Join(disk, "new")} {
		refused(t, "edgetable: --data: the file system of "+dir+" is read-only: mount it for writing, or name another directory\n", "serve", "--listen", "127.0.0.1:0", "--data", dir)
	}
}
