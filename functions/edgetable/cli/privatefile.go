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

// ReadPrivate reads a file of secrets. It returns an error if CheckPrivate does.
func ReadPrivate(path string) (string, error) {
	text, err := ReadSecrets(path)
	if err != nil {
		return "", err
	}
	return text, CheckPrivate(path)
}

// ReadSecrets reads a file of secrets, and does not check who else can read the file.
func ReadSecrets(path string) (string, error) {
	text, err := descriptors.Try(func() ([]byte, error) { return readWithoutWait(path) })
	return strings.TrimPrefix(string(text), "\ufeff"), err // some editors add a byte order mark
}

// readWithoutWait reads a file. If the file is a pipe that no program has opened for writing, readWithoutWait returns an
// error. Reading such a pipe would wait without end, and a stop of the server could not interrupt it.
func readWithoutWait(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close() // nothing was written, so an error of Close does not matter
	text, err := io.ReadAll(f)
	if info, statErr := f.Stat(); err == nil && len(text) == 0 && statErr == nil && info.Mode()&fs.ModeNamedPipe != 0 {
		return nil, fmt.Errorf("%s is a pipe without content: start the program that writes to it first, or name a file", path)
	}
	return text, err
}

// mounted reports whether a file is a secret that Compose, Swarm, Podman or Kubernetes has mounted into a container.
// All users of the container can read such a file.
func mounted(path string) bool {
	if strings.HasPrefix(path, "/run/secrets/") {
		return true
	}
	target, err := os.Readlink(filepath.Join(filepath.Dir(path), "..data")) // the link ..data, which kubelet uses to replace all files of a volume at once, shows such a mount
	return err == nil && strings.HasPrefix(target, "..")
}

// CheckPrivate returns an error if other users can change a file of secrets, or can read it. A group may read the
// file if this process belongs to the group.
func CheckPrivate(path string) error {
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS == "windows" { // Windows has no such permissions
		return err
	}
	switch mode := info.Mode().Perm(); {
	case mode&0o033 == 0 && mounted(path): // all users of a container can read its secrets; this is no risk, because a container usually has one user
	case mode&0o027 != 0:
		return fmt.Errorf("other users can read the keys in %s: chmod 600 %[1]s", path)
	case mode&0o040 != 0 && !inGroup(info):
		return fmt.Errorf("users of another group can read the keys in %s: run chmod 600 %[1]s, or give the file to the group of the server", path)
	}
	return nil
}
