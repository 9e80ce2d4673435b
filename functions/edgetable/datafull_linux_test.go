package main

import (
	"path/filepath"
	"syscall"
	"testing"
)

// An export whose disk is full says so, and goes on when there is space.
func TestExportFullDisk(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=12m"); err != nil {
		t.Skipf("mount a file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	c, from := shell{t, t.TempDir()}, startHalfway(t)
	text := make([]byte, 2000)
	for i := range text {
		text[i] = 'x'
	}
	c.run(0, []string{"import", entitiesFile(t, 8000, string(text)), "--to", from.connection})
	export := []string{"export", "People", "--from", from.connection, "--to", filepath.Join(disk, "out")}
	for range 3 {
		c.run(1, export, "no space left on device", "; the same command goes on")
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_REMOUNT, "size=48m"); err != nil {
		t.Fatal(err)
	}
	c.run(0, export, "going on: ")
	if whole := c.run(0, []string{"export", "People", "--from", from.connection, "--to", "-"}); exported(t, filepath.Join(disk, "out"), "People") != whole {
		t.Error("the export is not what an uninterrupted one is")
	}
}
