package proc

import (
	"syscall"
	"testing"

	"edgetable/testdata/must"
)

// Disk mounts a file system of a size, such as 64m, until the test ends. If the process lacks the permission to
// mount, Disk skips the test.
func Disk(t testing.TB, size string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	Mount(t, dir, size)
	return dir
}

// Mount mounts a file system of a size at a given directory, until the test ends. If the process lacks the
// permission to mount, Mount skips the test.
func Mount(t testing.TB, dir, size string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("mount a file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

// Resize changes the size of a file system made by Disk.
func Resize(t testing.TB, dir, size string) {
	t.Helper()
	must.OK(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT, "size="+size))
}
