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

// AzCopy 7 exported a table to files ACCOUNT_TABLE_TIME_RANGE_SPLIT_CRC.json and a manifest
// ACCOUNT_TABLE_TIME.manifest. In the CSV format each file ends with .csv, and a file .schema.csv
// with its types is next to it. The names of the files and of the manifest have the same prefix,
// unless the option /Manifest chose another name. CRC is a checksum of the entities in the file,
// and the field Checksum of the manifest is a checksum of all files. How AzCopy computed the
// checksums was never published, so this package does not verify them. It verifies the number of
// files.
// https://github.com/MicrosoftDocs/azure-docs/blob/00a142ac/articles/storage/storage-use-azcopy.md
// https://github.com/Azure/azure-storage-net-data-movement/issues/129

// azcopyManifest is the file extension of AzCopy's manifests.
const azcopyManifest = ".manifest"

// azcopySays holds fields of a manifest of AzCopy 7.3. Manifests of older versions lack these
// fields.
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

// azcopyParts returns the data files next to a manifest. It fails if the manifest records another
// number of files.
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
