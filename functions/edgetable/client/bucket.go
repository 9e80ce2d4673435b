package client

import (
	"context"
	"strings"

	"edgetable/functions/edgetable/place"
	"edgetable/functions/edgetable/transfer"
)

// isBucket reports whether a place is in a bucket of S3.
func isBucket(location string) bool { return strings.HasPrefix(location, "s3://") }

func openBucket(ctx context.Context, location string) (transfer.Bucket, error) {
	objects, err := place.Open(ctx, location)
	return transfer.Bucket{Place: objects, Location: location}, err
}

// exportPlace is where an export goes: a directory or a bucket.
func exportPlace(ctx context.Context, location string) (transfer.Place, error) {
	if !isBucket(location) {
		return transfer.Directory(location), nil
	}
	return openBucket(ctx, location)
}

// importSources are the files to import, or the objects of an export in a bucket.
func importSources(ctx context.Context, path, table string) ([]transfer.Source, error) {
	if !isBucket(path) {
		return transfer.Sources(path, table)
	}
	b, err := openBucket(ctx, path)
	if err != nil {
		return nil, err
	}
	return b.Sources(ctx, table)
}
