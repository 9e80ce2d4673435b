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
	"time"

	"filippo.io/age"
	"golang.org/x/sync/errgroup"

	"edgetable/core/objects"
)

// Restore writes the files of a backup to a new directory, or to an empty one, and
// verifies each object that it reads. After an error nothing is left there. A
// process that is killed leaves a directory that no server opens, because the files
// named marker.* are written last.
func (r *Repository) Restore(ctx context.Context, m *Manifest, dir string, with []age.Identity, progress func(done, total int64)) (err error) {
	if len(m.Recipients) > 0 && len(with) == 0 {
		return fmt.Errorf("backup %s is encrypted: name the file with the private key by --identity", m.ID)
	}
	made, err := newDir(dir)
	if err != nil {
		return err
	}
	defer func() {
		if err == nil {
			return
		}
		for _, f := range m.Files {
			_ = os.Remove(filepath.Join(dir, f.Name)) // it may not be there
		}
		if made {
			_ = os.Remove(dir)
		}
	}()
	if len(m.Recipients) == 0 {
		with = nil
	}
	w := &writer{objects: r.objects, dir: dir, with: with, total: m.Size(), progress: progress}
	for _, last := range []bool{false, true} {
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(concurrency)
		for _, f := range m.Files {
			if strings.HasPrefix(f.Name, "marker.") == last {
				w.file(ctx, g, f)
			}
		}
		if err := g.Wait(); err != nil {
			return err
		}
		for _, f := range m.Files {
			if strings.HasPrefix(f.Name, "marker.") == last {
				if err := w.finish(f); err != nil {
					return err
				}
			}
		}
		if err := syncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// newDir makes a directory, or checks that it is empty.
func newDir(dir string) (made bool, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		dir, err := filepath.Abs(dir)
		if err != nil {
			return false, err
		}
		return true, makeDir(dir)
	}
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		if e.Name() != "lost+found" { // of the file system
			return false, fmt.Errorf("%s is not empty: it holds %s; restore to a new directory", dir, e.Name())
		}
	}
	return false, nil
}

// writer writes the files of a backup.
type writer struct {
	objects  objects.Place
	dir      string
	with     []age.Identity
	progress func(done, total int64)

	mu          sync.Mutex
	done, total int64
}

// file adds the work for a file to a group.
func (w *writer) file(ctx context.Context, g *errgroup.Group, f File) {
	path := filepath.Join(w.dir, f.Name)
	g.Go(func() error {
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		return file.Close()
	})
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
			w.mu.Lock()
			defer w.mu.Unlock()
			w.done += size
			w.progress(w.done, w.total)
			return nil
		})
	}
}

// finish makes a file durable. Its time is that of the original, so that the next
// backup knows it.
func (w *writer) finish(f File) error {
	path := filepath.Join(w.dir, f.Name)
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return err
	}
	at := time.Unix(0, f.Modified)
	return os.Chtimes(path, at, at)
}

// readPart reads an object, verifies it, and decrypts it if there are identities. The
// result must have size bytes, unless size is negative.
func readPart(ctx context.Context, place objects.Place, p Part, size int64, with []age.Identity) ([]byte, error) {
	b, err := place.Get(ctx, dataDir+p.Object)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s%s is missing", dataDir, p.Object)
	}
	if err != nil {
		return nil, err
	}
	if !intact(p.Object, b) {
		return nil, fmt.Errorf("%s%s is damaged: its checksum is wrong", dataDir, p.Object)
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

// makeDir makes a directory and its parents durable.
func makeDir(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := makeDir(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(filepath.Dir(dir))
}
