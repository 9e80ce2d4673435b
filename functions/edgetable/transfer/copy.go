package transfer

import (
	"context"
	"errors"
	"fmt"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/transfer/progressfile"
	"edgetable/functions/edgetable/transfer/rows"
	"edgetable/functions/edgetable/transfer/scan"
)

// Run copies the tables. After an error, the same command resumes from the progress file, which Run removes at the end.
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
	o.Begin(w.HasProgress())
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
			err = w.Forget(name) // the recorded progress may count entities of the deleted table as copied
		}
		if err != nil {
			totals.Add(w.Totals())
			return totals, err
		}
	}
	for _, name := range o.Tables { // check that no table was deleted and created again during the copy
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
	return totals, w.Remove() // without the progress file, the next run of the command copies everything again
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
		if again { // the target table is new and lacks the entities that an earlier run wrote
			if c.work.Mark(name) != nil {
				c.o.OnRestart(name)
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
		do = c.syncRange
	}
	return c.work.Run(ctx, name, c.o.Connections, c.o.Progress, func(ctx context.Context, p *scan.Task) error {
		return do(ctx, name, p)
	})
}

func (o *Copy) resume(w *scan.Work) {
	all := w.Totals()
	o.Progress.Resume(all.Rows())
}

// copy copies a range of a table in batches, from the point that an earlier run reached.
func (c *copier) copy(ctx context.Context, table string, p *scan.Task) error {
	out := newOutbox(c, table, p)
	for e, err := range p.Entities(ctx, c.from, remote.Query{Table: table, Filter: c.o.Filter, Select: rows.WithKeys(c.o.Select)}) {
		if err == nil {
			c.o.Progress.NearLimit.Count(table, &e)
			err = out.add(ctx, Kinds[c.o.Mode], &e)
		}
		if err != nil {
			return out.stop(err)
		}
	}
	return out.finish(ctx)
}
