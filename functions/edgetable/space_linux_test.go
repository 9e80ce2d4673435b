package main

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"edgetable/testdata/must"
	"edgetable/testdata/proc"
)

// TestFullDisk fills the disk of a server, a small tmpfs. The server must refuse inserts, serve reads and deletes, and
// start on the full disk.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	disk := proc.Disk(t, "64m")
	p := startProcess(t, nil, "--data", filepath.Join(disk, "data"))
	c := p.client(t, "")
	base := strings.TrimSuffix(c.endpoint, "/devstoreaccount1")
	c.do(t, "POST", "/Tables", `{"TableName":"people"}`, 204)

	// Insert entities until the disk is full.
	stored, refusal := 0, ""
	for status := 204; status == 204; stored++ {
		status, refusal = c.send(t, "POST", "/people", bulky(stored))
	}
	if stored--; stored < 200 || !strings.Contains(refusal, "server's disk is full") {
		t.Fatalf("after %d entities: %s", stored, refusal)
	}
	// Fill the remaining space with another file. Repeat this until the server notices the full disk,
	// because compactions release space.
	fill := filepath.Join(disk, "fill")
	check := func() {
		t.Helper()
		must.Eventually(t, "the server notices the full disk", p.logs, func() bool {
			must.OK(t, fillUp(fill, 900<<10))
			status, _ := c.send(t, "PUT", "/people(PartitionKey='p',RowKey='x')", "{}")
			ready, text := get(t, base+"/_/ready")
			return status == 503 && ready == 503 && strings.Contains(text, "full")
		})
		c.do(t, "GET", "/people(PartitionKey='p',RowKey='7')", "", 200)
		c.do(t, "GET", "/people()?$filter=RowKey%20eq%20'9'&$select=RowKey", "", 200)
		if status, _ := get(t, base+"/_/live"); status != 200 {
			t.Errorf("live: %d", status)
		}
	}
	check()
	c.do(t, "DELETE", "/people(PartitionKey='p',RowKey='0')", "", 204)

	// A killed server must start on the full disk, because the store has reserved some space.
	must.OK(t, p.Process.Kill())
	p.Wait()
	p = startProcess(t, nil, "--data", filepath.Join(disk, "data"))
	c = p.client(t, "")
	base = strings.TrimSuffix(c.endpoint, "/devstoreaccount1")
	check()
	c.do(t, "GET", "/people(PartitionKey='p',RowKey='0')", "", 404)

	// The store reserves space on the disk with the file RESERVE. Remove this file, and fill the disk to the last byte.
	// Then a server must wait for space: the server is alive but not ready.
	must.OK(t, p.Process.Kill())
	p.Wait()
	if err := os.Remove(filepath.Join(disk, "data", "RESERVE")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	must.OK(t, fillUp(fill, 0))
	p, base = startWithoutSpace(t, "--data", filepath.Join(disk, "data"))
	for path, want := range map[string]int{"/_/live": 200, "/_/ready": 503, "/devstoreaccount1/people()": 503} {
		if status, text := get(t, base+path); status != want {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}

	// When there is space again, all entities can be read.
	must.OK(t, os.Remove(fill))
	c = p.awaitSpace(t).client(t, "")
	c.do(t, "GET", "/people(PartitionKey='p',RowKey='7')", "", 200)
	c.do(t, "DELETE", "/Tables('people')", "", 204)
	must.Eventually(t, "the server notices the space", p.logs, func() bool {
		status, _ := get(t, base+"/_/ready")
		return status == 200
	})
	c.do(t, "POST", "/Tables", `{"TableName":"others"}`, 204)
	c.do(t, "POST", "/others", `{"PartitionKey":"p","RowKey":"x"}`, 204)
	p.signal(t, syscall.SIGTERM)
	if err := p.Wait(); err != nil {
		t.Errorf("the end: %v\n%s", err, p.logs)
	}
}

// startWithoutSpace starts a server on a disk with no free byte. It returns when the server waits for free space.
func startWithoutSpace(t *testing.T, args ...string) (p *process, base string) {
	t.Helper()
	self, err := os.Executable()
	must.OK(t, err)
	c := exec.Command(self, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	c.Env = []string{mainVariable + "=1"}
	log := proc.Start(t, "", c).Log
	log.Await(t, "the store does not answer yet, and the server is not ready")
	_, address, _ := strings.Cut(log.String(), "address=")
	return &process{Cmd: c, testServer: testServer{logs: log}}, "http://" + strings.Fields(address)[0]
}

// awaitSpace waits until the server has enough space on its disk and is ready.
func (p *process) awaitSpace(t *testing.T) *process {
	t.Helper()
	p.logs.Await(t, "\nready\n")
	p.greeting = p.logs.String()
	return p
}

// bulky returns the JSON of an entity of 40 KiB that cannot be compressed.
func bulky(i int) string {
	b := make([]byte, 30<<10)
	rand.NewChaCha8([32]byte{byte(i), byte(i >> 8)}).Read(b)
	return fmt.Sprintf(`{"PartitionKey":"p","RowKey":"%d","Bytes@odata.type":"Edm.Binary","Bytes":"%s"}`, i, base64.StdEncoding.EncodeToString(b))
}

// send sends a signed request. It returns the status and the body of the response.
func (c *signingClient) send(t *testing.T, method, path, body string) (status int, text string) {
	t.Helper()
	resp, err := c.Do(c.request(t, method, path, body))
	must.OK(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	must.OK(t, err)
	return resp.StatusCode, string(b)
}

// fillUp appends to a file until the disk is almost full. The parameter leave is the maximum number
// of bytes that stay free.
func fillUp(path string, leave int64) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	var disk syscall.Statfs_t
	if err := syscall.Fstatfs(int(f.Fd()), &disk); err != nil {
		return err
	}
	_, err = f.Write(make([]byte, max(0, int64(disk.Bavail)*disk.Bsize-leave)))
	if errors.Is(err, syscall.ENOSPC) { // no error: a compaction has used some of the free space since the call of Fstatfs
		return nil
	}
	return err
}

// TestDirectoryThatCannotBeWritten starts a server in sysfs, where not even root can create directories.
func TestDirectoryThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	const sysfs = 0x62656572
	var system syscall.Statfs_t
	if err := syscall.Statfs("/sys", &system); err != nil || system.Type != sysfs {
		t.Skipf("there is no sysfs at /sys: %v", err)
	}
	if status, _, said := run(t, nil, "serve", "--listen", "127.0.0.1:0", "--data", "/sys/edgetable"); status != 1 || !strings.Contains(said, "or name another directory with --data") {
		t.Errorf("status %d: %s", status, said)
	}
}
