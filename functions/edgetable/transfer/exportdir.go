package transfer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"edgetable/core/payload"
)

// finish makes the files of CSV and parquet and writes the manifest, after which the export
// is complete.
func (o *Export) finish(dir string, tables map[string]*exportTable) (*Manifest, error) {
	m := &Manifest{Edgetable: manifestVersion, Source: o.Source, Format: o.Format, Filter: o.Filter, Select: o.Select, Tables: []ManifestTable{}}
	for _, name := range o.Tables {
		t := tables[name]
		if begun := t.begun.Format(time.RFC3339); m.Begun == "" || begun < m.Begun {
			m.Begun = begun
		}
		sheet := o.sheet()
		if sheet != nil {
			for i := range t.states {
				written, _ := o.written(name, i)
				if err := entities(filepath.Join(dir, filepath.FromSlash(written)), func(e payload.Received) error {
					sheet.note(&e)
					return nil
				}); err != nil {
					return nil, err
				}
			}
		}
		table := ManifestTable{Name: name, Parts: []Part{}}
		for i := range t.states {
			file := filepath.Join(dir, filepath.FromSlash(o.file(name, i)))
			if t.states[i].Rows == 0 && (i > 0 || t.rows() > 0) { // an empty table has one file
				if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
					return nil, err
				}
				continue
			}
			if sheet != nil {
				if err := makeSheet(sheet, file+spoolEnding, file); err != nil {
					return nil, err
				}
			}
			bytes, sum, err := checksum(file)
			if err != nil {
				return nil, err
			}
			table.Rows += t.states[i].Rows
			table.Parts = append(table.Parts, Part{File: o.file(name, i), Rows: t.states[i].Rows, Bytes: bytes, SHA256: sum})
		}
		if err := syncDir(filepath.Join(dir, name)); err != nil {
			return nil, err
		}
		if sheet != nil {
			table.Notes = sheet.notes()
		}
		m.Tables = append(m.Tables, table)
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, err
	}
	if err := writeFile(filepath.Join(dir, ManifestName), append(text, '\n')); err != nil {
		return nil, err
	}
	return m, tidy(dir)
}

// Begun returns the tables of the export in a directory that is not finished, nil
// if there is none.
func Begun(dir string) []string {
	text, err := os.ReadFile(filepath.Join(dir, journalName))
	if err != nil {
		return nil
	}
	first, _, _ := bytes.Cut(text, []byte("\n"))
	var o Export
	if json.Unmarshal(first, &o) != nil {
		return nil
	}
	return o.Tables
}

// options is the part of o that must be the same when work goes on.
func (o *Export) options() *Export {
	return &Export{Tables: o.Tables, Source: o.Source, Filter: o.Filter, Select: o.Select, Format: o.Format, Compress: o.Compress, Excel: o.Excel}
}

// mayUse refuses a directory with something else in it.
func (o *Export) mayUse(dir string) error {
	list, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(list) > 0 && !slices.ContainsFunc(list, func(e os.DirEntry) bool { return e.Name() == journalName }) {
		return fmt.Errorf("%s is not empty and has no export that could go on: name another directory", dir)
	}
	return nil
}

// Remove removes an export from a directory, finished or not, and nothing else.
func Remove(dir string, tables []string) error {
	for _, name := range []string{ManifestName, journalName} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	for _, table := range tables {
		parts, err := filepath.Glob(filepath.Join(dir, table, "part-*"))
		if err != nil {
			return err
		}
		for _, part := range parts {
			if err := os.Remove(part); err != nil {
				return err
			}
		}
		_ = os.Remove(filepath.Join(dir, table)) // it may have files of others
	}
	return nil
}

// tidy removes what a finished export does not need.
func tidy(dir string) error {
	spools, err := filepath.Glob(filepath.Join(dir, "*", "part-*"+spoolEnding))
	for _, old := range append(spools, filepath.Join(dir, journalName)) {
		if e := os.Remove(old); e != nil && !os.IsNotExist(e) {
			err = errors.Join(err, e)
		}
	}
	return err
}
