package repository

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
)

// reread verifies stored objects that are due and that the given files would reuse. It forgets damaged objects, and
// returns a message for each.
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
				k.remove(p)
			}
			return gctx.Err()
		})
	}
	return damaged, g.Wait()
}

// remove removes an object from the known parts, so that no file reuses the object.
func (k *knownParts) remove(p Part) {
	delete(k.sums, sumOf(p.Object))
	for f, parts := range k.files {
		if slices.Contains(parts, p) {
			delete(k.files, f)
		}
	}
}
