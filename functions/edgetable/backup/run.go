package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/backup/repository"
	"edgetable/adapters/objects/directory"
	"edgetable/adapters/store/pebblestore"
	"edgetable/adapters/store/pebblestore/offline"
	"edgetable/core/objects"
	"edgetable/functions/edgetable/admin"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/place"
	"edgetable/functions/edgetable/stores"
)

// Files of backups in the data directory.
const (
	LockFile       = "backup.lock"       // the process that makes a backup locks this file
	Staging        = "backup.staging"    // directory with the checkpoint that is being uploaded
	UnfinishedFile = "backup.unfinished" // list of backups that were begun but not completed, with their names and locations
)

// snapshotter is a store that can be backed up: a store that this process has opened, or the store of a running server.
type snapshotter interface {
	Identity() (string, error)
	Checkpoint(ctx context.Context, dir string) (*repository.LogSpan, error)
}

// run makes a backup of a data directory.
type run struct {
	data, location string
	place          objects.Place
	store          snapshotter
	keys           []string
	progress       func(done, total int64)
	spanned        func(*repository.LogSpan) // function that is called with the span of the backup, or nil
}

// create makes the backup. It holds a lock, so that only one process at a time backs up a data directory.
func (b *run) create(ctx context.Context) (m *repository.Manifest, err error) {
	if b.data, err = filepath.Abs(b.data); err != nil {
		return nil, err
	}
	if err := place.CheckOutsideData(b.place, b.data); err != nil {
		return nil, err
	}
	lock, err := LockBackups(b.data)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	store, err := b.store.Identity()
	if err != nil {
		return nil, err
	}
	begun, err := b.readUnfinished()
	if err != nil {
		return nil, err
	}
	staging := filepath.Join(b.data, Staging)
	defer func() { err = errors.Join(err, os.RemoveAll(staging)) }()
	m, err = repository.New(b.place).Create(ctx, repository.Source{
		Store: store, From: sourceName(b.data), Program: cli.Version(), Keys: b.keys,
		Snapshot: func(ctx context.Context) (string, *repository.LogSpan, error) {
			log, err := b.store.Checkpoint(ctx, staging)
			if err == nil && b.spanned != nil {
				b.spanned(log)
			}
			return staging, log, err
		},
		Check:       offline.CheckFile,
		Interrupted: begun.here,
		Begin: func(id string) error {
			begun.here = append(begun.here, id)
			return b.writeUnfinished(begun)
		},
		Progress: b.progress, Now: time.Now,
	})
	if errors.Is(err, pebblestore.ErrDamaged) { // a retry would find the same damaged file and could never succeed
		err = errors.Join(err, repository.New(b.place).Abandon(ctx, begun.here...))
		begun.here = nil
		err = errors.Join(err, b.writeUnfinished(begun))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.location, err)
	}
	begun.here = nil
	// Hold the lock until the next millisecond: a backup is named after its time in milliseconds, and the next backup
	// must get a higher name.
	_ = cli.Sleep(ctx, time.Millisecond)
	return m, b.writeUnfinished(begun)
}

// unfinished is the list of a data directory's backups that were begun but not completed.
type unfinished struct {
	here  []string // ids of unfinished backups in the backup location of this run
	other []string // lines about backups in other locations; they are kept unchanged
}

// LockBackups prevents other processes from backing up a data directory. The lock file belongs to the owner of the
// directory, even if root makes the first backup.
func LockBackups(data string) (io.Closer, error) {
	path := filepath.Join(data, LockFile)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = errors.Join(directory.KeepOwner(f, data), f.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	lock, err := vfs.Default.Lock(path)
	if errors.As(err, new(*fs.PathError)) {
		return nil, fmt.Errorf("%w; make backups as the user of the server, and let that user write this file", err)
	}
	if err != nil {
		return nil, fmt.Errorf("another backup of %s is running (%w)", data, err)
	}
	return lock, nil
}

// clearStaging removes the checkpoint of a backup whose process was killed. Its hard links would keep deleted data
// files of the store on the disk.
func clearStaging(data string) error {
	staging := filepath.Join(data, Staging)
	if _, err := os.Lstat(staging); err != nil {
		return nil
	}
	lock, err := LockBackups(data)
	if err != nil {
		return err
	}
	defer lock.Close()
	return os.RemoveAll(staging)
}

func (b *run) readUnfinished() (u unfinished, err error) {
	text, err := os.ReadFile(filepath.Join(b.data, UnfinishedFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return u, err
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if id, location, _ := strings.Cut(line, " "); location == b.location {
			u.here = append(u.here, id)
		} else {
			u.other = append(u.other, line)
		}
	}
	return u, nil
}

func (b *run) writeUnfinished(u unfinished) error {
	var text bytes.Buffer
	for _, line := range u.other {
		fmt.Fprintln(&text, line)
	}
	for _, id := range slices.Compact(u.here) {
		fmt.Fprintln(&text, id, b.location)
	}
	return directory.Replace(filepath.Join(b.data, UnfinishedFile), text.Bytes(), 0o600)
}

// sourceName returns the host name and the path of a data directory, for messages.
func sourceName(data string) string {
	host, _ := os.Hostname() // ignore the error, because the name is only for messages
	return host + ":" + data
}

// openForBackup opens the store of a data directory, or connects to the server that uses it.
func openForBackup(data, socket string) (s snapshotter, end func(), err error) {
	// Check first, because opening a directory without a store would create one.
	if manifests, err := fs.Glob(os.DirFS(data), "MANIFEST-*"); err != nil || len(manifests) == 0 {
		return nil, nil, fmt.Errorf("%s contains no data of the embedded store; databases have their own backups: for PostgreSQL see docs/postgres.md", data)
	}
	store, err := pebblestore.Open(pebblestore.Options{Dir: data, DiskReserve: -1, KeepLogs: -1})
	if errors.Is(err, pebblestore.ErrInUse) {
		return admin.Reach(data, socket), func() {}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return &stores.Checkpoints{Store: store}, func() { _ = store.Close() }, nil
}
