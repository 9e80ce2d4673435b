package export

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"edgetable/functions/edgetable/transfer/progressfile"
)

// Hold locks a directory against exports of other processes. It creates the directory if it does not exist. The
// returned function unlocks the directory. If Hold created the directory and it is still empty, this function also
// removes it.
func Hold(dir string) (release func(), err error) {
	_, there := os.Stat(dir)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if !progressfile.Lock(f) {
		return nil, errors.Join(fmt.Errorf("another process exports to %s: wait for its end, or stop it", dir), f.Close())
	}
	return func() {
		if errors.Is(there, fs.ErrNotExist) {
			_ = os.Remove(dir) // this fails if the directory is not empty
		}
		progressfile.Unlock(f)
		_ = f.Close()
	}, nil
}
