package transfer

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"edgetable/adapters/client/remote"
	"edgetable/core/key"
)

// ImportCommand says what to import and how. Imports of equal commands are the same work.
type ImportCommand struct {
	Target  string   `json:"target"` // URL of the account
	Sources []Source `json:"sources"`
	Mode    string   `json:"mode"`    // insert, merge, replace or skip
	Format  string   `json:"format"`  // of files whose names do not say theirs
	Mapping Mapping  `json:"mapping"` // of rows to entities
}

// Import is an import of files.
type Import struct {
	ImportCommand
	DryRun bool // write nothing to the service

	Connections  int
	ProgressFile string // file; "" for none
	Rejects      string // file
	Stdin        io.Reader
	Progress     *Progress
	Begin        func(again bool)                           // gets whether earlier work continues
	Again        func(table string)                         // gets a table because of which all is imported again
	Preview      func(table string, entity []byte)          // gets the first rows of each file as they would be written; nil for none
	Refused      func(file string, line int, reason string) // gets each refused row
	memory       int                                        // for sorting; 0 for sortMemory
}

// Totals say what became of the rows.
type Totals struct {
	Written  int64 `json:"written"`
	Same     int64 `json:"same,omitempty"`     // an insert found the same entity
	Skipped  int64 `json:"skipped,omitempty"`  // they exist
	Rejected int64 `json:"rejected,omitempty"` // they are in the file of rejects
	Dropped  int64 `json:"dropped,omitempty"`  // a later row has the same keys
	Deleted  int64 `json:"deleted,omitempty"`  // the source of a sync lacks them
}

func (t *Totals) add(u Totals) {
	t.Written += u.Written
	t.Same += u.Same
	t.Skipped += u.Skipped
	t.Rejected += u.Rejected
	t.Dropped += u.Dropped
	t.Deleted += u.Deleted
}

// rows is how many rows the work is done with.
func (t *Totals) rows() int64 { return t.Written + t.Same + t.Skipped + t.Rejected + t.Deleted }

// imported is a line of the progress: so many rows of a source are done, in the
// order in which they are sent.
type imported struct {
	Source  int             `json:"source"`
	Rows    int64           `json:"rows"`
	Done    bool            `json:"done,omitempty"`
	Rejects int64           `json:"rejects,omitempty"` // bytes of the file of rejects
	Totals  Totals          `json:"totals"`            // of all sources
	Marks   map[string]*Key `json:"marks,omitempty"`   // of the tables, see marked
}

// some reports whether something is done.
func (s *imported) some() bool { return s.Source > 0 || s.Rows > 0 || s.Done || s.Marks != nil }

// Run imports. After an error, the same call continues where the progress file says; after
// success there is none. What a crash may have left between the progress file and the service is
// written again; an insert takes an entity with the same content for its own.
func (o *Import) Run(ctx context.Context, c *remote.Client) (totals Totals, err error) {
	im := &importer{o: o, writer: writer{c, o.Mode}, rejects: rejectFile{path: o.Rejects}}
	state := imported{}
	if o.ProgressFile != "" && !o.DryRun {
		if err := o.forgetOther(); err != nil {
			return totals, err
		}
		j, err := openProgress(o.ProgressFile, o.ImportCommand, func(line []byte) error {
			state = imported{}
			return json.Unmarshal(line, &state)
		})
		if err != nil {
			return totals, err
		}
		defer func() { err = errors.Join(err, j.close()) }()
		im.progress = j
	}
	if !o.DryRun {
		again, err := o.createTables(ctx, c, &state)
		if err != nil {
			return totals, err
		}
		if again && state.some() { // with rows that the progress file counts
			state = imported{}
			if err := im.progress.write(state); err != nil {
				return totals, err
			}
		}
		if err := im.rejects.begin(state.Rejects); err != nil {
			return totals, err
		}
		defer func() { err = errors.Join(err, im.rejects.close()) }()
	}
	im.state = state
	o.measure(&state)
	o.Begin(state.some())
	err = im.run(ctx)
	return im.state.Totals, err
}

