package transfer

import (
	"bytes"
	"context"
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
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// row is an entity that was read from a file.
type row struct {
	pk, rk     string
	properties edm.Properties
	count      int // of those that add added
	line       int
}

// badRow is a row that cannot be an entity. Reading goes on after it.
type badRow struct {
	line   int
	text   string // of the file
	reason string
}

func (b *badRow) Error() string { return fmt.Sprintf("line %d: %s", b.line, b.reason) }

// rows reads the rows of a file. The error is io.EOF at the end, a *badRow, or
// what ends the work.
type rows interface {
	next() (row, error)
}

// Source is a file to import.
type Source struct {
	Table    string                 `json:"table"`
	File     string                 `json:"file"` // "-" is standard input
	Size     int64                  `json:"size"`
	Time     int64                  `json:"time"` // when it was changed
	seed     uint64                 // of UUIDs for rows of standard input
	part     *Part                  // what a manifest says of it
	exported bool                   // in the order of keys, by that manifest
	fetch    func() ([]byte, error) // reads an object
	bytes    *atomic.Int64          // counts those that were read
}

// Sources finds the files to import: those of a manifest, else all files of
// entities in a directory and in the folders in it, else the file itself. A file
// is for the table that is given, else that of its folder, else that of its name.
func Sources(path, tableName string) ([]Source, error) {
	if path == "-" {
		if tableName == "" {
			return nil, errors.New("say with --table to which table standard input goes")
		}
		return []Source{{Table: tableName, File: "-", seed: rand.Uint64()}}, nil
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
		if strings.HasSuffix(path, azcopyManifest) {
			if list, err = azcopyParts(path, tableName); err != nil {
				return nil, err
			}
		} else {
			list = []Source{{Table: named(tableName, filepath.Base(path)), File: path}}
		}
	} else if m, err := readManifest(context.Background(), Place{directory.Place{Dir: path}, path}); err != nil {
		return nil, err
	} else if m != nil {
		for _, t := range m.Tables {
			for _, p := range t.Parts {
				list = append(list, Source{Table: named(tableName, t.Name), File: filepath.Join(path, filepath.FromSlash(p.File)), part: &p, exported: true})
			}
		}
	} else if list, err = files(path, tableName); err != nil {
		return nil, err
	}
	for i := range list {
		s := &list[i]
		info, err := os.Stat(s.File)
		if err != nil {
			return nil, err
		}
		s.Size, s.Time = info.Size(), info.ModTime().UnixNano()
		if err := table.CheckTableName(s.Table); err != nil {
			return nil, fmt.Errorf("%s: %q is no name of a table: 3 to 63 letters and digits, a letter first; --table gives one", s.File, s.Table)
		}
	}
	return list, nil
}

// named returns the table, else the name of a file without its endings.
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

func files(dir, tableName string) (list []Source, err error) {
	if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(begunName))); err == nil {
		return nil, fmt.Errorf("%s has an export that is not finished: finish it with the same command first", dir)
	}
	for _, pattern := range []string{"*", filepath.Join("*", "*")} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		slices.Sort(found)
		for _, path := range found {
			if strings.HasSuffix(path, azcopyManifest) {
				if says, err := readAzcopyManifest(path); err == nil && says.TotalDataFiles > 0 { // else it may be of another program
					if _, err := azcopyParts(path, tableName); err != nil {
						return nil, err
					}
				}
			}
			if formatOf(path) == "" || strings.HasSuffix(path, rejectsEnding) || strings.HasSuffix(path, schemaEnding) || filepath.Base(path) == ManifestName {
				continue
			}
			name := filepath.Base(path)
			if folder := filepath.Dir(path); folder != filepath.Clean(dir) && azcopyTable(name) == "" {
				name = filepath.Base(folder)
			}
			list = append(list, Source{Table: named(tableName, name), File: path})
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no files of entities: .jsonl, .csv or .parquet, also .gz or .zst", dir)
	}
	return list, nil
}

