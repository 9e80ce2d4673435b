package repository

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// rereadEvery is how often backups read each object again that they use of earlier ones: a disk may have damaged it since.
// The time of an object in this period comes from its name, so that each backup reads an equal share.
const rereadEvery = 30 * 24 * time.Hour

// due reports whether the time of an object came after one moment and until another one.
func due(object string, after, until time.Time) bool {
	var sum [4]byte
	_, _ = hex.Decode(sum[:], []byte(object[:2*len(sum)])) // [Manifest.check] has seen that it is hexadecimal
	phase := time.Duration(binary.BigEndian.Uint32(sum[:])) * (rereadEvery >> 32)
	last := until.Add(-phase).Truncate(rereadEvery).Add(phase)
	return last.After(after)
}

// reread reads the objects again that files of a backup are to use, and whose time came since the last one. It forgets those
// that are damaged, so that their content is stored again, and returns them.
func (k *known) reread(ctx context.Context, r *Repository, files []File) (damaged []string, err error) {
	list := map[string]Part{}
	for _, f := range files {
		for _, p := range k.files[file{f.Name, f.Size, f.Modified}] {
			if due(p.Object, k.after, k.until) {
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

// forget lets no file use an object.
func (k *known) forget(p Part) {
	delete(k.sums, sumOf(p.Object))
	for f, parts := range k.files {
		if slices.Contains(parts, p) {
			delete(k.files, f)
		}
	}
}
