package transfer

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// AzCopy 7 exported a table to files ACCOUNT_TABLE_TIME_RANGE_SPLIT_CRC.json, or .csv
// with a .schema.csv each, and a manifest ACCOUNT_TABLE_TIME.manifest. The names of
// both begin alike; /Manifest chose another beginning. The manifest has a checksum of
// the entities whose algorithm is not published, so it is not compared.
// https://github.com/MicrosoftDocs/azure-docs/blob/00a142ac/articles/storage/storage-use-azcopy.md

// azcopyManifest is the ending of manifests.
const azcopyManifest = ".manifest"

var azcopyPart = regexp.MustCompile(`^(?:[a-z0-9]{3,24}_([A-Za-z][A-Za-z0-9]{2,62})(?:_[0-9]{8}T[0-9.]+Z?)?|(.+))_[0-9]+_[0-9]+_[0-9A-Fa-f]{8,16}\.(?:json|csv)$`)

// azcopyTable returns the table that the name of a file of AzCopy says, or "".
func azcopyTable(file string) string {
	if m := azcopyPart.FindStringSubmatch(file); m != nil {
		return m[1]
	}
	return ""
}

// azcopyParts returns the files of a manifest.
func azcopyParts(manifest, tableName string) (list []Source, err error) {
	begin := strings.TrimSuffix(manifest, azcopyManifest) + "_"
	found, err := os.ReadDir(filepath.Dir(manifest)) // sorted
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		name := f.Name()
		if strings.HasPrefix(name, filepath.Base(begin)) && azcopyPart.MatchString(name) && !strings.HasSuffix(name, schemaEnding) {
			list = append(list, Source{Table: named(tableName, name), File: filepath.Join(filepath.Dir(manifest), name)})
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no files beside it: %s0_0_….json or .csv", manifest, begin)
	}
	return list, nil
}
