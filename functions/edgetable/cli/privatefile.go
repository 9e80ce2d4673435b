package cli

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"edgetable/functions/edgetable/descriptors"
)

// ReadPrivate reads a file of secrets. It refuses one that others than the owner and
// the group can read, or that others than the owner can change.
func ReadPrivate(path string) (string, error) {
	text, err := descriptors.Try(func() ([]byte, error) { return os.ReadFile(path) })
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o027 != 0 { // Windows has no such bits
		err = fmt.Errorf("other users can read the keys in %s: chmod 600 %[1]s", path)
	}
	return strings.TrimPrefix(string(text), "\ufeff"), err // some editors put it there
}