// formatOf returns the format that the name of a file says, or "".
func formatOf(path string) string {
	name := strings.ToLower(path)
	for _, ending := range []string{".gz", ".zst", ".zstd"} {
		name = strings.TrimSuffix(name, ending)
	}
	switch filepath.Ext(name) {
	case ".jsonl", ".ndjson", ".json":
		return "jsonl"
	case ".csv":
		return "csv"
	case ".parquet":
		return "parquet"
	}
	return ""
}

// Where names a row of a file: its line, in parquet its number.
func Where(file string, line int) string {
	if formatOf(file) == "parquet" {
		return fmt.Sprintf("%s row %d", file, line)
	}
	return fmt.Sprintf("%s line %d", file, line)
}

// verify compares the file with the manifest.
func (s *Source) verify() error {
	dir := strings.TrimSuffix(s.File, filepath.FromSlash(s.part.File))
	return s.part.verify(dir)
}

// open begins to read a file.
func (s *Source) open(stdin io.Reader, usual string, how *Mapping) (r rows, done func() error, err error) {
	m, err := how.of(s)
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
		in, format = bytes.NewReader(text), formatOf(s.File)
	case s.File != "-":
		f, err := os.Open(s.File)
		if err != nil {
			return nil, nil, err
		}
		in, closeFile = f, f.Close
		if named := formatOf(s.File); named != "" {
			format = named
		}
	}
	text, inner, closeText, err := decompress(counted{in, s.bytes}, strings.ToLower(s.File))
	if err != nil {
		return nil, nil, errors.Join(err, closeFile())
	}
	done = func() error {
		closeText()
		return closeFile()
	}
	if format != "parquet" {
		text = m.decoded(text)
	}
	switch format {
	case "csv":
		var schema *csvSchema
		if schema, err = schemaOf(s.File); err == nil {
			r, err = newCSVRows(text, schema, m)
		}
	case "parquet":
		if f, ok := in.(*os.File); ok && s.File != "-" && inner == strings.ToLower(s.File) {
			var p *parquetRows
			if p, err = newParquetRows(f, s.Size, m); err == nil {
				r, done = p, func() error { return errors.Join(p.close(), closeFile()) }
			}
			break
		}
		r, done, err = s.openSpooled(text, m, done)
	default:
		r = newJSONRows(text, s.File, m)
	}
	if err != nil {
		return nil, nil, errors.Join(err, done())
	}
	return r, done, nil
}

// openSpooled reads parquet from a stream.
func (s *Source) openSpooled(text io.Reader, m *mapper, done func() error) (rows, func() error, error) {
	f, size, err := spoolParquet(text)
	if err != nil {
		return nil, done, err
	}
	remove := func() error { return errors.Join(f.Close(), os.Remove(f.Name()), done()) }
	p, err := newParquetRows(f, size, m)
	if err != nil {
		return nil, remove, err
	}
	return p, func() error { return errors.Join(p.close(), remove()) }, nil
}

// add adds a property, the value of a column of a table that need not be an entity.
func (r *row) add(name, column string, v edm.Value) error {
	if err := table.CheckValue(name, v); err != nil {
		return fmt.Errorf("%s: %w", column, err)
	}
	if r.count++; r.count > table.MaxProperties {
		return table.TooManyProperties.Err()
	}
	r.properties = edm.AppendProperty(r.properties, name, v)
	return nil
}

// check returns why no service would store the row.
func (r *row) check() error {
	if err := key.Check(r.pk); err != nil {
		return fmt.Errorf("PartitionKey: %w", err)
	}
	if err := key.Check(r.rk); err != nil {
		return fmt.Errorf("RowKey: %w", err)
	}
	// A byte counts at most 2, a property 16 more: small entities need no exact sum.
	if 2*(len(r.pk)+len(r.rk)+len(r.properties))+16*table.MaxProperties > table.MaxEntitySize &&
		table.EntitySize(r.pk, r.rk, r.properties) > table.MaxEntitySize {
		return table.EntityTooLarge.Err()
	}
	return nil
}
