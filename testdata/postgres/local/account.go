package local

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is the user that runs the servers if this process runs as root, because PostgreSQL refuses to run as root.
// A nil account means the current user.
type account struct {
	name     string
	uid, gid uint32
}

// other returns the operating system's account that must run the servers. It returns nil if the current user can run
// them; PostgreSQL refuses to run as root.
func other() (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			uid, e1 := strconv.ParseUint(u.Uid, 10, 32)
			gid, e2 := strconv.ParseUint(u.Gid, 10, 32)
			return &account{name, uint32(uid), uint32(gid)}, errors.Join(e1, e2)
		}
	}
	return nil, errors.New("PostgreSQL refuses root, and there is neither a user postgres nor nobody")
}

func (a *account) credential() *syscall.Credential {
	if a == nil {
		return nil
	}
	return &syscall.Credential{Uid: a.uid, Gid: a.gid}
}

// own makes the account the owner of a directory. It fails if the account cannot enter the parent directory.
func (a *account) own(dir string) error {
	if a == nil {
		return nil
	}
	if err := a.enters(filepath.Dir(dir)); err != nil {
		return err
	}
	return os.Chown(dir, int(a.uid), int(a.gid))
}

// enters returns an error if the account cannot enter a directory on the path to dir. The error names the first such
// directory.
func (a *account) enters(dir string) error {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := a.enters(parent); err != nil {
			return err
		}
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	may := info.Mode().Perm()
	if s, ok := info.Sys().(*syscall.Stat_t); ok && s.Uid == a.uid {
		may >>= 6
	} else if ok && s.Gid == a.gid {
		may >>= 3
	}
	if may&1 == 0 {
		return fmt.Errorf("PostgreSQL runs as the user %s, who cannot enter %s (%v): choose another directory, or run 'chmod o+x %[2]s'", a.name, dir, info.Mode())
	}
	return nil
}

// Folder makes a directory that the servers can use. It is in the directory for temporary files; if the account
// cannot enter that directory, it is in /tmp or /var/tmp. The caller removes it.
func Folder() (string, error) {
	a, err := other()
	if err != nil {
		return "", err
	}
	return folder(a, "edgetable-pg-")
}

func folder(a *account, prefix string) (string, error) {
	if a == nil {
		return os.MkdirTemp("", prefix)
	}
	var all []error
	for _, above := range []string{os.TempDir(), "/tmp", "/var/tmp"} {
		if err := a.enters(above); err != nil {
			all = append(all, err)
			continue
		}
		dir, err := os.MkdirTemp(above, prefix)
		if err != nil {
			return "", err
		}
		return dir, os.Chown(dir, int(a.uid), int(a.gid))
	}
	return "", fmt.Errorf("set TMPDIR to a directory that everybody may enter: %w", errors.Join(all...))
}
