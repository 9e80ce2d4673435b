// Package place opens the location of backups or exports: a directory or a bucket.
package place

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

	"edgetable/adapters/objects/directory"
	"edgetable/adapters/objects/s3"
	"edgetable/core/objects"
	"edgetable/functions/edgetable/cli"
)

// Open opens the directory or the bucket URL at location. The directory may be missing. If the bucket does not respond,
// Open calls note once, unless it is nil.
func Open(ctx context.Context, location string, note func(format string, args ...any)) (objects.Place, error) {
	if err := Check(location); err != nil {
		return nil, err
	}
	if strings.HasPrefix(location, "s3://") {
		b, err := s3.Open(ctx, location)
		if err != nil { // do not return b, because an interface that contains a nil *Bucket is not nil
			return nil, cli.Misuse("%v", err)
		}
		if note != nil {
			var once sync.Once
			b.Retrying = func(cause error, _ time.Duration) {
				once.Do(func() { note("%s does not answer (%s); each request is tried eight times", location, cli.Plain(cause)) })
			}
			b.Silent = func() { once.Do(func() { note("%s does not answer; still waiting", location) }) }
		}
		return b, nil
	}
	dir, err := filepath.Abs(location)
	if err != nil {
		return nil, err
	}
	return directory.Place{Dir: dir}, nil
}

// Check returns an error if location is neither a directory nor the URL of a bucket.
func Check(location string) error {
	switch scheme, _, isURL := strings.Cut(location, "://"); {
	case location == "":
		return cli.Misuse("the name of the location is empty: write a directory, or a bucket of S3 as s3://BUCKET/PREFIX")
	case isURL && scheme != "s3":
		return cli.Misuse("%s: write a directory, or a bucket of S3 as s3://BUCKET/PREFIX", location)
	}
	return nil
}

// CheckOutsideData returns an error if a backup location is inside the data directory, where one accident could destroy
// both the data and its backups.
func CheckOutsideData(place objects.Place, data string) error {
	dir, ok := place.(directory.Place)
	if !ok {
		return nil
	}
	inside, err := os.Stat(data)
	if err != nil {
		return err
	}
	if contains(inside, dir.Dir) {
		return fmt.Errorf("%s is inside the data directory %s; choose a location outside of it, preferably on another machine", dir.Dir, data)
	}
	return nil
}

// CheckOutsidePlace returns an error if path is inside a backup location, because a prune could remove files there.
func CheckOutsidePlace(place objects.Place, path string) error {
	dir, ok := place.(directory.Place)
	if !ok {
		return nil
	}
	info, err := os.Stat(dir.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err == nil && contains(info, path) {
		err = fmt.Errorf("%s is inside the backup location %s; choose a directory outside of it", path, dir.Dir)
	}
	return err
}

// contains reports whether path, which need not exist, is dir or inside it.
func contains(dir fs.FileInfo, path string) bool {
	for {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			path = real
		}
		if info, err := os.Stat(path); err == nil && os.SameFile(info, dir) {
			return true
		}
		parent := filepath.Dir(path)
		if parent == path {
			return false
		}
		path = parent
	}
}
