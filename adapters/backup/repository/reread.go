package repository

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
)

// reread checks stored objects for damage by the disk: it reads the objects again. It checks only objects that the given files of a new
// backup would reuse. Of these, it checks the objects whose time for a check has come. If an object is damaged, reread removes the
// object from the known parts, so that the backup stores the content again. It returns messages that name the damaged objects.
func (k *knownParts) reread(ctx context.Context, r *Repository, files []File) (damaged []string, err error) {
	list := map[string]Part{}
	for _, f := range files {
		for _, p := range k.files[file{f.Name, f.Size, f.Modified}] {
			if isDue(p.Object, k.after, k.until) {
				list[p.Object] = p
			}
		}
	}
	var mu sync.Mutex
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(concurrency)
	for _, p := range list {
		g.Go(func() error {
			if _, err := readPart(gctx, r.objects, p, -1, nil); err != nil && gctx.Err() == nil {
				mu.Lock()
				defer mu.Unlock()
				damaged = append(damaged, err.Error())
				k.forget(p)
			}
			return gctx.Err()
		})
	}
	return damaged, g.Wait()
}

// forget removes an object from the known parts, so that no file reuses the object.
func (k *knownParts) forget(p Part) {
	delete(k.sums, sumOf(p.Object))
	for f, parts := range k.files {
		if slices.Contains(parts, p) {
			delete(k.files, f)
		}
	}
}
