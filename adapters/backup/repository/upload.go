package repository

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"filippo.io/age"
	"golang.org/x/sync/errgroup"

	"edgetable/adapters/backup/repository/encryption"
	"edgetable/core/objects"
)

// concurrency is the number of objects that are read or written concurrently.
const concurrency = 4

// saveAtLeast is the minimum number of bytes between two writes of the unfinished manifest, from which an interrupted
// run can resume.
const saveAtLeast = 64 << 20

// upload stores the files of a snapshot.
type upload struct {
	objects    objects.Place
	manifest   *Manifest
	known      *knownParts
	recipients []age.Recipient
	source     *Source
	dir        string
	save       func(ctx context.Context, dir string, m *Manifest) error

	mu      sync.Mutex
	left    []int // number of parts that are not stored yet, by file
	done    int64 // number of bytes of the files that are stored so far
	total   int64
	unsaved int64
}

type job struct{ file, part int }

func (u *upload) run(ctx context.Context) error {
	m := u.manifest
	u.total = m.Size()
	u.left = make([]int, len(m.Files))
	var jobs []job
	for i := range m.Files {
		f := &m.Files[i]
		n := int((f.Size + partSize - 1) / partSize)
		if parts, ok := u.known.files[file{f.Name, f.Size, f.Modified}]; ok {
			f.Parts = slices.Clone(parts)
			u.done += f.Size
			if err := os.Remove(u.path(i)); err != nil {
				return err
			}
			continue
		}
		f.Parts = make([]Part, n)
		u.left[i] = n
		if n == 0 {
			if err := u.recordStored(ctx, i, 0); err != nil {
				return err
			}
		}
		for part := range n {
			jobs = append(jobs, job{i, part})
		}
	}
	u.source.Progress(u.done, u.total)
	next := make(chan job)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(next)
		for _, j := range jobs {
			select {
			case next <- j:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for range concurrency {
		g.Go(func() error {
			var buffer []byte
			for j := range next {
				size := int(min(partSize, m.Files[j.file].Size-int64(j.part)*partSize))
				buffer = slices.Grow(buffer[:0], size)[:size] // most backups have only small new files
				if err := u.store(ctx, j, buffer); err != nil {
					return fmt.Errorf("%s: %w", m.Files[j.file].Name, err)
				}
			}
			return nil
		})
	}
	return g.Wait()
}

func (u *upload) path(file int) string { return filepath.Join(u.dir, u.manifest.Files[file].Name) }

// store stores a part of a file. It reads the part into b, which has its size.
func (u *upload) store(ctx context.Context, j job, b []byte) error {
	f := &u.manifest.Files[j.file]
	if j.part == 0 {
		if err := u.source.Check(u.path(j.file)); err != nil {
			return err
		}
	}
	if err := readAt(u.path(j.file), b, int64(j.part)*partSize); err != nil {
		return err
	}
	size := int64(len(b))
	var err error
	if len(u.recipients) > 0 {
		if b, err = encryption.Encrypt(b, u.recipients); err != nil {
			return err
		}
	}
	name := objectName(b, u.manifest.ID)
	p, ok := u.known.sums[sumOf(name)]
	var damage error
	if ok && isDue(p.Object, u.known.after, u.known.until) {
		if _, damage = readPart(ctx, u.objects, p, -1, nil); damage != nil {
			ok = false
		}
	}
	if !ok {
		p = Part{name, int64(len(b))}
		if err := u.objects.Put(ctx, dataDir+p.Object, b); err != nil {
			return err
		}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	f.Parts[j.part] = p
	if !ok {
		u.manifest.New += p.Size
	}
	if damage != nil {
		u.manifest.Mended = append(u.manifest.Mended, damage.Error())
	}
	return u.recordStored(ctx, j.file, size)
}

// recordStored records that one part of a file is stored.
func (u *upload) recordStored(ctx context.Context, file int, size int64) error {
	u.left[file]--
	u.done += size
	u.unsaved += size
	u.source.Progress(u.done, u.total)
	if u.left[file] <= 0 {
		if err := os.Remove(u.path(file)); err != nil {
			return err
		}
	}
	if u.unsaved < max(saveAtLeast, u.total/100) {
		return nil
	}
	u.unsaved = 0
	return u.save(ctx, runDir, u.manifest)
}

// readAt fills b from a file, beginning at the given offset. It returns an error if the file is shorter.
func readAt(path string, b []byte, offset int64) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err = f.ReadAt(b, offset); errors.Is(err, io.EOF) {
		return errors.New("the file became shorter")
	}
	return err
}
