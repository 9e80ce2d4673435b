package cli

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"edgetable/functions/edgetable/descriptors"
)

// ReadPrivate reads a file of secrets. It fails if CheckPrivate returns an error for this file.
func ReadPrivate(path string) (string, error) {
	text, err := ReadSecrets(path)
	if err != nil {
		return "", err
	}
	return text, CheckPrivate(path)
}

// ReadSecrets reads a file of secrets without checking its permissions.
func ReadSecrets(path string) (string, error) {
	text, err := descriptors.OpenWithReserve(func() ([]byte, error) { return readWithoutWait(path) })
	return strings.TrimPrefix(string(text), "\ufeff"), err // some editors add a byte order mark
}

// readWithoutWait reads a file. It fails for a pipe that has no writer, because reading would block forever, even when
// the server is stopped.
func readWithoutWait(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close() // an error of Close has no effect, because the file was only read
	text, err := io.ReadAll(f)
	if info, statErr := f.Stat(); err == nil && len(text) == 0 && statErr == nil && info.Mode()&fs.ModeNamedPipe != 0 {
		return nil, fmt.Errorf("%s is a pipe without content: start the program that writes to it first, or name a file", path)
	}
	return text, err
}

// mounted reports whether a file is a secret that Compose, Swarm, Podman or Kubernetes has mounted into a container,
// where all users can read it.
func mounted(path string) bool {
	if strings.HasPrefix(path, "/run/secrets/") {
		return true
	}
	target, err := os.Readlink(filepath.Join(filepath.Dir(path), "..data")) // the kubelet replaces the files of a volume atomically through this link
	return err == nil && strings.HasPrefix(target, "..")
}

// CheckPrivate returns an error if other users can read or change a file of secrets. The group may read it if this
// process belongs to the group.
func CheckPrivate(path string) error {
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS == "windows" { // Windows has no such permissions
		return err
	}
	switch mode := info.Mode().Perm(); {
	case mode&0o033 == 0 && mounted(path): // all users of a container can read its secrets, but there is usually only one user
	case mode&0o027 != 0:
		return fmt.Errorf("other users can read the keys in %s: chmod 600 %[1]s", path)
	case mode&0o040 != 0 && !inGroup(info):
		return fmt.Errorf("users of another group can read the keys in %s: run chmod 600 %[1]s, or give the file to the group of the server", path)
	}
	return nil
}
