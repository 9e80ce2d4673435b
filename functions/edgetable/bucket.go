package main

import (
	"context"
	"strings"

	"edgetable/adapters/backup/repository"
	"edgetable/functions/edgetable/remote"
	"edgetable/functions/edgetable/transfer"
)

// isBucket reports whether a place is in a bucket of S3.
func isBucket(location string) bool { return strings.HasPrefix(location, "s3://") }

// exportTo is where an export goes: a directory, or objects in a bucket.
type exportTo struct {
	dir     string
	objects repository.Objects // nil for a directory
}

func (p *program) exportPlace(ctx context.Context, o *exportFlags) (exportTo, error) {
	if !isBucket(o.to) {
		return exportTo{dir: o.to}, nil
	}
	objects, err := openPlace(ctx, o.to)
	return exportTo{objects: objects}, err
}

// begun returns the tables of the export there that is not finished.
func (to exportTo) begun(ctx context.Context) ([]string, error) {
	if to.objects == nil {
		return transfer.Begun(to.dir), nil
	}
	return transfer.BegunObjects(ctx, to.objects)
}

// remove removes an export of these tables.
func (to exportTo) remove(ctx context.Context, tables []string) error {
	if to.objects == nil {
		return transfer.Remove(to.dir, tables)
	}
	return transfer.RemoveObjects(ctx, to.objects, tables)
}

func (to exportTo) write(ctx context.Context, c *remote.Client, e *transfer.Export) (*transfer.Manifest, error) {
	if to.objects == nil {
		return e.ToDirectory(ctx, c, to.dir)
	}
	return e.ToObjects(ctx, c, to.objects)
}

// importSources are the files to import, or the objects of an export in a bucket.
func importSources(ctx context.Context, path, table string) ([]transfer.Source, error) {
	if !isBucket(path) {
		return transfer.Sources(path, table)
	}
	objects, err := openPlace(ctx, path)
	if err != nil {
		return nil, err
	}
	return transfer.SourcesIn(ctx, objects, path, table)
}
