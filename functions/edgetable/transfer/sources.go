package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"edgetable/adapters/objects/directory"
	"edgetable/core/table"
	"edgetable/functions/edgetable/transfer/csvfile"
	"edgetable/functions/edgetable/transfer/export"
	"edgetable/functions/edgetable/transfer/rows"
)

// Sources returns the files to import:
//
//   - for a directory with the manifest of an export, the files in the manifest
//   - for Azurite's file or its directory, the tables in the file
//   - for any other directory, the data files in it and in its direct subdirectories
//   - for a manifest of AzCopy, its data files
//   - for any other file, the file itself
//
// tableName is the table to import to; "" means the name of the file or the subdirectory. For an export or an Azurite
// file with several tables, tableName selects one of them.
func Sources(path, tableName string) ([]Source, error) {
	if path == "-" {
		if tableName == "" {
			return nil, errors.New("a table for the rows of standard input is missing: name it with --table")
		}
		return []Source{{Table: tableName, File: rows.File{Path: "-", Seed: rand.Uint64()}}}, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		if plain, ok := errors.AsType[*os.PathError](err); ok {
			err = fmt.Errorf("%s: %w", path, plain.Err)
		}
		return nil, err
	}
	var list []Source
	if !info.IsDir() {
		if filepath.Base(path) == rows.AzuriteName {
			return AzuriteSources(path, "", tableName)
		} else if strings.HasSuffix(path, azcopyManifest) {
			if list, err = azcopyParts(path, tableName); err != nil {
				return nil, err
			}
		} else if list, err = rejectedSources(path, tableName); err != nil {
			return nil, err
		} else if list == nil {
			list = []Source{{Table: named(tableName, filepath.Base(path)), File: rows.File{Path: path}}}
		}
	} else if m, err := export.ReadManifest(context.Background(), placeOf(path)); err != nil {
		return nil, err
	} else if m != nil {
		tables, err := chosen(m, path, tableName)
		if err != nil {
			return nil, err
		}
		for _, t := range tables {
			for _, p := range t.Files {
				list = append(list, Source{Table: named(tableName, t.Name), File: rows.File{Path: filepath.Join(path, filepath.FromSlash(p.File))}, contents: contents{stored: &p, exported: m.InKeyOrder()}})
			}
		}
	} else if InAzurite(path) != "" {
		return AzuriteSources(path, "", tableName)
	} else if list, err = files(path, tableName); err != nil {
		return nil, err
	}
	for i := range list {
		s := &list[i]
		info, err := os.Stat(s.Path)
		if err != nil {
			return nil, err
		}
		s.Size, s.Time = info.Size(), info.ModTime().UnixNano()
		if err := table.CheckTableName(s.Table); err != nil {
			return nil, fmt.Errorf("%s: %q is not a table name: use 3 to 63 letters and digits, a letter first; --table gives one", s.Path, s.Table)
		}
	}
	return list, nil
}

// rejectedSources returns a source for each table in a file of rejects. It returns nil if the file is not a file of
// rejects, or if a reject does not name its table.
func rejectedSources(path, tableName string) (list []Source, err error) {
	if !strings.HasSuffix(path, rows.RejectsEnding) {
		return nil, nil
	}
	tables, err := rows.RejectedTables(path)
	switch {
	case err != nil:
		return nil, err
	case len(tables) == 0 || tables[0] == "":
		return nil, nil
	case tableName != "" && len(tables) > 1:
		return nil, fmt.Errorf("%s has rows of the tables %s: leave out --table, and each row is imported into its table", path, strings.Join(tables, ", "))
	}
	for _, name := range tables {
		list = append(list, Source{Table: cmp.Or(tableName, name), File: rows.File{Path: path}, contents: contents{rejected: name}})
	}
	return list, nil
}

func placeOf(dir string) export.Place {
	return export.Place{Place: directory.Place{Dir: dir}, Location: dir}
}

func files(dir, tableName string) (list []Source, err error) {
	switch there, err := placeOf(dir).Unfinished(context.Background()); {
	case err != nil:
		return nil, err
	case there:
		return nil, fmt.Errorf("%s contains an unfinished export: finish it with the same command first", dir)
	}
	for _, pattern := range []string{"*", filepath.Join("*", "*")} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		slices.Sort(found)
		for _, path := range found {
			if strings.HasSuffix(path, azcopyManifest) {
				// A file without the number of files is a manifest of an older version, or no manifest of AzCopy at
				// all. Skip the check.
				if says, err := readAzcopyManifest(path); err == nil && says.TotalDataFiles > 0 {
					if _, err := azcopyParts(path, tableName); err != nil {
						return nil, err
					}
				}
			}
			if strings.HasPrefix(filepath.Base(path), ".") || rows.FormatOf(path) == "" || strings.HasSuffix(path, rows.RejectsEnding) || strings.HasSuffix(path, csvfile.SchemaEnding) || filepath.Base(path) == export.ManifestName {
				continue
			}
			name := filepath.Base(path)
			if folder := filepath.Dir(path); folder != filepath.Clean(dir) && azcopyTable(name) == "" {
				name = filepath.Base(folder)
			}
			list = append(list, Source{Table: named(tableName, name), File: rows.File{Path: path}})
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no files of entities: .jsonl, .csv or .parquet, also .gz or .zst", dir)
	}
	return list, nil
}
