package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// Directory is a directory for an export: for each table a folder with a file for each
// range of keys, and the manifest. While the export is not finished it has the journal.
type Directory string

func (d Directory) at(name string) string {
	return filepath.Join(string(d), filepath.FromSlash(name))
}

// Begun implements Place.
func (d Directory) Begun(context.Context) ([]string, error) {
	text, err := os.ReadFile(d.at(journalName))
	if err != nil {
		return nil, nil
	}
	first, _, _ := bytes.Cut(text, []byte("\n"))
	var o Export
	if json.Unmarshal(first, &o) != nil {
		return nil, nil
	}
	return o.Tables, nil
}

// Get implements Place.
func (d Directory) Get(_ context.Context, name string) ([]byte, error) {
	return os.ReadFile(d.at(name))
}

// Put implements Place.
func (d Directory) Put(_ context.Context, name string, text []byte) error {
	return writeFile(d.at(name), text)
}

// begin refuses a directory with something else in it.
func (d Directory) begin(_ context.Context, o *Export, w *tableWork) error {
	if err := os.MkdirAll(string(d), 0o755); err != nil {
		return err
	}
	list, err := os.ReadDir(string(d))
	if err != nil {
		return err
	}
	if len(list) > 0 && !slices.ContainsFunc(list, func(e os.DirEntry) bool { return e.Name() == journalName }) {
		return fmt.Errorf("%s is not empty and has no export that could go on: name another directory", d)
	}
	w.journal, err = openJournal(d.at(journalName), *o.options(), w.replay)
	return err
}

// finish gives the pieces their names, or makes the files of other formats of them.
func (d Directory) finish(_ context.Context, o *Export, table *ManifestTable, parts []*part) error {
	name := table.Name
	full := slices.DeleteFunc(slices.Clone(parts), func(p *part) bool { return p.state.Rows == 0 })
	if len(full) == 0 {
		full = parts[:1]
	}
	var pieces []string
	var lists []entityList
	for _, p := range full {
		piece, _ := o.piece(name, p)
		pieces = append(pieces, d.at(piece))
		lists = append(lists, fileEntities(d.at(piece)))
	}
	sheet := o.sheet()
	if sheet != nil {
		if err := noteAll(sheet, lists); err != nil {
			return err
		}
	}
	for n, p := range full {
		file := fmt.Sprintf("%s/part-%04d%s", name, n, o.ending())
		path := d.at(file)
		if sheet != nil {
			if err := makeSheet(sheet, lists[n], path); err != nil {
				return err
			}
		} else if err := rename(pieces[n], path, p.state.Size); err != nil {
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
	return syncDir(d.at(name))
}

// Remove implements Place.
func (d Directory) Remove(_ context.Context, tables []string) error {
	if err := RemoveJournal(d.at(journalName)); err != nil {
		return err
	}
	if err := os.Remove(d.at(ManifestName)); err != nil && !os.IsNotExist(err) {
		return err
	}
	for _, table := range tables {
		for _, pattern := range []string{"part-*", piecePattern} {
			parts, err := filepath.Glob(filepath.Join(d.at(table), pattern))
			if err != nil {
				return err
			}
			for _, part := range parts {
				if err := os.Remove(part); err != nil {
					return err
				}
			}
		}
		_ = os.Remove(d.at(table)) // it may have files of others
	}
	return nil
}

func (d Directory) tidy(_ context.Context, m *Manifest) error {
	pieces, err := filepath.Glob(filepath.Join(d.at("*"), piecePattern))
	for _, old := range append(pieces, d.at(journalName)) {
		if e := os.Remove(old); e != nil && !os.IsNotExist(e) {
			err = errors.Join(err, e)
		}
	}
	for _, table := range m.Missing {
		_ = os.Remove(d.at(table)) // it may have files of others
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
