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
	"edgetable/functions/edgetable/transfer/progressfile"
	"edgetable/functions/edgetable/transfer/rows"
	"edgetable/functions/edgetable/transfer/scan"
	"edgetable/functions/edgetable/transfer/sorter"
)

// ImportCommand says what to import and how. A run resumes an earlier run whose command is equal.
type ImportCommand struct {
	Target  string       `json:"target"` // URL of the target account
	Sources []Source     `json:"sources"`
	Mode    string       `json:"mode"`    // insert, merge, replace or skip
	Format  string       `json:"format"`  // format of files whose extension names no format
	Mapping rows.Mapping `json:"mapping"` // how rows become entities
}

// Import is an import of files.
type Import struct {
	ImportCommand
	DryRun bool // write nothing to the service

	Connections  int
	ProgressFile string // path of the progress file; "" means no progress file
	Rejects      string // path of the file of refused rows
	Stdin        io.Reader
	Progress     *scan.Progress
	Begin        func(again bool)                           // called at the start; again is true if an earlier run recorded progress
	Again        func(table string)                         // called if the import starts over because a table was missing or created again
	Preview      func(table string, entity []byte)          // may be nil; called with the first entities of each file, as the import would write them
	Refused      func(file string, line int, reason string) // called for each refused row
	memory       int                                        // maximum bytes of rows in memory for sorting; 0 means sorter.Memory
}

// hasFinishedWork reports whether a line of the progress file records finished work.
func hasFinishedWork(l *progressfile.Line) bool {
	return l.Range > 0 || l.Rows > 0 || l.Done || l.Marks != nil
}

// Run imports the files. After an error, a call with the same command resumes from the progress file. Run removes
// the progress file when the import is complete. After a crash, the progress file may lack rows that the service
// has stored, and Run writes these rows again. An insert then finds an entity with the same content, and Run counts
// this entity as written by the import.
func (o *Import) Run(ctx context.Context, c *remote.Client) (totals progressfile.Totals, err error) {
	im := &importer{o: o, writer: writer{c, o.Mode}, rejects: rows.RejectFile{Path: o.Rejects}}
	state := progressfile.Line{}
	if o.ProgressFile != "" && !o.DryRun {
		if err := o.forgetOther(); err != nil {
			return totals, err
		}
		j, err := progressfile.Open(o.ProgressFile, o.ImportCommand, func(line []byte) error {
			state, err = progressfile.ParseLine(line)
			return err
		})
		if err != nil {
			return totals, err
		}
		defer func() { err = errors.Join(err, j.Close()) }()
		im.progress = j
	}
	if !o.DryRun {
		var again bool
		im.made, again, err = o.createTables(ctx, c, &state)
		if err != nil {
			return totals, err
		}
		if again && hasFinishedWork(&state) { // a deleted table has contained the entities that the progress file counts, so start over
			state = progressfile.Line{}
			if err := im.progress.Write(state); err != nil {
				return totals, err
			}
		}
		if err := im.rejects.Begin(state.Rejects); err != nil {
			return totals, err
		}
		defer func() { err = errors.Join(err, im.rejects.Close()) }()
	}
	im.state = state
	o.measure(&state)
	o.Begin(hasFinishedWork(&state))
	err = im.run(ctx)
	return im.state.Totals, err
}

