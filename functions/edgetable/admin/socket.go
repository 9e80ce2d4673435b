package admin

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"edgetable/functions/edgetable/cli"
)

// Socket returns the path of a server's socket.
func Socket(data, admin string) string { return cmp.Or(admin, filepath.Join(data, cli.AdminSocket)) }

// Listen listens on a socket that no other user can open at any moment: the socket gets its mode in a directory that
// is closed to others.
func Listen(path string) (net.Listener, error) {
	if err := clearSocket(path); err != nil {
		return nil, err
	}
	dir := path + "~"
	if err := os.RemoveAll(dir); err != nil { // left by a killed server
		return nil, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Dir(path), errors.Unwrap(err)) // the temporary name would not help the reader
	}
	defer os.RemoveAll(dir)
	hidden := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: hidden, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("%w (a path may have about 100 bytes: --admin names another one)", err)
	}
	l.SetUnlinkOnClose(false) // the socket is renamed
	if err = os.Chmod(hidden, 0o600); err == nil {
		err = os.Rename(hidden, path)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return adminListener{l, path}, nil
}

// clearSocket removes the socket of a killed server.
func clearSocket(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return fmt.Errorf("%s exists and is not a socket", path)
	}
	if c, err := net.Dial("unix", path); err == nil {
		_ = c.Close()
		return fmt.Errorf("%s is the socket of another server", path)
	}
	return os.Remove(path)
}

// adminListener removes its socket when it is closed.
type adminListener struct {
	net.Listener
	path string
}

func (l adminListener) Close() error { return errors.Join(l.Listener.Close(), os.Remove(l.path)) }
