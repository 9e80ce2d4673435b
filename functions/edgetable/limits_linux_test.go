package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"edgetable/testdata/must"
	"edgetable/testdata/proc"
)

// cgroup is a Linux control group (cgroup) with limits, of version 1 or 2.
type cgroup struct {
	memory, processors string // directories of the memory hierarchy and of the processor hierarchy
	v2                 bool
}

var cgroups atomic.Int64

// newCgroup creates a cgroup with these limits; 0 means no limit.
func newCgroup(t *testing.T, memory int64, processors float64) *cgroup {
	t.Helper()
	name := fmt.Sprintf("edgetable-%d-%d", os.Getpid(), cgroups.Add(1))
	g := &cgroup{memory: "/sys/fs/cgroup/memory/" + name, processors: "/sys/fs/cgroup/cpu/" + name}
	if _, err := os.Stat("/sys/fs/cgroup/memory"); err != nil {
		g = &cgroup{memory: "/sys/fs/cgroup/" + name, processors: "/sys/fs/cgroup/" + name, v2: true}
	}
	for _, dir := range []string{g.memory, g.processors} {
		skipIfForbidden(t, os.MkdirAll(dir, 0o755))
		t.Cleanup(func() { _ = os.Remove(dir) })
	}
	write := func(dir, file, text string) {
		t.Helper()
		skipIfForbidden(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
	}
	if memory > 0 && g.v2 {
		write(g.memory, "memory.max", strconv.FormatInt(memory, 10))
	} else if memory > 0 {
		write(g.memory, "memory.limit_in_bytes", strconv.FormatInt(memory, 10))
	}
	if processors > 0 && g.v2 {
		write(g.processors, "cpu.max", fmt.Sprintf("%d 100000", int(processors*100000)))
	} else if processors > 0 {
		write(g.processors, "cpu.cfs_quota_us", strconv.Itoa(int(processors*100000)))
	}
	return g
}

// skipIfForbidden skips the test if err is a missing permission. For any other error it fails the test.
func skipIfForbidden(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		t.Skip("to limit a process, root and cgroups that it may change are needed: ", err)
	}
	must.OK(t, err)
}

// command returns a command that runs in the cgroup.
func (g *cgroup) command(args ...string) *exec.Cmd {
	return exec.Command("sh", append([]string{"-c", `echo $$ >"$1/cgroup.procs" && echo $$ >"$2/cgroup.procs" && shift 2 && exec "$@"`, "sh", g.memory, g.processors}, args...)...)
}

func (g *cgroup) kills(t *testing.T) (n int) {
	t.Helper()
	file := "memory.oom_control"
	if g.v2 {
		file = "memory.events"
	}
	text, err := os.ReadFile(filepath.Join(g.memory, file))
	must.OK(t, err)
	for line := range strings.Lines(string(text)) {
		_, _ = fmt.Sscanf(line, "oom_kill %d", &n)
	}
	return n
}

// serve starts a server in the cgroup. The server has the account acme.
func (g *cgroup) serve(t *testing.T, args ...string) *process {
	t.Helper()
	file := filepath.Join(t.TempDir(), "accounts")
	must.OK(t, os.WriteFile(file, []byte("acme:"+key1+"\n"), 0o600))
	self, err := os.Executable()
	must.OK(t, err)
	c := g.command(append([]string{self, "serve", "--listen", "127.0.0.1:0", "--accounts", file}, args...)...)
	c.Env = []string{mainVariable + "=1"}
	started := proc.Start(t, "ready", c)
	return &process{Cmd: c, testServer: testServer{greeting: strings.Join(started.Lines, "\n") + "\n", logs: started.Log}}
}

// loadTime returns the duration of the load on a server with limits. In the weekly run it is a minute.
func loadTime(t *testing.T) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(os.Getenv("EDGETABLE_LIMITS_TIME"))
	if err != nil {
		return 2 * time.Second
	}
	return d
}

// batchRateUnderLoad sends three kinds of requests at the same time: small batches, batches of 4 MiB, and scans. It
// returns the number of entities that the small batches write per second. Each response must be a success, or 503 with
// Retry-After.
func batchRateUnderLoad(t *testing.T, p *process, d time.Duration) (entitiesPerSecond float64) {
	t.Helper()
	c := p.client(t, key1)
	c.Transport = &http.Transport{MaxIdleConnsPerHost: 64}
	c.do(t, "POST", "/Tables", `{"TableName":"Large"}`, http.StatusNoContent)
	self, err := os.Executable()
	must.OK(t, err)
	bench := exec.Command(self, "bench", "--endpoint", c.endpoint, "--accounts", accountsOf(t), "--op", "batch", "--connections", "16",
		"--duration", d.String(), "--refused", "wait", "--json")
	bench.Env = []string{mainVariable + "=1"}
	var out, said bytes.Buffer
	bench.Stdout, bench.Stderr = &out, &said
	must.OK(t, bench.Start())
	var ended atomic.Bool
	var stored, refused atomic.Int64
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for n := 0; !ended.Load(); n++ {
				status := c.tries(t, "POST", "/$batch", largeBatch(c.endpoint, i, n))
				if status == http.StatusAccepted {
					stored.Add(1)
				} else {
					refused.Add(1)
				}
			}
		})
	}
	for range 4 {
		all.Go(func() {
			for !ended.Load() {
				c.tries(t, "GET", "/Large()?$filter=Text%20ne%20'a'", "")
			}
		})
	}
	err = bench.Wait()
	ended.Store(true)
	all.Wait()
	if err != nil {
		t.Errorf("bench: %v\n%s", err, &said)
	}
	var result struct{ EntitiesPerSecond float64 }
	must.OK(t, json.Unmarshal(out.Bytes(), &result))
	t.Logf("%.0f entities/s; bodies of 4 MiB: %d stored, %d refused", result.EntitiesPerSecond, stored.Load(), refused.Load())
	return result.EntitiesPerSecond
}

