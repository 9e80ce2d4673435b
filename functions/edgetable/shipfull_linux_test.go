package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgetable/testdata/must"
	"edgetable/testdata/proc"
)

// TestShippingFullDisk checks a server that copies its log to a backup location. On a full disk, the server must start,
// and must answer requests with 503. When the disk has space again, the server must accept writes and copy them to the
// location. If the server has discarded log files before it copied them, it must make a new backup.
func TestShippingFullDisk(t *testing.T) {
	t.Parallel()
	disk, dir := proc.Disk(t, "64m"), t.TempDir()
	data, place, fill := filepath.Join(disk, "data"), filepath.Join(dir, "place"), filepath.Join(disk, "fill")
	serve := []string{"--data", data, "--metrics-listen", "127.0.0.1:0", "--backup-to", place, "--backup-log", "20ms"}
	p := startProcess(t, nil, serve...)
	c := p.client(t, "")
	c.fill(t)
	c.do(t, "POST", "/Tables", `{"TableName":"bulk"}`, 204)
	for i := range 20 {
		if status, text := c.send(t, "POST", "/bulk", bulky(i)); status != 204 {
			t.Fatalf("status %d: %s", status, text)
		}
	}
	p.backsUp(t)
	p.ships(t)
	p.kill(t)
	if err := os.Remove(filepath.Join(data, "RESERVE")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	must.OK(t, fillUp(fill, 0))

	p, base := startWithoutSpace(t, serve...)
	if status, text := get(t, base+"/devstoreaccount1/people()"); status != 503 {
		t.Errorf("a read before there is space: status %d, %s", status, text)
	}
	must.OK(t, os.Remove(fill))
	c = p.awaitSpace(t).client(t, "")
	eventually(t, "the server finds the space", &p.testServer, func() bool { status, _ := c.send(t, "PUT", ada, `{"Name":"with space"}`); return status == 204 })
	// The server may have discarded log files without a log message. A new backup then replaces the discarded files. So
	// the test restores again and again, until a restore has the last write. An earlier restore may fail because the
	// newest state cannot be restored.
	restores := 0
	eventually(t, "the place has the last write", &p.testServer, func() bool {
		restores++
		to := filepath.Join(dir, fmt.Sprint("restored", restores))
		switch status, _, text := runUntil(t.Context(), nil, "backup", "restore", place, to); {
		case status == 1 && strings.Contains(text, "the newest state cannot be restored"):
			return false
		case status != 0:
			t.Fatalf("status %d: %s", status, text)
		}
		return readPeople(t, to)["1"] == "with space"
	})
	p.kill(t)
	p = startProcess(t, nil, serve...)
	if got := p.client(t, "").name(t); got != "with space" {
		t.Errorf("after a restart: %q", got)
	}
}
