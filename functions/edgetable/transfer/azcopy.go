package transfer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"edgetable/functions/edgetable/transfer/csvfile"
	"edgetable/functions/edgetable/transfer/rows"
)

// AzCopy 7 exports a table to data files and a manifest in one directory:
//
//   - ACCOUNT_TABLE_TIME_RANGE_SPLIT_CRC.json, or .csv in the CSV format
//   - for each CSV file, a .schema.csv file with the column types
//   - ACCOUNT_TABLE_TIME.manifest
//
// The option /Manifest replaces the prefix ACCOUNT_TABLE_TIME in all names.
//
// CRC is a checksum of the entities in the file, and the field Checksum of the manifest covers all files. The algorithm
// is not published, so this package verifies only the number of files. See
// https://github.com/MicrosoftDocs/azure-docs/blob/00a142ac/articles/storage/storage-use-azcopy.md and
// https://github.com/Azure/azure-storage-net-data-movement/issues/129.

const azcopyManifest = ".manifest"

// azcopySays is the part of a manifest that the import uses. Versions before AzCopy 7.3 do not write these fields.
type azcopySays struct {
	TableName      string
	TotalDataFiles int
}

func readAzcopyManifest(manifest string) (says azcopySays, err error) {
	text, err := os.ReadFile(manifest)
	if err == nil && len(text) > 0 {
		err = json.Unmarshal(text, &says)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", manifest, err)
	}
	return says, err
}

// azcopyParts returns the data files of a manifest, which are in the same directory. It fails if the number of files
// differs from TotalDataFiles.
func azcopyParts(manifest, tableName string) (list []Source, err error) {
	says, err := readAzcopyManifest(manifest)
	if err != nil {
		return nil, err
	}
	begin := strings.TrimSuffix(manifest, azcopyManifest) + "_"
	found, err := os.ReadDir(filepath.Dir(manifest)) // os.ReadDir sorts the files by name
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		name := f.Name()
		if strings.HasPrefix(name, filepath.Base(begin)) && azcopyPart.MatchString(name) && !strings.HasSuffix(name, csvfile.SchemaEnding) {
			list = append(list, Source{Table: cmp.Or(tableName, says.TableName, named("", name)), File: rows.File{Path: filepath.Join(filepath.Dir(manifest), name)}})
		}
	}
	switch {
	case len(list) == 0:
		return nil, fmt.Errorf("%s has no data files next to it: the directory must contain a file such as %s0_0_….json or .csv", manifest, begin)
	case says.TotalDataFiles > 0 && says.TotalDataFiles != len(list):
		return nil, fmt.Errorf("%s lists %d data files, but its directory contains %d files whose names begin with %s", manifest, says.TotalDataFiles, len(list), begin)
	}
	return list, nil
}
