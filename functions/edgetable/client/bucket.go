package client

import (
	"context"
	"strings"

	"edgetable/adapters/objects/directory"
	"edgetable/functions/edgetable/place"
	"edgetable/functions/edgetable/transfer"
	"edgetable/functions/edgetable/transfer/export"
)

// isBucket reports whether a location is a URL. place.Open rejects URLs that are not S3 buckets.
func isBucket(location string) bool { return strings.Contains(location, "://") }

// exportPlace opens the directory or bucket of an export. The caller must call release after the export.
func (p *program) exportPlace(ctx context.Context, location string) (to export.Place, release func(), err error) {
	if isBucket(location) {
		objects, err := place.Open(ctx, location, p.Note)
		return export.Place{Place: objects, Location: location}, func() {}, err
	}
	release, err = export.Hold(location)
	return export.Place{Place: directory.Place{Dir: location}, Location: location}, release, err
}

// importSources returns the files, or the objects in a bucket, to import.
func (p *program) importSources(ctx context.Context, path, account, table string) ([]transfer.Source, error) {
	switch {
	case account != "":
		return transfer.AzuriteSources(path, account, table)
	case !isBucket(path):
		return transfer.Sources(path, table)
	}
	b, _, err := p.exportPlace(ctx, path)
	if err != nil {
		return nil, err
	}
	return transfer.PlaceSources(ctx, b, table)
}
