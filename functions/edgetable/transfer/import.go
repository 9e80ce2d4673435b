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
