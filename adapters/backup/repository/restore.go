package repository

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"filippo.io/age"
	"golang.org/x/sync/errgroup"

	"edgetable/adapters/backup/repository/target"
	"edgetable/core/objects"
)

// Restore writes the files of a backup to a new or empty directory, and removes them after an error.
//
// If the process is killed, the next Restore of the same backup continues. No server opens the unfinished directory,
// because the files marker.* are written last.
func (r *Repository) Restore(ctx context.Context, m *Manifest, dir string, with []age.Identity, progress func(done, total int64)) (err error) {
	if len(m.Recipients) > 0 && len(with) == 0 {
		return fmt.Errorf("backup %s is encrypted: name the file with the private key with --identity", m.ID)
	}
	files := make([]target.File, len(m.Files))
	for i, f := range m.Files {
		files[i] = target.File{Name: f.Name, Size: f.Size, Modified: f.Modified}
	}
	to, err := target.Open(dir, m.ID, files)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.End(err == nil)) }()
	if len(m.Recipients) == 0 {
		with = nil
	}
	w := &writer{objects: r.objects, to: to, with: with, total: m.Size(), progress: progress}
	for _, last := range []bool{false, true} {
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(concurrency)
		for i, f := range files {
			switch {
			case target.IsMarker(f.Name) != last:
			case to.Has(f):
				w.add(f.Size)
			default:
				w.file(ctx, g, f, m.Files[i].Parts)
			}
		}
		if err := g.Wait(); err != nil {
			return err
		}
		if err := to.Sync(); err != nil {
			return err
		}
	}
	return nil
}

type writer struct {
	objects  objects.Place
	to       *target.Directory
	with     []age.Identity
	progress func(done, total int64)

	mu          sync.Mutex
	done, total int64
}

// file adds to the group g the tasks that restore one file. The task that writes the last part makes the file durable;
// a resumed restore then keeps the file.
func (w *writer) file(ctx context.Context, g *errgroup.Group, f target.File, parts []Part) {
	var left atomic.Int64
	left.Store(int64(len(parts)))
	if len(parts) == 0 {
		g.Go(func() error {
			if err := w.to.Write(f.Name, nil, 0); err != nil {
				return err
			}
			return w.to.Finish(f)
		})
	}
	for i, p := range parts {
		g.Go(func() error {
			size := min(partSize, f.Size-int64(i)*partSize)
			b, err := readPart(ctx, w.objects, p, size, w.with)
			if err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
			if err := w.to.Write(f.Name, b, int64(i)*partSize); err != nil {
				return err
			}
			w.add(size)
			if left.Add(-1) > 0 {
				return nil
			}
			return w.to.Finish(f)
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
