package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"edgetable/adapters/backup/repository"
	"edgetable/core/table"
)

// maxObject is the largest object that is imported: it is read into memory.
const maxObject = 256 << 20

// SourcesIn finds the files to import in a place for objects: those of its
// manifest. Location is the place as the user named it.
func SourcesIn(ctx context.Context, place repository.Objects, location, tableName string) ([]Source, error) {
	m := &Manifest{}
	found, err := getJSON(ctx, place, ManifestName, m)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", location, err)
	case !found:
		if tables, err := BegunObjects(ctx, place); err != nil || tables != nil {
			return nil, errors.Join(err, fmt.Errorf("%s has an export that is not finished: finish it with the same command first", location))
		}
		return nil, fmt.Errorf("%s has no %s: name the place that an export wrote to", location, ManifestName)
	case m.Edgetable != manifestVersion:
		return nil, fmt.Errorf("%s has layout %d, which this version does not know", location, m.Edgetable)
	}
	where, _, _ := strings.Cut(location, "?")
	var list []Source
	for _, t := range m.Tables {
		name := tableName
		if name == "" {
			name = t.Name
		}
		if err := table.CheckTableName(name); err != nil {
			return nil, fmt.Errorf("%s: %q is no name of a table: 3 to 63 letters and digits, a letter first", location, name)
		}
		for _, p := range t.Parts {
			switch {
			case !filepath.IsLocal(filepath.FromSlash(p.File)):
				return nil, fmt.Errorf("%s names %s, which is not in the place", location, p.File)
			case p.Bytes > maxObject:
				return nil, fmt.Errorf("%s is larger than 256 MiB: download the export and import the directory", p.File)
			}
			s := Source{Table: name, File: strings.TrimSuffix(where, "/") + "/" + p.File, Size: p.Bytes}
			s.fetch = func() ([]byte, error) {
				text, err := place.Get(ctx, p.File)
				if err == nil {
					err = p.check(text)
				}
				return text, err
			}
			list = append(list, s)
		}
	}
	return list, nil
}

// check compares the content of an object with what the manifest says of it.
func (p *Part) check(text []byte) error {
	sum := sha256.Sum256(text)
	if int64(len(text)) != p.Bytes || !strings.EqualFold(hex.EncodeToString(sum[:]), p.SHA256) {
		return fmt.Errorf("%s is not what the manifest says: it is damaged or changed", p.File)
	}
	return nil
}
