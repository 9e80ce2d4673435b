package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"edgetable/testdata/must"
	"edgetable/testdata/proc"
)

// TestRestoreToFullDisk restores a log to a disk that is too small for it. The restore waits for space. One signal must
// end it, and it must leave nothing behind.
func TestRestoreToFullDisk(t *testing.T) {
	t.Parallel()
	disk, dir := proc.Disk(t, "8m"), t.TempDir()
	place, target := filepath.Join(dir, "place"), filepath.Join(disk, "restored")
	s := startProcess(t, nil, "--data", filepath.Join(dir, "data"), "--metrics-listen", "127.0.0.1:0", "--backup-to", place, "--backup-log", "20ms")
	c := s.client(t, "")
	c.fill(t)
	s.backsUp(t)
	c.do(t, "POST", "/Tables", `{"TableName":"bulk"}`, 204)
	for i := range 400 {
		c.do(t, "POST", "/bulk", bulky(i), 204)
	}
	s.ships(t)

	self, err := os.Executable()
	must.OK(t, err)
	restore := exec.Command(self, "backup", "restore", place, target)
	restore.Env = []string{mainVariable + "=1"}
	p := proc.Start(t, "", restore)
	p.Log.Await(t, "is full")
	must.OK(t, p.Process.Signal(syscall.SIGINT))
	if err := p.Wait(); err == nil || p.ProcessState.ExitCode() != 1 || !strings.Contains(p.Log.String(), "edgetable: ") {
		t.Errorf("%v:\n%s", err, p.Log)
	}
	if list, err := os.ReadDir(disk); err != nil || len(list) > 0 {
		t.Errorf("%v is left, %v", list, err)
	}
}
