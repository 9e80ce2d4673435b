package backup

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// filled makes a data directory that contains a table with some entities.
func filled(t *testing.T) (data string) {
	t.Helper()
	data = filepath.Join(t.TempDir(), "data")
	s := start(t, data)
	if status := s.do(t, "POST", "/Tables", `{"TableName":"people"}`); status != 201 {
		t.Fatalf("create table: status %d", status)
	}
	for row := range 100 {
		s.put(t, row)
	}
	s.stop(t)
	return data
}

// TestS3 makes backups of a running server in a bucket, and restores one.
func TestS3(t *testing.T) {
	t.Parallel()
	g, data := startGateway(t), filled(t)
	s := start(t, data)
	first := succeed(t, "backup", "create", g.URL, "--data", data)
	s.put(t, 1000)
	second := succeed(t, "backup", "create", g.URL, "--data", data)
	t.Logf("%s%s", first, second)
	if out := succeed(t, "backup", "list", g.URL); strings.Count(out, data) != 2 {
		t.Errorf("list: %s", out)
	}
	if out := succeed(t, "backup", "verify", g.URL); !strings.Contains(out, "2 backups: read ") {
		t.Errorf("verify: %s", out)
	}
	for row, id := range map[int]string{99: strings.TrimSuffix(strings.Fields(first)[1], ":"), 1000: ""} {
		restored := filepath.Join(t.TempDir(), "restored")
		succeed(t, "backup", "restore", g.URL, restored, "--backup", id)
		succeed(t, "check", restored)
		if r := start(t, restored); !r.has(t, row) || id != "" && r.has(t, 1000) {
			t.Errorf("backup %s is not as it was", id)
		}
	}
	succeed(t, "backup", "prune", g.URL, "--keep-last", "1")
	if out := succeed(t, "backup", "verify", g.URL); !strings.Contains(out, "1 backup: read ") {
		t.Errorf("verify: %s", out)
	}
	// With this number of objects, listing them takes several requests.
	const garbage = 2500
	for i := range garbage {
		if err := os.WriteFile(filepath.Join(g.dir, "objects", fmt.Sprint("garbage-", i)), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out := succeed(t, "backup", "prune", g.URL, "--keep-last", "1"); !strings.Contains(out, "2,500 objects") {
		t.Errorf("prune of garbage: %s", out)
	}
	// The prefix contains characters that must be escaped in a URL.
	odd := strings.Replace(g.URL, "some/prefix", "a+b%20c", 1)
	succeed(t, "backup", "create", odd, "--data", data)
	succeed(t, "backup", "verify", odd)

	c := command(t, "backup", "list", g.URL)
	c.Env = append(c.Env, "AWS_SECRET_ACCESS_KEY=wrong")
	if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "SignatureDoesNotMatch") {
		t.Errorf("a wrong key: %v %s", err, out)
	}
}

// TestFaults makes a quarter of all requests fail in every possible way, and checks backup, prune
// and restore.
func TestFaults(t *testing.T) {
	t.Parallel()
	g, data := startGateway(t), filled(t)
	var failed atomic.Int64
	g.set(func(*http.Request) fault {
		if g.intN(4) > 0 {
			return none
		}
		failed.Add(1)
		return fault(1 + g.intN(int(halfAnswer)))
	}, nil)
	succeed(t, "backup", "create", g.URL, "--data", data)
	succeed(t, "backup", "create", g.URL, "--data", data)
	succeed(t, "backup", "prune", g.URL, "--keep-last", "1")
	succeed(t, "backup", "verify", g.URL)
	restored := filepath.Join(t.TempDir(), "restored")
	succeed(t, "backup", "restore", g.URL, restored)
	if !start(t, restored).has(t, 99) {
		t.Error("an entity is lost")
	}
	t.Logf("%d requests failed", failed.Load())
}

// TestKill kills the process before or after each of its writes to the bucket. Afterwards all listed backups
// must be complete, and the next backup and the next prune must succeed.
func TestKill(t *testing.T) {
	t.Parallel()
	g, data := startGateway(t), filled(t)
	for _, args := range [][]string{
		{"backup", "create", g.URL, "--data", data},
		{"backup", "prune", g.URL, "--keep-last", "1"},
	} {
		for _, f := range []fault{killBefore, killAfter} {
			for n := int64(1); ; n++ {
				succeed(t, "backup", "create", g.URL, "--data", data)
				if !killedAt(t, g, f, n, args) {
					break
				}
				succeed(t, "backup", "verify", g.URL)
				if n%4 == 0 {
					restored := filepath.Join(t.TempDir(), "restored")
					succeed(t, "backup", "restore", g.URL, restored)
					succeed(t, "check", restored)
				}
			}
		}
	}
	succeed(t, "backup", "create", g.URL, "--data", data)
	out := succeed(t, "backup", "prune", g.URL, "--keep-last", "1")
	if !strings.Contains(out, "left: 1 backup") || strings.Contains(out, "unneeded objects are kept") {
		t.Errorf("prune: %s", out)
	}
	if out = succeed(t, "backup", "prune", g.URL, "--keep-last", "1"); !strings.Contains(out, "0 backups and 0 objects") {
		t.Errorf("a second prune: %s", out)
	}
}

// TestScheduled kills a server several times while it makes scheduled backups. A server that is started later
// must complete these backups.
func TestScheduled(t *testing.T) {
	t.Parallel()
	g, data := startGateway(t), filled(t)
	args := []string{"--backup-to", g.URL, "--backup-every", "1s", "--backup-keep", "last=2"}
	for n := range int64(8) {
		var writes atomic.Int64
		killed := make(chan struct{})
		g.set(func(r *http.Request) fault {
			if r.Method == http.MethodGet || writes.Add(1) <= n {
				return none
			}
			if writes.Load() == n+1 {
				close(killed)
			}
			return cutBefore // all further requests fail until the process is dead
		}, nil)
		s := start(t, data, args...)
		<-killed
		_ = s.Process.Kill()
		_ = s.Wait()
	}
	g.set(noFault, nil)
	s := start(t, data, args...)
	eventually(t, "old backups are removed", func() bool { return s.logged("old backups removed") })
	s.stop(t)
	succeed(t, "backup", "verify", g.URL)
	if _, err := os.Stat(filepath.Join(data, "backup.staging")); err == nil {
		t.Error("staged files are left")
	}
	t.Log(succeed(t, "backup", "list", g.URL))
}

// killedAt runs the program and kills it before or after its n-th write to the bucket. It returns
// false if the program ended before that write.
func killedAt(t *testing.T, g *gateway, f fault, n int64, args []string) bool {
	t.Helper()
	c := command(t, args...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	var writes atomic.Int64
	g.set(func(r *http.Request) fault {
		switch {
		case r.Method == http.MethodGet:
			return none
		case writes.Add(1) == n:
			return f
		case writes.Load() > n: // a request that the process sent before it was killed
			return cutBefore
		}
		return none
	}, func() { _ = c.Process.Kill() })
	err := c.Run()
	g.set(noFault, nil)
	if err == nil {
		t.Logf("%q: %d writes", args[:2], n-1)
		return false
	}
	if !strings.Contains(err.Error(), "killed") {
		t.Fatalf("%q, write %d: %v\n%s", args[:2], n, err, &out)
	}
	return true
}
