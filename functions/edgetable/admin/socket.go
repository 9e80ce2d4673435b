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

// Socket returns the path of a server's administration socket.
func Socket(data, admin string) string { return cmp.Or(admin, filepath.Join(data, cli.AdminSocket)) }

// Listen listens on the socket at path. It creates the socket in a private directory, sets its mode, and then moves it
// to path, so that other users can never open it.
func Listen(path string) (net.Listener, error) {
	if err := clearSocket(path); err != nil {
		return nil, err
	}
	dir := path + "~"
	if err := os.RemoveAll(dir); err != nil { // a killed server may have left this directory
		return nil, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Dir(path), errors.Unwrap(err)) // omit the temporary path, which would mean nothing to the user
	}
	defer os.RemoveAll(dir)
	hidden := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: hidden, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("%w (a socket's path may have about 100 bytes: set a shorter path with --admin)", err)
	}
	l.SetUnlinkOnClose(false) // the socket is renamed below, so Close must not unlink the old name
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

type adminListener struct {
	net.Listener
	path string
}

func (l adminListener) Close() error { return errors.Join(l.Listener.Close(), os.Remove(l.path)) }