// forgetOther removes the progress file of another command that did nothing yet.
func (o *Import) forgetOther() error {
	text, err := os.ReadFile(o.ProgressFile)
	if err != nil {
		return nil // there is none, or openProgress returns the error
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	var last imported
	var old ImportCommand
	if json.Unmarshal(lines[0], &old) != nil || len(lines) > 1 && (json.Unmarshal(lines[len(lines)-1], &last) != nil || last.some()) {
		return nil
	}
	if same(old, o.ImportCommand) {
		return nil
	}
	return RemoveProgress(o.ProgressFile)
}

// measure sets the progress: the finished bytes and rows, and the size of the input.
func (o *Import) measure(state *imported) {
	p := o.Progress
	p.resume(state.Totals.rows())
	p.read.Store(state.Totals.rows() + state.Totals.Dropped - state.Rows) // of the sources before this one
	for i := range o.Sources {
		s := &o.Sources[i]
		s.bytes = &p.input
		p.size.Add(s.Size)
		if i < state.Source {
			p.input.Add(s.Size)
		}
	}
}

// createTables makes the tables that are missing. Again is true if a table was missing, or is
// not the one that the state knows.
func (o *Import) createTables(ctx context.Context, c *remote.Client, state *imported) (again bool, err error) {
	known := map[string]bool{}
	for _, s := range o.Sources {
		if known[s.Table] {
			continue
		}
		known[s.Table] = true
		made, err := createTable(ctx, c, s.Table)
		if err != nil {
			return again, err
		}
		ok := true
		if mark := state.Marks[s.Table]; mark != nil && !made {
			if ok, err = marked(ctx, c, s.Table, mark); err != nil {
				return again, err
			}
		}
		if (made || !ok) && state.some() {
			o.Again(s.Table)
		}
		again = again || made || !ok
	}
	return again, nil
}

// read passes the rows of a source on in the order of their keys, so that batches are full: as they
// come if the file has this order, else sorted. Of rows with the same keys the last one is passed
// on. The order depends on the file alone.
func (o *Import) read(r rows, file string, inOrder bool, pass func(row) error, refuse func(reject) error) (dropped int64, err error) {
	var s *sorter
	if !inOrder {
		s = newSorter(cmp.Or(o.memory, sortMemory))
		defer func() { err = errors.Join(err, s.close()) }()
	}
	var held row // until it is known that the next one has other keys
	var heldKey, nextKey []byte
	some := false
	for {
		one, err := r.next()
		o.Progress.read.Add(1)
		bad, isBad := errors.AsType[*badRow](err)
		switch {
		case err == io.EOF && s != nil:
			return s.each(pass)
		case err == io.EOF && some:
			return dropped, pass(held)
		case err == io.EOF:
			return dropped, nil
		case isBad:
			err = refuse(reject{file: file, line: bad.line, reason: bad.reason, text: bad.text})
		case err != nil:
			err = fmt.Errorf("about %s: %w", Where(file, one.line), err)
		case s != nil:
			err = s.add(one)
		default:
			nextKey = key.Append(nextKey[:0], one.pk, one.rk)
			switch order := bytes.Compare(heldKey, nextKey); {
			case some && order > 0:
				err = fmt.Errorf("%s was changed while it was read", file)
			case some && order == 0:
				dropped++
			case some:
				err = pass(held)
			}
			held, some = one, true
			heldKey, nextKey = nextKey, heldKey
		}
		if err != nil {
			return dropped, err
		}
	}
}

// ordered reports whether the rows are in the order of their keys. It reads up to the first one that
// is not. A row that will be refused may count, which can only make it false.
func ordered(r rows) (bool, error) {
	var last, next []byte
	for {
		var err error
		next, err = appendKey(next[:0], r)
		_, isBad := errors.AsType[*badRow](err)
		switch {
		case err == io.EOF:
			return true, nil
		case isBad:
			continue
		case err != nil:
			return false, err
		}
		if bytes.Compare(last, next) > 0 {
			return false, nil
		}
		last, next = next, last
	}
}
