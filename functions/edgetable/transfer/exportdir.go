package transfer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"edgetable/core/payload"
)

// finish gives the files their names and writes the manifest, after which the
// export is complete. It can be repeated after any interruption.
func (o *Export) finish(dir string, w *tableWork, missing []string) (*Manifest, error) {
	m := o.manifest(w, missing)
	for i := range m.Tables {
		t := &m.Tables[i]
		if err := o.finishTable(dir, t, inOrder(w.tables[t.Name].parts)); err != nil {
			return nil, err
		}
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, err
	}
	if err := writeFile(filepath.Join(dir, ManifestName), append(text, '\n')); err != nil {
		return nil, err
	}
	return m, tidy(dir, m)
}

// manifest is the manifest of an export whose tables have no files yet.
func (o *Export) manifest(w *tableWork, missing []string) *Manifest {
	m := &Manifest{Edgetable: manifestVersion, Source: o.Source, Format: o.Format, Filter: o.Filter, Select: o.Select, Tables: []ManifestTable{}, Missing: missing}
	for _, name := range o.Tables {
		if slices.Contains(missing, name) {
			continue
		}
		if begun := w.tables[name].begun.Format(time.RFC3339); m.Begun == "" || begun < m.Begun {
			m.Begun = begun
		}
		m.Tables = append(m.Tables, ManifestTable{Name: name, Parts: []Part{}})
	}
	return m
}

// finishTable makes the files of a table of its parts in the order of their keys.
// Empty parts have none, but an empty table has a file.
func (o *Export) finishTable(dir string, table *ManifestTable, parts []*part) error {
	name := table.Name
	full := slices.DeleteFunc(slices.Clone(parts), func(p *part) bool { return p.state.Rows == 0 })
	if len(full) == 0 {
		full = parts[:1]
	}
	at := func(p *part) string {
		piece, _ := o.piece(name, p)
		return filepath.Join(dir, filepath.FromSlash(piece))
	}
	sheet := o.sheet()
	if sheet != nil {
		for _, p := range full {
			if err := fileEntities(at(p))(func(e payload.Received) error {
				sheet.note(&e)
				return nil
			}); err != nil {
				return err
			}
		}
	}
	for n, p := range full {
		file := o.file(name, n)
		path := filepath.Join(dir, filepath.FromSlash(file))
		if sheet != nil {
			if err := makeSheet(sheet, at(p), path); err != nil {
				return err
			}
		} else if err := rename(at(p), path, p.state.Size); err != nil {
			return err
		}
		bytes, sum := p.state.Size, p.sum
		if sum == "" || sheet != nil {
			var err error
			if bytes, sum, err = checksum(path); err != nil {
				return err
			}
		}
		table.Rows += p.state.Rows
		table.Parts = append(table.Parts, Part{File: file, Rows: p.state.Rows, Bytes: bytes, SHA256: sum})
	}
	if sheet != nil {
		table.Notes = sheet.notes()
	}
	return syncDir(filepath.Join(dir, name))
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
	if err := RemoveJournal(filepath.Join(dir, journalName)); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(dir, ManifestName)); err != nil && !os.IsNotExist(err) {
		return err
	}
	for _, table := range tables {
		for _, pattern := range []string{"part-*", piecePattern} {
			parts, err := filepath.Glob(filepath.Join(dir, table, pattern))
			if err != nil {
				return err
			}
			for _, part := range parts {
				if err := os.Remove(part); err != nil {
					return err
				}
			}
		}
		_ = os.Remove(filepath.Join(dir, table)) // it may have files of others
	}
	return nil
}

// tidy removes what a finished export does not need.
func tidy(dir string, m *Manifest) error {
	pieces, err := filepath.Glob(filepath.Join(dir, "*", piecePattern))
	for _, old := range append(pieces, filepath.Join(dir, journalName)) {
		if e := os.Remove(old); e != nil && !os.IsNotExist(e) {
			err = errors.Join(err, e)
		}
	}
	for _, table := range m.Missing {
		_ = os.Remove(filepath.Join(dir, table)) // it may have files of others
	}
	return err
}

// piecePattern matches the names of pieces.
const piecePattern = "piece-*.jsonl*"

// rename gives a piece its name, without what an interrupted run left behind its
// end. An earlier run may have done so.
func rename(from, to string, size int64) error {
	f, err := os.OpenFile(from, os.O_RDWR, 0)
	if os.IsNotExist(err) {
		return nil
	}
	if err == nil {
		err = errors.Join(cutTo(f, size), f.Close())
	}
	if err != nil {
		return err
	}
	return os.Rename(from, to)
}

// cutTo removes what is behind the end of a file that the journal knows, and goes
// there.
func cutTo(f *os.File, size int64) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() < size {
		return fmt.Errorf("%s has %d bytes, but %d by the journal: it was changed; begin again with --restart", f.Name(), info.Size(), size)
	}
	if err := f.Truncate(size); err != nil {
		return err
	}
	_, err = f.Seek(size, io.SeekStart)
	return err
}
