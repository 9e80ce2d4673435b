package transfer

import (
	"cmp"
	"context"
	"fmt"

	"edgetable/core/table"
)

// maxObject is the largest object that is imported: it is read into memory.
const maxObject = 256 << 20

// Sources finds the files to import in a bucket: those of its manifest.
func (b Place) Sources(ctx context.Context, tableName string) ([]Source, error) {
	m, err := readManifest(ctx, b)
	if err != nil {
		return nil, err
	}
	if m == nil {
		switch there, err := b.getJSON(ctx, begunName, new(begun)); {
		case err != nil:
			return nil, err
		case there:
			return nil, fmt.Errorf("%s has an export that is not finished: finish it with the same command first", b.Location)
		}
		return nil, fmt.Errorf("%s has no %s: name the place that an export wrote to", b.Location, ManifestName)
	}
	var list []Source
	for _, t := range m.Tables {
		name := cmp.Or(tableName, t.Name)
		if err := table.CheckTableName(name); err != nil {
			return nil, fmt.Errorf("%s: %q is no name of a table: 3 to 63 letters and digits, a letter first", b.Location, name)
		}
		for _, p := range t.Parts {
			if p.Bytes > maxObject {
				return nil, fmt.Errorf("%s is larger than 256 MiB: download the export and import the directory", p.File)
			}
			list = append(list, Source{
				Table: name, File: b.at(p.File), Size: p.Bytes, exported: true,
				fetch: func() ([]byte, error) { return b.getFile(ctx, &p) },
			})
		}
	}
	return list, nil
}
