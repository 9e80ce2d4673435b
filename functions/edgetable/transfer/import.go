package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/transfer/progressfile"
	"edgetable/functions/edgetable/transfer/rows"
)

// Run imports the files. After an error, the same command resumes.
//
// After a crash, Run may write rows again. If an insert then finds an entity with the same content, it counts as
// written.
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
		if again && hasFinishedWork(&state) { // the recorded progress counts entities of a deleted table
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

// forgetOther removes the progress file of another command, unless that command finished some work.
func (o *Import) forgetOther() error {
	text, err := os.ReadFile(o.ProgressFile)
	if err != nil {
		return nil // if the file exists but cannot be read, progressfile.Open returns the error
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

// measure initializes the size of the input, and the bytes and rows that earlier runs finished.
func (o *Import) measure(state *progressfile.Line) {
	p := o.Progress
	p.Resume(state.Totals.Rows())
	p.Input.Rows.Store(state.Totals.Rows() + state.Totals.Dropped - state.Rows) // these are the rows of the finished sources
	for i := range o.Sources {
		s := &o.Sources[i]
		s.bytes = &p.Input.Read
		p.Input.Size.Add(s.Size)
		if i < state.Range {
			p.Input.Read.Add(s.Size)
		}
	}
}

// createTables creates the missing tables. The map contains the names of all tables. The value is true if this call
// created the table and only one source writes to it. The result anyNewer reports whether any table is newer than the
// progress file.
func (o *Import) createTables(ctx context.Context, c *remote.Client, state *progressfile.Line) (all map[string]bool, anyNewer bool, err error) {
	all = map[string]bool{}
	for _, s := range o.Sources {
		if _, known := all[s.Table]; known {
			all[s.Table] = false // an insert may find an entity that another source has inserted
			continue
		}
		made, err := createTable(ctx, c, s.Table)
		if err != nil {
			return all, anyNewer, err
		}
		all[s.Table] = made
		ok := true
		if mark := state.Marks[s.Table]; mark != nil && !made {
			if ok, err = hasMark(ctx, c, s.Table, mark); err != nil {
				return all, anyNewer, err
			}
		}
		if (made || !ok) && hasFinishedWork(state) {
			o.OnRestart(s.Table)
		}
		anyNewer = anyNewer || made || !ok
	}
	return all, anyNewer, nil
}
