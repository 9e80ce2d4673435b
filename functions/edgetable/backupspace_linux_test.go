package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"edgetable/functions/edgetable/cli"
	"edgetable/testdata/must"
	"edgetable/testdata/proc"
)

// TestFullPlace fills the disk of a backup location, a small tmpfs. It checks that all listed backups are complete. The
// server must continue to serve and must report the failure. When the disk has space again, the next backup must
// succeed.
func TestFullPlace(t *testing.T) {
	t.Parallel()
	disk := proc.Disk(t, "4m")
	place := filepath.Join(disk, "place")
	p := startProcess(t, nil, "--data", filepath.Join(t.TempDir(), "data"), "--metrics-listen", "127.0.0.1:0", "--backup-to", place, "--backup-every", "1s")
	c := p.client(t, "")
	c.fill(t)
	metric := func(name string) float64 { return sumOf(t, p.scrape(t, ""), name) }
	p.backsUp(t)

	c.do(t, "POST", "/Tables", `{"TableName":"bulk"}`, 204)
	for i := range 300 {
		c.do(t, "POST", "/bulk", bulky(i), 204)
	}
	p.logs.Await(t, "no space left on device")
	if metric("backup_failures_total") == 0 {
		t.Error("the metrics do not show the failure")
	}
	complete := func() int { return int(metric("backups_total")) }
	verify := func(least, most func() int) { // least and most are functions, because another backup may succeed during the call, in space that a failed backup has freed
		t.Helper()
		n := least()
		out := succeed(t, "backup", "verify", place)
		for ; !strings.HasPrefix(out, cli.Things(n, "backups")+": "); n++ {
			if n == most() {
				t.Fatalf("verify: %s, want at most %d", out, n)
			}
		}
	}
	verify(complete, complete)
	c.do(t, "POST", "/bulk", bulky(300), 204)
	if status, text := get(t, strings.TrimSuffix(c.endpoint, "/devstoreaccount1")+"/_/ready"); status != http.StatusOK {
		t.Errorf("ready: %d %s", status, text)
	}

	proc.Resize(t, disk, "128m")
	p.logs.AwaitTimes(t, "msg=backup ", complete()+2) // the first of the two further backups may have begun before the last insert
	p.signal(t, syscall.SIGTERM)
	if err := p.Wait(); err != nil {
		t.Errorf("the end: %v\n%s", err, p.logs)
	}
	out := succeed(t, "backup", "list", place)
	listed := func() int { return strings.Count(out, " no\n") } // counts the lines that have "no" in the column ENCRYPTED
	verify(listed, listed)
	restored := filepath.Join(t.TempDir(), "restored")
	succeed(t, "backup", "restore", place, restored)
	start(t, nil, "--data", restored).client(t, "").do(t, "GET", "/bulk(PartitionKey='p',RowKey='300')", "", 200)
}

// TestPlaceGoesAway removes the backup location of a running server, as if the disk was unmounted. The server must not
// begin new backups in the empty directory. It must continue when the location is back.
func TestPlaceGoesAway(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	place, away := filepath.Join(dir, "place"), filepath.Join(dir, "away")
	args := []string{"--data", filepath.Join(dir, "data"), "--metrics-listen", "127.0.0.1:0", "--backup-to", place, "--backup-every", "3s"}
	p := startProcess(t, nil, args...)
	c := p.client(t, "")
	c.fill(t)
	metric := func(name string) float64 { return sumOf(t, p.scrape(t, ""), name) }
	p.backsUp(t)
	must.OK(t, os.Rename(place, away))
	p.logs.Await(t, "is its disk mounted?")
	if metric("backup_failures_total") == 0 {
		t.Error("the metrics do not show the failure")
	}
	if _, err := os.Stat(place); err == nil {
		t.Error("the server made the place again")
	}
	c.filled(t)

	complete := metric("backups_total")
	must.OK(t, os.Rename(away, place))
	p.logs.AwaitTimes(t, "msg=backup ", int(complete)+1)
	succeed(t, "backup", "verify", place)

	// The next start finds an empty mount point. It must write nothing there.
	p.signal(t, syscall.SIGTERM)
	must.OK(t, p.Wait())
	must.OK(t, os.Rename(place, away))
	must.OK(t, os.Mkdir(place, 0o700))
	p = startProcess(t, nil, args...)
	p.logs.Await(t, "is its disk mounted?")
	must.OK(t, os.Remove(place)) // fails if the folder is not empty
	must.OK(t, os.Rename(away, place))
	p.logs.Await(t, "msg=backup ")
}
