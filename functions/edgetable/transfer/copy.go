package transfer

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"edgetable/adapters/client/remote"
)

// CopyCommand says what to copy from one service to another and how. Copies of equal
// commands are the same work.
type CopyCommand struct {
	Tables []string `json:"tables"`
	Source string   `json:"source"` // URL of the account
	Target string   `json:"target"`
	Filter string   `json:"filter,omitempty"`
	Select []string `json:"select,omitempty"`
	Mode   string   `json:"mode"`             // insert, merge, replace or skip
	Sync   bool     `json:"sync,omitempty"`   // write only what differs
	Delete bool     `json:"delete,omitempty"` // of Sync: also delete what the source lacks
}

// Copy is a copy of tables.
type Copy struct {
	CopyCommand
	DryRun bool // of Sync: write nothing, and have no progress file

	Connections  int
	ProgressFile string // file
	Rejects      string // file
	Progress     *Progress
	Begin        func(again bool)                            // gets whether earlier work continues
	Again        func(table string)                          // gets a table that has to be copied again from its beginning
	Refused      func(table string, line int, reason string) // gets each refused entity
}

// copier is a copy under way.
type copier struct {
	o        *Copy
	from, to *remote.Client
	work     *tableWork
	mu       sync.Mutex
	rejected rejectFile
}

// Run copies. After an error, the same call continues where the progress file says; after
// success there is none. Totals are those of the entities that the target has, or had until its
// table was deleted.
func (o *Copy) Run(ctx context.Context, from, to *remote.Client) (totals Totals, err error) {
	file := o.ProgressFile
	if o.DryRun {
		file = ""
	}
	w, err := openWork(file, o.CopyCommand, o.Tables)
	if err != nil {
		return totals, err
	}
	defer func() { err = errors.Join(err, w.progress.close()) }()
	c := &copier{o: o, from: from, to: to, work: w, rejected: rejectFile{path: o.Rejects}}
	o.Progress.tables = len(o.Tables)
	o.Progress.resume(w.rowsOfTotals())
	o.Begin(w.again)
	if !o.DryRun {
		if err := c.rejected.begin(w.rejects); err != nil {
			return w.totals(), err
		}
		defer func() { err = errors.Join(err, c.rejected.close()) }()
	}
	var lost []error
	for _, name := range o.Tables {
		err := c.table(ctx, name)
		if gone(err) {
			lost = append(lost, fmt.Errorf("table %s is not there, or not any more: %w", name, err))
			totals.add(w.tables[name].totals())
			err = w.forget(name) // what the progress file counts may be gone with it
		}
		if err != nil {
			totals.add(w.totals())
			return totals, err
		}
	}
	for _, name := range o.Tables { // somebody may have made them again
		mark := w.tables[name].mark
		ok, err := marked(ctx, to, name, mark)
		if err == nil && !ok {
			lost = append(lost, remade(name, mark))
			totals.add(w.tables[name].totals())
			err = w.forget(name)
		}
		if err != nil {
			totals.add(w.totals())
			return totals, err
		}
	}
	totals.add(w.totals())
	if len(lost) > 0 {
		return totals, errors.Join(lost...)
	}
	return totals, w.progress.remove() // the same command does the work again
}

func (c *copier) table(ctx context.Context, name string) error {
	if err := c.work.begin(ctx, c.from, name, c.o.Filter); err != nil {
		return err
	}
	if !c.o.DryRun {
		again, err := createTable(ctx, c.to, name)
		if err != nil {
			return err
		}
		if !again {
			ok, err := marked(ctx, c.to, name, c.work.tables[name].mark)
			if err != nil {
				return err
			}
			again = !ok
		}
		if again { // it is not the table of an earlier run
			if c.work.tables[name].mark != nil {
				c.o.Again(name)
			}
			if err := c.work.forget(name); err != nil {
				return err
			}
			c.o.Progress.resume(c.work.rowsOfTotals())
		}
	}
	do := c.part
	if c.o.Sync {
		do = c.sync
	}
	return c.work.run(ctx, name, c.o.Connections, c.o.Progress, func(ctx context.Context, p *part) error {
		return do(ctx, name, p)
	})
}

// mark notes an entity that the target has, if it is the first one of its table.
func (c *copier) mark(table string, k Key) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.work.tables[table]; t.mark == nil && !c.o.DryRun {
		k = k.clone()
		if err := c.work.progress.write(noted{Table: table, Mark: &k}); err != nil {
			return err
		}
		t.mark = &k
	}
	return nil
}

// part copies a part of a table, or the rest of it, a batch at a time.
func (c *copier) part(ctx context.Context, table string, p *part) error {
	out := newOutbox(c, table, p)
	for e, err := range p.entities(ctx, c.from, remote.Query{Table: table, Filter: c.o.Filter, Select: WithKeys(c.o.Select)}) {
		if err == nil {
			err = out.add(ctx, Kinds[c.o.Mode], &e)
		}
		if err != nil {
			return out.stopped(err)
		}
	}
	return out.end(ctx)
}

// note writes the entities that the target refused to their file, and how far a
// part is to the progress file, which knows the length of that file.
func (c *copier) note(table string, p *part, state noted, rejects []reject) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range rejects {
		c.o.Refused(r.file, r.line, r.reason)
	}
	if err := c.rejected.add(rejects); err != nil {
		return err
	}
	if err := c.rejected.sync(); err != nil {
		return err
	}
	state.Rejects = c.rejected.size
	return c.work.note(table, p, state)
}
