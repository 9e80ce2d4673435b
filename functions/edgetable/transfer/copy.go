package transfer

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/transfer/progressfile"
	"edgetable/functions/edgetable/transfer/ranges"
	"edgetable/functions/edgetable/transfer/rows"
	"edgetable/functions/edgetable/transfer/scan"
)

// CopyCommand says what to copy from one service to another and how. A run resumes an earlier run
// whose command is equal.
type CopyCommand struct {
	Tables []string `json:"tables"`
	Source string   `json:"source"` // URL of the source account
	Target string   `json:"target"`
	Filter string   `json:"filter,omitempty"`
	Select []string `json:"select,omitempty"`
	Mode   string   `json:"mode"`             // insert, merge, replace or skip
	Sync   bool     `json:"sync,omitempty"`   // write only entities that differ from those in the target
	Delete bool     `json:"delete,omitempty"` // with Sync: also delete entities that the source does not have
}

// Copy is a copy of tables.
type Copy struct {
	CopyCommand
	DryRun bool // write nothing to the target, no progress file, and no file of refused entities

	Connections  int
	ProgressFile string // path of the progress file
	Rejects      string // path of the file of refused entities
	Progress     *scan.Progress
	Begin        func(again bool)                            // called at the start; again is true if an earlier run of the command recorded progress
	Again        func(table string)                          // called for each table whose copy starts over from the beginning
	Refused      func(table string, line int, reason string) // called for each refused entity
}

// copier is the state of a running copy.
type copier struct {
	o        *Copy
	from, to *remote.Client
	work     *scan.Work
	firsts   map[string]*firstWrite // by name of the table
	made     map[string]bool        // tables that this run created
	mu       sync.Mutex             // guards rejected
	rejected rows.RejectFile
}

// Run copies the tables. After an error, a call with the same command resumes from the progress file.
// Run removes the progress file when the copy is complete. The totals include entities that were
// written to a table of the target before this table was deleted.
func (o *Copy) Run(ctx context.Context, from, to *remote.Client) (totals progressfile.Totals, err error) {
	file := o.ProgressFile
	if o.DryRun {
		file = ""
	}
	w, err := scan.Open(file, o.CopyCommand, o.Tables)
	if err != nil {
		return totals, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	c := &copier{o: o, from: from, to: to, work: w, rejected: rows.RejectFile{Path: o.Rejects}, firsts: map[string]*firstWrite{}, made: map[string]bool{}}
	for _, name := range o.Tables {
		c.firsts[name] = &firstWrite{}
	}
	o.Progress.Tables(len(o.Tables))
	o.resume(w)
	o.Begin(w.Again())
	if !o.DryRun {
		if err := c.rejected.Begin(w.Rejects()); err != nil {
			return w.Totals(), err
		}
		defer func() { err = errors.Join(err, c.rejected.Close()) }()
	}
	var lost []error
	for _, name := range o.Tables {
		err := c.table(ctx, name)
		if remote.TableGone(err) {
			lost = append(lost, fmt.Errorf("table %s does not exist, or no longer exists: %w", name, err))
			totals.Add(w.Totals(name))
			err = w.Forget(name) // forget the progress, because the deleted table may have contained the copied entities
		}
		if err != nil {
			totals.Add(w.Totals())
			return totals, err
		}
	}
	for _, name := range o.Tables { // another client may have deleted a table and created it again during the copy
		mark := w.Mark(name)
		ok, err := hasMark(ctx, to, name, mark)
		if err == nil && !ok {
			lost = append(lost, recreatedError(name, mark))
			totals.Add(w.Totals(name))
			err = w.Forget(name)
		}
		if err != nil {
			totals.Add(w.Totals())
			return totals, err
		}
	}
	totals.Add(w.Totals())
	if len(lost) > 0 {
		return totals, errors.Join(lost...)
	}
	return totals, w.Remove() // a later run of the same command copies everything again
}

func (c *copier) table(ctx context.Context, name string) error {
	if err := c.work.Begin(ctx, c.from, name, c.o.Filter); err != nil {
		return err
	}
	if !c.o.DryRun {
		again, err := createTable(ctx, c.to, name)
		if err != nil {
			return err
		}
		c.made[name] = again
		if !again {
			ok, err := hasMark(ctx, c.to, name, c.work.Mark(name))
			if err != nil {
				return err
			}
			again = !ok
		}
		if again { // the table lacks the entities that an earlier run wrote
			if c.work.Mark(name) != nil {
				c.o.Again(name)
			}
			if err := c.work.Forget(name); err != nil {
				return err
			}
			c.o.resume(c.work)
		}
	}
	do := c.copy
	switch {
	case c.o.Sync:
		do = c.sync
	case c.o.DryRun && Kinds[c.o.Mode] == remote.Insert: // an insert fails if the entity exists, so a dry run must read the target
		do = c.try
	}
	return c.work.Run(ctx, name, c.o.Connections, c.o.Progress, func(ctx context.Context, p *scan.Task) error {
		return do(ctx, name, p)
	})
}

// mark records the key of an entity in the target, by which a later run recognizes the table. If the
// table has such a key already, mark changes nothing.
func (c *copier) mark(table string, k ranges.Key) error {
	if c.o.DryRun {
		return nil
	}
	return c.work.SetMark(table, k)
}

func (o *Copy) resume(w *scan.Work) {
	all := w.Totals()
	o.Progress.Resume(all.Rows())
}

// copy copies a range of a table in batches. It starts where an earlier run stopped.
func (c *copier) copy(ctx context.Context, table string, p *scan.Task) error {
	out := newOutbox(c, table, p)
	for e, err := range p.Entities(ctx, c.from, remote.Query{Table: table, Filter: c.o.Filter, Select: rows.WithKeys(c.o.Select)}) {
		if err == nil {
			c.o.Progress.NearLimit.Look(table, &e)
			err = out.add(ctx, Kinds[c.o.Mode], &e)
		}
		if err != nil {
			return out.stop(err)
		}
	}
	return out.finish(ctx)
}

// writeProgress appends the refused entities to their file. Then it appends a line to the progress
// file, with the state of the range and the length of the file of refused entities.
func (c *copier) writeProgress(table string, p *scan.Task, state progressfile.Line, rejects []rows.Reject) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range rejects {
		c.o.Refused(r.File, r.Line, r.Reason)
	}
	if !c.o.DryRun {
		if err := c.rejected.Add(rejects); err != nil {
			return err
		}
		if err := c.rejected.Sync(); err != nil {
			return err
		}
		state.Rejects = c.rejected.Size
	}
	return c.work.Note(table, p, state)
}
