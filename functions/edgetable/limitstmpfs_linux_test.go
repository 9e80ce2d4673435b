package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"edgetable/testdata/must"
	"edgetable/testdata/proc"
)

// TestDirectoryInMemory checks a server with a data directory on a tmpfs, whose files count as memory of the
// container. The kernel must not kill the server, neither at the start nor when the files have reached their limit.
// At this limit the server must refuse inserts and serve reads.
func TestDirectoryInMemory(t *testing.T) {
	for _, tt := range []struct {
		name, size string
		says       string
	}{
		{"large", "4g", "memory_mib=256 heap_mib=96 cache_mib=19 bodies_mib=19 files_mib=64"}, // Docker's default: half of the machine's memory
		{"small", "48m", "memory_mib=256 heap_mib=156 cache_mib=31 bodies_mib=31 files_mib=48"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := newCgroup(t, 256<<20, 0)
			disk := proc.Disk(t, tt.size)
			p := g.serve(t, "--data", filepath.Join(disk, "data"))
			p.logs.Await(t, tt.says)
			c := p.client(t, key1)
			c.do(t, "POST", "/Tables", `{"TableName":"Full"}`, http.StatusNoContent)
			c.do(t, "POST", "/Full", bulky(0), http.StatusNoContent)
			batchRateUnderLoad(t, p, loadTime(t))
			row, refusal := 0, ""
			for status := http.StatusNoContent; status == http.StatusNoContent; {
				row++
				status, refusal = c.send(t, "POST", "/Full", bulky(row))
			}
			if !strings.Contains(refusal, "server's disk is full") {
				t.Errorf("after %d entities: %s", row, refusal)
			}
			c.do(t, "GET", "/Full(PartitionKey='p',RowKey='0')", "", http.StatusOK)
			var used syscall.Statfs_t
			must.OK(t, syscall.Statfs(disk, &used))
			t.Logf("the files take %d MiB", (int64(used.Blocks)-int64(used.Bfree))*used.Bsize>>20)
			if n := g.kills(t); n > 0 {
				t.Errorf("the kernel has ended %d processes", n)
			}
		})
	}
	t.Run("refused", func(t *testing.T) {
		g := newCgroup(t, 128<<20, 0)
		self, err := os.Executable()
		must.OK(t, err)
		dir := proc.Disk(t, "4g")
		c := g.command(self, "serve", "--listen", "127.0.0.1:0", "--allow-development-account", "--data", dir)
		c.Env = []string{mainVariable + "=1"}
		said, err := c.CombinedOutput()
		want := fmt.Sprintf("%s is in memory (tmpfs), so its files use the memory of this container, which has 128 MiB: give it 256 MiB or more, use a volume, or keep the tables in memory without files by --memory", dir)
		if err == nil || !strings.Contains(string(said), want) {
			t.Errorf("%v, %s", err, said)
		}
		if n := g.kills(t); n > 0 {
			t.Errorf("the kernel has ended %d processes", n)
		}
	})
}
