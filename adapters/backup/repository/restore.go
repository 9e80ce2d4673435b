package repository

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"filippo.io/age"
	"golang.org/x/sync/errgroup"

	"edgetable/core/objects"
)

// Restore writes the files of a backup to a new directory, or to an empty one. It verifies each object that it reads.
// After an error, Restore removes the files that it wrote. If the process is killed, the directory remains. No server
// opens this directory, because the files named marker.* are written last. The next Restore of the same backup
// continues in this directory.
func (r *Repository) Restore(ctx context.Context, m *Manifest, dir string, with []age.Identity, progress func(done, total int64)) (err error) {
	if len(m.Recipients) > 0 && len(with) == 0 {
		return fmt.Errorf("backup %s is encrypted: name the file with the private key with --identity", m.ID)
	}
	to, err := openTarget(dir, m)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.end(err == nil)) }()
	if len(m.Recipients) == 0 {
		with = nil
	}
	w := &writer{objects: r.objects, dir: dir, with: with, total: m.Size(), progress: progress}
	for _, last := range []bool{false, true} {
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(concurrency)
		for _, f := range m.Files {
			switch {
			case strings.HasPrefix(f.Name, "marker.") != last:
			case to.has(f):
				w.add(f.Size)
			default:
				w.file(ctx, g, f)
			}
		}
		if err := g.Wait(); err != nil {
			return err
		}
		if err := syncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

type writer struct {
	objects  objects.Place
	dir      string
	with     []age.Identity
	progress func(done, total int64)

	mu          sync.Mutex
	done, total int64
}

// file adds tasks to the group g. The tasks restore one file. After the last part, they make the file durable, so
// that a resumed restore regards the file as complete.
func (w *writer) file(ctx context.Context, g *errgroup.Group, f File) {
	path := filepath.Join(w.dir, f.Name)
	var left atomic.Int64
	left.Store(int64(len(f.Parts)))
	if len(f.Parts) == 0 {
		g.Go(func() error {
			file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
			if err != nil {
				return err
			}
			return errors.Join(file.Close(), w.finish(f))
		})
	}
	for i, p := range f.Parts {
		g.Go(func() error {
			size := min(partSize, f.Size-int64(i)*partSize)
			b, err := readPart(ctx, w.objects, p, size, w.with)
			if err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
			file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
			if err != nil {
				return err
			}
			_, err = file.WriteAt(b, int64(i)*partSize)
			if err := errors.Join(err, file.Close()); err != nil {
				return err
			}
			w.add(size)
			if left.Add(-1) > 0 {
				return nil
			}
			return w.finish(f)
		})
	}
}

// add adds a number of restored bytes to the progress and reports the progress.
func (w *writer) add(size int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done += size
	w.progress(w.done, w.total)
}

// finish makes a file durable, and then sets its modification time to that of the original file. The next backup and
// a resumed restore recognize the file by this time.
func (w *writer) finish(f File) error {
	path := filepath.Join(w.dir, f.Name)
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	// a killed restore may have left a longer file
	if err := errors.Join(file.Truncate(f.Size), file.Sync(), file.Close()); err != nil {
		return err
	}
	at := time.Unix(0, f.Modified)
	return os.Chtimes(path, at, at)
}

var errSum = errors.New("its checksum is wrong")

// readPart reads and verifies an object, and decrypts it if identities are given. The result must have size bytes,
// unless size is negative.
func readPart(ctx context.Context, place objects.Place, p Part, size int64, with []age.Identity) ([]byte, error) {
	b, err := place.Get(ctx, dataDir+p.Object)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s%s is missing", dataDir, p.Object)
	}
	if err != nil {
		return nil, err
	}
	if !intact(p.Object, b) {
		return nil, fmt.Errorf("%s%s is damaged: %w", dataDir, p.Object, errSum)
	}
	if len(with) > 0 {
		if b, err = decrypt(b, with); err != nil {
			return nil, fmt.Errorf("%s%s cannot be decrypted: %w", dataDir, p.Object, err)
		}
	}
	if size >= 0 && int64(len(b)) != size {
		return nil, fmt.Errorf("%s%s has %d bytes instead of %d", dataDir, p.Object, len(b), size)
	}
	return b, nil
}
