package transfer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"edgetable/core/table"
	"edgetable/functions/edgetable/transfer/export"
	"edgetable/functions/edgetable/transfer/rows"
)

// maxObject is the maximum size of an object to import. The import reads the whole object into memory.
const maxObject = 256 << 20

// PlaceSources returns the files of an export in a bucket.
func PlaceSources(ctx context.Context, b export.Place, tableName string) ([]Source, error) {
	m, err := export.ReadManifest(ctx, b)
	if err != nil {
		return nil, err
	}
	if m == nil {
		switch there, err := b.Unfinished(ctx); {
		case err != nil:
			return nil, err
		case there:
			return nil, fmt.Errorf("%s contains an unfinished export: finish it with the same command first", b.Location)
		}
		return nil, fmt.Errorf("%s has no %s: name the directory or bucket that an export wrote to", b.Location, export.ManifestName)
	}
	tables, err := chosen(m, b.Location, tableName)
	if err != nil {
		return nil, err
	}
	var list []Source
	for _, t := range tables {
		name := cmp.Or(tableName, t.Name)
		if err := table.CheckTableName(name); err != nil {
			return nil, fmt.Errorf("%s: %q is not a table name: use 3 to 63 letters and digits, a letter first", b.Location, name)
		}
		for _, p := range t.Files {
			if p.Bytes > maxObject {
				return nil, fmt.Errorf("%s is larger than 256 MiB: download the export and import the directory", p.File)
			}
			list = append(list, Source{
				Table: name, File: rows.File{Path: b.At(p.File), Size: p.Bytes},
				contents: contents{exported: m.InKeyOrder(), fetch: func() ([]byte, error) { return b.GetFile(ctx, &p) }},
			})
		}
	}
	return list, nil
}

// chosen returns the tables of an export to import. In an export of several tables, tableName selects one of them. It
// is then an error if the export has no table with this name, because the table would get the rows of all tables.
func chosen(m *export.Manifest, location, tableName string) ([]export.ManifestTable, error) {
	tables := m.Tables
	isMissing := slices.ContainsFunc(m.Missing, func(name string) bool { return strings.EqualFold(name, tableName) })
	if tableName == "" || len(tables) < 2 && !isMissing {
		return tables, nil
	}
	names := make([]string, len(tables))
	for i, t := range tables {
		if names[i] = t.Name; strings.EqualFold(t.Name, tableName) {
			return tables[i : i+1], nil
		}
	}
	return nil, fmt.Errorf("%s is an export of the tables %s: --table can name one of them", location, strings.Join(names, ", "))
}
