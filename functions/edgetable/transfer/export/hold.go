package export

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"edgetable/functions/edgetable/transfer/progressfile"
)

// Hold locks dir against exports of other processes, and creates it if it does not exist. release unlocks the
// directory, and removes it if Hold created it and it is still empty.
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
			_ = os.Remove(dir) // fails unless the directory is empty
		}
		progressfile.Unlock(f)
		_ = f.Close()
	}, nil
}
