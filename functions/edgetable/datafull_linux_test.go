package main

import (
	"path/filepath"
	"strings"
	"testing"

	"edgetable/testdata/proc"
)

// TestExportFullDisk checks that an export reports a full disk. When the disk has space again, the
// same command must resume the export.
func TestExportFullDisk(t *testing.T) {
	t.Parallel()
	disk := proc.Disk(t, "12m")
	c, from := shell{t, t.TempDir()}, startHalfway(t)
	c.run(0, []string{"import", entitiesFile(t, 8000, strings.Repeat("x", 2000)), "--to", from.connection})
	export := []string{"export", "People", "--from", from.connection, "--to", filepath.Join(disk, "out")}
	for range 3 {
		c.run(3, export, "no space left on device", "; run the same command to resume")
	}
	proc.Resize(t, disk, "48m")
	c.run(0, export, "resuming: ")
	if whole := c.run(0, []string{"export", "People", "--from", from.connection, "--to", "-"}); exported(t, filepath.Join(disk, "out"), "People") != whole {
		t.Error("the export is not what an uninterrupted one is")
	}
}
