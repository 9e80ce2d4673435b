package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"edgetable/functions/edgetable/descriptors"
)

// ReadPrivate reads a file of secrets, which CheckPrivate accepts.
func ReadPrivate(path string) (string, error) {
	text, err := descriptors.Try(func() ([]byte, error) { return os.ReadFile(path) })
	if err != nil {
		return "", err
	}
	return strings.TrimPrefix(string(text), "\ufeff"), CheckPrivate(path) // some editors put it there
}

// mounted reports whether a file is a secret that Compose, Swarm, Podman or Kubernetes has put into a container. They come so that everybody
// in the container can read them.
func mounted(path string) bool {
	if strings.HasPrefix(path, "/run/secrets/") {
		return true
	}
	target, err := os.Readlink(filepath.Join(filepath.Dir(path), "..data")) // as kubelet changes all files of a volume at once
	return err == nil && strings.HasPrefix(target, "..")
}

// CheckPrivate refuses a file of secrets that others than the owner can change, or
// that others can read: everybody, or a group that this process does not belong to.
func CheckPrivate(path string) error {
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS == "windows" { // which has no such bits
		return err
	}
	switch mode := info.Mode().Perm(); {
	case mode&0o033 == 0 && mounted(path): // a container has one user
	case mode&0o027 != 0:
		return fmt.Errorf("other users can read the keys in %s: chmod 600 %[1]s", path)
	case mode&0o040 != 0 && !inGroup(info):
		return fmt.Errorf("a group that this process is not in can read the keys in %s: chmod 600 %[1]s, or give the file to the group of the server", path)
	}
	return nil
}
