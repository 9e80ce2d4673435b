//go:build unix

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"edgetable/functions/edgetable/backup"
	"edgetable/testdata/must"
)

// TestBackupByRoot checks that root's backup does not prevent later backups by the server's user.
func TestBackupByRoot(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	data := t.TempDir()
	start(t, nil, "--data", data).ends(t)
	if err := os.Chown(data, 65534, 65534); err != nil {
		t.Skip("files cannot be given to another user here: ", err)
	}
	succeed(t, "backup", "create", filepath.Join(t.TempDir(), "place"), "--data", data)
	for _, name := range []string{backup.LockFile, backup.UnfinishedFile} {
		info, err := os.Stat(filepath.Join(data, name))
		must.OK(t, err)
		if owner := info.Sys().(*syscall.Stat_t).Uid; owner != 65534 {
			t.Errorf("%s belongs to the user %d", name, owner)
		}
	}
}

// TestBackupWithoutLock checks the error for a lock file that cannot be opened. The error must not
// say that another backup is running.
func TestBackupWithoutLock(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	start(t, nil, "--data", data).ends(t)
	must.OK(t, os.Mkdir(filepath.Join(data, backup.LockFile), 0o700))
	_, _, said := run(t, nil, "backup", "create", filepath.Join(t.TempDir(), "place"), "--data", data)
	if !strings.Contains(said, backup.LockFile) || strings.Contains(said, "another backup") {
		t.Error(said)
	}
}

// TestStagingOfKilledBackup checks that a starting server removes the temporary files of a killed
// backup. It must keep the files of a running backup.
func TestStagingOfKilledBackup(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	left := filepath.Join(data, backup.Staging, "000001.sst")
	start(t, nil, "--data", data).ends(t)
	must.OK(t, os.Mkdir(filepath.Dir(left), 0o700))
	must.OK(t, os.WriteFile(left, nil, 0o600))
	lock, err := backup.LockBackups(data)
	must.OK(t, err)
	start(t, nil, "--data", data).ends(t)
	if _, err := os.Stat(left); err != nil {
		t.Errorf("a running backup lost its files: %v", err)
	}
	must.OK(t, lock.Close())
	start(t, nil, "--data", data).ends(t)
	if _, err := os.Stat(filepath.Dir(left)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the files of a killed backup are left: %v", err)
	}
}
