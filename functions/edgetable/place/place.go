package place

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"edgetable/adapters/objects/directory"
	"edgetable/adapters/objects/s3"
	"edgetable/core/objects"
	"edgetable/functions/edgetable/cli"
)

// Open opens the place of backups: a URL, or a directory, which need not exist.
func Open(ctx context.Context, location string) (objects.Place, error) {
	switch {
	case location == "":
		return nil, cli.Misuse("the place for backups is empty")
	case strings.HasPrefix(location, "s3://"):
		b, err := s3.Open(ctx, location)
		if err != nil { // not a nil *Bucket in an interface
			return nil, cli.Misuse("%v", err)
		}
		return b, nil
	case strings.Contains(location, "://"):
		return nil, cli.Misuse("%s: write a directory, or a bucket of S3 as s3://BUCKET/PREFIX", location)
	}
	dir, err := filepath.Abs(location)
	if err != nil {
		return nil, err
	}
	return directory.Place{Dir: dir}, nil
}

// Apart refuses a place inside the data directory, where one accident takes both.
func Apart(place objects.Place, data string) error {
	dir, ok := place.(directory.Place)
	if !ok {
		return nil
	}
	inside, err := os.Stat(data)
	if err != nil {
		return err
	}
	path := dir.Dir
	for {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			path = real
		}
		if info, err := os.Stat(path); err == nil && os.SameFile(info, inside) {
			return fmt.Errorf("%s is inside the data directory %s; choose a place elsewhere, best on another machine", dir.Dir, data)
		}
		parent := filepath.Dir(path)
		if parent == path {
			return nil
		}
		path = parent
	}
}
