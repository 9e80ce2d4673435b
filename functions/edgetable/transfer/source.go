package transfer

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"edgetable/adapters/objects/directory"
	"edgetable/core/table"
	"edgetable/functions/edgetable/transfer/azuritefile"
	"edgetable/functions/edgetable/transfer/csvfile"
	"edgetable/functions/edgetable/transfer/export"
	"edgetable/functions/edgetable/transfer/parquetfile"
	"edgetable/functions/edgetable/transfer/progressfile"
	"edgetable/functions/edgetable/transfer/rows"
)

// Source is a file to import, and the table for its rows. A run resumes an earlier run if the
// sources of both runs are equal as JSON.
type Source struct {
	Table string `json:"table"`
	rows.File
	contents
}

// contents says how to read a file, and what is known about the file.
type contents struct {
	stored   *progressfile.Stored   // entry of the file in the manifest of an export; nil without a manifest
	exported bool                   // according to the manifest, the rows are in key order
	fetch    func() ([]byte, error) // if the file is an object in a bucket: reads the object; otherwise nil
	rejected string                 // in a file of refused rows: only the rows that name this table are read; "" means all rows
	azurite  *azuritefile.Table     // table in Azurite's file; nil for other files
	bytes    *atomic.Int64          // counts the bytes that were read
}

// Sources finds the files to import. If path names a directory with the manifest of an export, Sources
// returns the files in the manifest. If path names Azurite's file or its directory, Sources returns the
// tables in that file. For any other directory, Sources returns all files of entities in the directory
// and its subdirectories. For any other file, Sources returns that file. The parameter tableName names
// the table of each file. If tableName is "", a table has the name of the folder or of the file.
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
		for _, t := range m.Tables {
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

// rejectedSources returns a source for each table whose rows are in a file of refused rows. It returns nil for other
// files, and if the rows do not name their table.
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

func named(tableName, file string) string {
	if tableName != "" {
		return tableName
	}
	if name := azcopyTable(file); name != "" {
		return name
	}
	name, _, _ := strings.Cut(file, ".")
	return name
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
				// Older manifests lack the number of files. A file without this number is possibly
				// no manifest of AzCopy.
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

func (s *Source) verify() error {
	p, path := s.stored, s.Path
	bytes, sum, err := checksum(path)
	switch {
	case err != nil:
		return err
	case bytes != p.Bytes:
		return fmt.Errorf("%s has %d bytes, but %d bytes in the manifest: it is truncated or changed", path, bytes, p.Bytes)
	case !strings.EqualFold(sum, p.SHA256):
		return fmt.Errorf("%s has another checksum than in the manifest: it is damaged or changed", path)
	}
	return nil
}

func checksum(path string) (bytes int64, sum string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	h := sha256.New()
	if bytes, err = io.Copy(h, f); err != nil {
		return 0, "", err
	}
	return bytes, hex.EncodeToString(h.Sum(nil)), nil
}

// open opens a file for reading its rows. If the extension of the file names no format, open uses the
// format in the parameter usual.
func (s *Source) open(stdin io.Reader, usual string, how *rows.Mapping) (r rows.Reader, done func() error, err error) {
	m, err := how.Mapper(s.File)
	if err != nil {
		return nil, nil, err
	}
	in, format, closeFile := stdin, usual, func() error { return nil }
	switch {
	case s.fetch != nil:
		text, err := s.fetch()
		if err != nil {
			return nil, nil, err
		}
		in, format = bytes.NewReader(text), rows.FormatOf(s.Path)
	case s.Path != "-":
		f, err := os.Open(s.Path)
		if err != nil {
			return nil, nil, err
		}
		if s.azurite != nil {
			return azuritefile.NewRows(counted{io.NewSectionReader(f, s.azurite.Begin, s.Size), s.bytes}, m), f.Close, nil
		}
		in, closeFile = f, f.Close
		if named := rows.FormatOf(s.Path); named != "" {
			format = named
		}
	}
	text, inner, closeText, err := rows.Decompress(counted{in, s.bytes}, strings.ToLower(s.Path))
	if err != nil {
		return nil, nil, errors.Join(err, closeFile())
	}
	done = func() error {
		closeText()
		return closeFile()
	}
	if format != "parquet" {
		text = m.Decoded(text)
	}
	switch format {
	case "csv":
		var schema *csvfile.Schema
		if schema, err = csvfile.SchemaOf(s.Path); err == nil {
			r, err = csvfile.NewRows(text, schema, m)
		}
	case "parquet":
		if f, ok := in.(*os.File); ok && s.Path != "-" && inner == strings.ToLower(s.Path) {
			var p *parquetfile.Rows
			if p, err = parquetfile.NewRows(f, s.Size, m); err == nil {
				r, done = p, func() error { return errors.Join(p.Close(), closeFile()) }
			}
			break
		}
		r, done, err = s.openSpooled(text, m, done)
	default:
		if s.rejected != "" {
			r = rows.NewRejectedRows(text, s.rejected, m)
		} else {
			r = rows.NewJSONRows(text, s.Path, m)
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, done())
	}
	return r, done, nil
}

// openSpooled reads parquet from a stream. It first copies the stream to a temporary file.
func (s *Source) openSpooled(text io.Reader, m *rows.Mapper, done func() error) (rows.Reader, func() error, error) {
	f, size, err := parquetfile.Spool(text)
	if err != nil {
		return nil, done, err
	}
	remove := func() error { return errors.Join(f.Close(), os.Remove(f.Name()), done()) }
	p, err := parquetfile.NewRows(f, size, m)
	if err != nil {
		return nil, remove, err
	}
	return p, func() error { return errors.Join(p.Close(), remove()) }, nil
}

type counted struct {
	io.Reader
	n *atomic.Int64
}

func (c counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n.Add(int64(n))
	return n, err
}
