package client

import (
	"context"
	"strings"

	"edgetable/adapters/objects/directory"
	"edgetable/functions/edgetable/place"
	"edgetable/functions/edgetable/transfer"
)

// isBucket reports whether a place is in a bucket of S3.
func isBucket(location string) bool { return strings.HasPrefix(location, "s3://") }

// exportPlace is where an export goes: a directory or a bucket. Release comes after the work.
func exportPlace(ctx context.Context, location string) (to transfer.Place, release func(), err error) {
	if isBucket(location) {
		objects, err := place.Open(ctx, location)
		return transfer.Place{Place: objects, Location: location}, func() {}, err
	}
	release, err = transfer.Hold(location)
	return transfer.Place{Place: directory.Place{Dir: location}, Location: location}, release, err
}

// importSources are the files to import, or the objects of an export in a bucket.
func importSources(ctx context.Context, path, table string) ([]transfer.Source, error) {
	if !isBucket(path) {
		return transfer.Sources(path, table)
	}
	b, _, err := exportPlace(ctx, path)
	if err != nil {
		return nil, err
	}
	return b.Sources(ctx, table)
}