// accountsOf writes a file of accounts that contains acme.
func accountsOf(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "accounts")
	must.OK(t, os.WriteFile(file, []byte("acme:"+key1+"\n"), 0o600))
	return file
}

func (c *signingClient) tries(t *testing.T, method, path, body string) (status int) {
	req := c.request(t, method, path, body)
	if strings.HasPrefix(path, "/$batch") {
		req.Header.Set("Content-Type", "multipart/mixed; boundary=batch")
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		t.Error(err)
	case resp.StatusCode == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != "":
	case resp.StatusCode >= 300:
		t.Errorf("%s %s: %s: %.500s", method, path, resp.Status, text)
	}
	return resp.StatusCode
}

// letters returns random text. The text cannot be compressed, so it is stored with its full size.
var letters = sync.OnceValue(func() string {
	random := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 1<<17)
	for i := range b {
		b[i] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"[random.IntN(64)]
	}
	return string(b)
})

// largeBatch returns a batch with eight entities of one partition. Each entity has about 0.5 MiB in JSON,
// and 1 MiB in memory. So the batch has about 4 MiB in JSON. The batches of all calls replace the same entities.
func largeBatch(endpoint string, client, n int) string {
	var b strings.Builder
	b.WriteString("--batch\r\nContent-Type: multipart/mixed; boundary=changeset\r\n\r\n")
	for row := range 8 {
		fmt.Fprintf(&b, "--changeset\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"+
			"PUT %s/Large(PartitionKey='%d',RowKey='%d') HTTP/1.1\r\nContent-Type: application/json\r\n\r\n{\"Text\":\"b\"", endpoint, client, row)
		for p := range 15 {
			at := (n*127 + row*31 + p) * 64 % (len(letters()) - 32_000)
			fmt.Fprintf(&b, ",\"P%d\":\"%s\"", p, letters()[at:at+32_000])
		}
		b.WriteString("}\r\n")
	}
	b.WriteString("--changeset--\r\n--batch--\r\n")
	return b.String()
}