// forgetOther removes the progress file if it belongs to another command that has finished no work.
func (o *Import) forgetOther() error {
	text, err := os.ReadFile(o.ProgressFile)
	if err != nil {
		return nil // if the file exists but cannot be read, Open returns the error
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	var last progressfile.Line
	var old ImportCommand
	if json.Unmarshal(lines[0], &old) != nil || len(lines) > 1 && (json.Unmarshal(lines[len(lines)-1], &last) != nil || hasFinishedWork(&last)) {
		return nil
	}
	if progressfile.Same(old, o.ImportCommand) {
		return nil
	}
	return progressfile.Remove(o.ProgressFile)
}

// measure sets the size of the input, and the bytes and rows that earlier runs finished.
func (o *Import) measure(state *progressfile.Line) {
	p := o.Progress
	p.Resume(state.Totals.Rows())
	p.Input.Rows.Store(state.Totals.Rows() + state.Totals.Dropped - state.Rows) // rows of the sources before the current source
	for i := range o.Sources {
		s := &o.Sources[i]
		s.bytes = &p.Input.Read
		p.Input.Size.Add(s.Size)
		if i < state.Range {
			p.Input.Read.Add(s.Size)
		}
	}
}

// createTables creates the missing tables. The keys of the map all are the names of all tables. If this call created
// the table, and only one source writes to the table, the value is true. The result again is true if a table was
// missing, or was deleted and created again since the progress file was written.
func (o *Import) createTables(ctx context.Context, c *remote.Client, state *progressfile.Line) (all map[string]bool, again bool, err error) {
	all = map[string]bool{}
	for _, s := range o.Sources {
		if _, known := all[s.Table]; known {
			all[s.Table] = false // with several sources for one table, an insert may find an entity of another source
			continue
		}
		made, err := createTable(ctx, c, s.Table)
		if err != nil {
			return all, again, err
		}
		all[s.Table] = made
		ok := true
		if mark := state.Marks[s.Table]; mark != nil && !made {
			if ok, err = hasMark(ctx, c, s.Table, mark); err != nil {
				return all, again, err
			}
		}
		if (made || !ok) && hasFinishedWork(state) {
			o.Again(s.Table)
		}
		again = again || made || !ok
	}
	return all, again, nil
}

// read reads the rows of a source, and passes the rows to the callback in key order. A batch has rows of one partition,
// so this order gives full batches. If the file is not in key order, the rows are sorted. Of rows with the same keys,
// only the last row is passed. The order depends only on the file.
func (o *Import) read(r rows.Reader, file string, inOrder bool, pass func(rows.Row) error, refuse func(rows.Reject) error) (dropped int64, err error) {
	var s *sorter.Sorter
	if !inOrder {
		s = sorter.New(cmp.Or(o.memory, sorter.Memory))
		defer func() { err = errors.Join(err, s.Close()) }()
	}
	var held rows.Row // the previous row; passed when the next row has other keys
	var heldKey, nextKey []byte
	isHeld := false
	for {
		one, err := r.Next()
		o.Progress.Input.Rows.Add(1)
		bad, isBad := errors.AsType[*rows.Bad](err)
		switch {
		case err == io.EOF && s != nil:
			return s.Each(pass)
		case err == io.EOF && isHeld:
			return dropped, pass(held)
		case err == io.EOF:
			return dropped, nil
		case isBad:
			err = refuse(rows.Reject{File: file, Line: bad.Line, Reason: bad.Reason, Text: bad.Text})
		case err != nil:
			err = fmt.Errorf("about %s: %w", rows.Where(file, one.Line), err)
		case s != nil:
			err = s.Add(one)
		default:
			nextKey = key.Append(nextKey[:0], one.PartitionKey, one.RowKey)
			switch order := bytes.Compare(heldKey, nextKey); {
			case isHeld && order > 0:
				err = fmt.Errorf("%s was changed while it was read", file)
			case isHeld && order == 0:
				dropped++
			case isHeld:
				err = pass(held)
			}
			held, isHeld = one, true
			heldKey, nextKey = nextKey, heldKey
		}
		if err != nil {
			return dropped, err
		}
	}
}

// isInKeyOrder reports whether the rows of a file are in key order. It stops at the first row that is out of order.
// It also compares rows that the import will refuse. If only such a row is out of order, the import sorts the file
// without need.
func isInKeyOrder(r rows.Reader) (bool, error) {
	var last, next []byte
	for {
		var err error
		next, err = rows.AppendKey(next[:0], r)
		_, isBad := errors.AsType[*rows.Bad](err)
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
