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

// Socket is the path of a server's socket.
func Socket(data, admin string) string { return cmp.Or(admin, filepath.Join(data, cli.AdminSocket)) }

// Listen listens on a socket that no other user can open at any moment: it gets
// its mode in a directory that is closed to others.
func Listen(path string) (net.Listener, error) {
	if err := clearSocket(path); err != nil {
		return nil, err
	}
	dir := path + "~"
	if err := os.RemoveAll(dir); err != nil { // of a server that was killed
		return nil, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Dir(path), errors.Unwrap(err)) // its own name says nothing to others
	}
	defer os.RemoveAll(dir)
	hidden := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: hidden, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("%w (a path may have about 100 bytes: --admin names another one)", err)
	}
	l.SetUnlinkOnClose(false) // it moves
	if err = os.Chmod(hidden, 0o600); err == nil {
		err = os.Rename(hidden, path)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return adminListener{l, path}, nil
}

// clearSocket removes the socket of a server that was killed.
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

// adminListener removes its socket.
type adminListener struct {
	net.Listener
	path string
}

func (l adminListener) Close() error { return errors.Join(l.Listener.Close(), os.Remove(l.path)) }
