package client

import (
	"context"
	"strings"

	"edgetable/adapters/objects/directory"
	"edgetable/functions/edgetable/place"
	"edgetable/functions/edgetable/transfer"
	"edgetable/functions/edgetable/transfer/export"
)

// isBucket reports whether location is the URL of an S3 bucket. place.Open refuses all other
// URLs.
func isBucket(location string) bool { return strings.Contains(location, "://") }

// exportPlace opens the directory or bucket of an export. After the export, the caller must
// call release.
func (p *program) exportPlace(ctx context.Context, location string) (to export.Place, release func(), err error) {
	if isBucket(location) {
		objects, err := place.Open(ctx, location, p.Note)
		return export.Place{Place: objects, Location: location}, func() {}, err
	}
	release, err = export.Hold(location)
	return export.Place{Place: directory.Place{Dir: location}, Location: location}, release, err
}

// importSources returns the files to import, or the objects of an export in a bucket.
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