// onDisk returns an empty folder on a real disk. Files on a tmpfs would count as memory of the container. In many
// systems /tmp is a tmpfs, and /var/tmp is on a disk.
func onDisk(t *testing.T) string {
	const tmpfs = 0x01021994
	dir := t.TempDir()
	var system syscall.Statfs_t
	if err := syscall.Statfs(dir, &system); err != nil || system.Type != tmpfs {
		return dir
	}
	dir, err := os.MkdirTemp("/var/tmp", "edgetable")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// TestMemoryOfContainer checks that the kernel does not kill a server in a small container, whatever its clients send.
// The server must limit its memory to that of the container, and refuse requests that need more memory.
func TestMemoryOfContainer(t *testing.T) {
	for _, mib := range []int64{128, 256, 512} {
		for _, where := range []string{"directory", "memory"} {
			if os.Getenv("EDGETABLE_LIMITS_TIME") == "" && (mib != 128 || where != "directory") {
				continue // only 'make image-limits' runs all combinations
			}
			t.Run(fmt.Sprintf("%d/%s", mib, where), func(t *testing.T) {
				g := newCgroup(t, mib<<20, 0)
				args := []string{"--memory"}
				if where == "directory" {
					args = []string{"--data", onDisk(t)}
				}
				p := g.serve(t, args...)
				batchRateUnderLoad(t, p, loadTime(t))
				if n := g.kills(t); n > 0 {
					t.Fatalf("the kernel has ended %d processes", n)
				}
				if want := fmt.Sprintf(`msg="limits of the container" memory_mib=%d`, mib); !strings.Contains(p.logs.String(), want) {
					t.Errorf("the log does not say %q:\n%s", want, p.logs)
				}
				p.client(t, key1).do(t, "GET", "/Tables", "", http.StatusOK)
			})
		}
	}
}

// TestRateInSmallContainer checks the batch rate of a server with 256 MiB. It must be at least four fifths of the rate
// without a memory limit.
func TestRateInSmallContainer(t *testing.T) {
	fourFifths(t, func(t *testing.T) []string { return []string{"--data", onDisk(t)} })
}

// fourFifths measures the batch rates of a server with 256 MiB and of a server without a memory limit. The first rate
// must be at least four fifths of the second rate. The function flags returns the storage flags of a new server.
func fourFifths(t *testing.T, flags func(*testing.T) []string) {
	t.Helper()
	if os.Getenv("EDGETABLE_LIMITS_TIME") == "" {
		t.Skip("it compares rates, which takes minutes: make image-limits")
	}
	rates := map[int64]float64{}
	for range 2 { // two attempts, because other programs may disturb one measurement
		for _, mib := range []int64{0, 256} {
			t.Run(fmt.Sprint(mib), func(t *testing.T) { // a subtest, so that each server stops before the next server starts
				g := newCgroup(t, mib<<20, 0)
				rates[mib] += batchRateUnderLoad(t, g.serve(t, flags(t)...), loadTime(t))
				if n := g.kills(t); n > 0 {
					t.Fatalf("the kernel has ended %d processes", n)
				}
			})
		}
	}
	t.Logf("%.0f entities/s in 256 MiB, %.0f without a limit: %.2f", rates[256]/2, rates[0]/2, rates[256]/rates[0])
	if rates[256] < 0.8*rates[0] {
		t.Errorf("%.0f entities/s in 256 MiB, %.0f without a limit", rates[256]/2, rates[0]/2)
	}
}

// TestProcessorsOfContainer checks that a server with a fraction of a processor logs this limit. It must also limit its
// concurrency accordingly.
func TestProcessorsOfContainer(t *testing.T) {
	p := newCgroup(t, 0, 0.5).serve(t, "--memory")
	p.logs.Await(t, `msg="limits of the container" processors=0.5 threads=1`)
}

// TestMemoryFull fills the memory that a container has for tables. Then the server must refuse inserts, and the error
// must say that this memory is full. Reads and deletions must still work. After deletions, the server must accept
// writes again.
func TestMemoryFull(t *testing.T) {
	t.Parallel()
	p := newCgroup(t, 128<<20, 0).serve(t, "--memory")
	c := p.client(t, key1)
	c.do(t, "POST", "/Tables", `{"TableName":"Large"}`, http.StatusNoContent)
	insert := func(n int) (status int, text string) {
		req := c.request(t, "POST", "/$batch", largeBatch(c.endpoint, n, 0))
		req.Header.Set("Content-Type", "multipart/mixed; boundary=batch")
		resp, err := c.Do(req)
		must.OK(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		must.OK(t, err)
		return resp.StatusCode, string(body)
	}
	stored := 0
	for ; stored < 100; stored++ {
		if status, text := insert(stored); !strings.Contains(text, "HTTP/1.1 204") {
			if status != http.StatusServiceUnavailable || !strings.Contains(text, "The server's memory for tables is full.") {
				t.Fatalf("after %d batches: %s", stored, text)
			}
			break
		}
	}
	if stored == 100 || stored == 0 {
		t.Fatalf("%d batches of 4 MiB are in memory", stored)
	}
	c.do(t, "GET", "/Large(PartitionKey='0',RowKey='0')", "", http.StatusOK)
	c.do(t, "DELETE", "/Large(PartitionKey='0',RowKey='0')", "", http.StatusNoContent)
	c.do(t, "DELETE", "/Tables('Large')", "", http.StatusNoContent)
	p.logs.Await(t, "there is memory for the tables again")
	c.do(t, "POST", "/Tables", `{"TableName":"Again"}`, http.StatusNoContent)
}

// TestLimitsOfCgroup2 checks that a server reads the limits of cgroups of version 2, including the limits of parent
// groups, which systemd sets with MemoryMax=. The machine may have version 1, so the server runs in a mount namespace
// with fixtures instead of the kernel's files.
func TestLimitsOfCgroup2(t *testing.T) {
	if os.Geteuid() != 0 || exec.Command("unshare", "--mount", "true").Run() != nil {
		t.Skip("to show a server other files of the kernel, root and namespaces are needed")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"mountinfo":                  "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n",
		"cgroup":                     "0::/tables.slice/edgetable.service\n",
		"fs/tables.slice/memory.max": "209715200\n",
		"fs/tables.slice/cpu.max":    "max 100000\n",
		"fs/tables.slice/edgetable.service/memory.max": "max\n",
		"fs/tables.slice/edgetable.service/cpu.max":    "50000 100000\n",
	} {
		must.OK(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	self, err := os.Executable()
	must.OK(t, err)
	c := exec.Command("unshare", "--mount", "sh", "-c", `mount --bind "$1/fs" /sys/fs/cgroup && mount --bind "$1/mountinfo" "/proc/$$/mountinfo" && mount --bind "$1/cgroup" "/proc/$$/cgroup" && exec "$2" serve --listen 127.0.0.1:0 --memory`, "sh", dir, self)
	c.Env = []string{mainVariable + "=1", "PATH=" + os.Getenv("PATH")}
	p := proc.Start(t, "ready", c)
	p.Log.Await(t, `msg="limits of the container" memory_mib=200 heap_mib=150 `) // the log and the greeting go to different pipes
	p.Log.Await(t, "processors=0.5 threads=1")
}
