package repository

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"filippo.io/age"
	"golang.org/x/sync/errgroup"

	"edgetable/adapters/backup/repository/encryption"
	"edgetable/adapters/backup/repository/internal/seal"
)

// Report is the result of [Repository.Verify].
type Report struct {
	Backups int
	Objects int   // number of different objects that were read
	Bytes   int64 // total size in bytes of the objects that were read
	// Locked is the number of objects that are encrypted for keys that were not given. The checksums of these objects are correct.
	Locked int
	// Problems are sentences about damaged and missing objects.
	Problems []string
}

// Verify reads the objects that the backups need, each only once. It compares checksums. If identities are given, it also decrypts the objects.
func (r *Repository) Verify(ctx context.Context, backups []*Manifest, with []age.Identity, progress func(done, total int64)) (*Report, error) {
	type need struct {
		Part
		size      int64 // size of the part after decryption; negative if unknown
		encrypted bool
		backups   []string
		files     []string
	}
	needs := map[string]*need{}
	var total int64
	for _, m := range backups {
		for _, f := range m.Files {
			for i, p := range f.Parts {
				n := needs[p.Object]
				if n == nil {
					n = &need{Part: p, size: min(partSize, f.Size-int64(i)*partSize), encrypted: len(m.Recipients) > 0}
					needs[p.Object] = n
					total += p.Size
				}
				if !slices.Contains(n.backups, m.ID) {
					n.backups = append(n.backups, m.ID)
				}
				if !slices.Contains(n.files, f.Name) {
					n.files = append(n.files, f.Name)
				}
			}
		}
	}
	report := &Report{Backups: len(backups)}
	var mu sync.Mutex
	var done int64
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(concurrency)
	for _, n := range needs {
		g.Go(func() error {
			keys, size := with, n.size
			if !n.encrypted {
				keys = nil
			} else if len(with) == 0 {
				size = -1
			}
			b, err := readPart(ctx, r.objects, n.Part, size, keys)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if errors.Is(err, fs.ErrPermission) { // this is not damage, because another user may be able to read the object
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if encryption.IsLocked(err) {
				report.Locked++
				b, err = []byte{}, nil // the object was read completely
			}
			if errors.Is(err, seal.ErrSum) {
				err = fmt.Errorf("%w (delete it, and the next backup stores its content again)", err)
			}
			if err != nil {
				report.Problems = append(report.Problems, fmt.Sprintf("%v; it is a part of %s in %s", err, joinFirst(n.files), joinFirst(n.backups)))
			}
			if b != nil {
				report.Objects++
				report.Bytes += n.Part.Size
			}
			done += n.Part.Size
			progress(done, total)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	slices.Sort(report.Problems)
	return report, nil
}

// joinFirst returns the first strings of a list, and the number of omitted strings, as a text.
func joinFirst(list []string) string {
	const most = 3
	if len(list) <= most {
		return fmt.Sprintf("%q", list)
	}
	return fmt.Sprintf("%q and %d more", list[:most], len(list)-most)
}
