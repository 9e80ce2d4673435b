package transfer

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"edgetable/adapters/client/remote"
)

// Copy says what to copy from one service to another and how.
type Copy struct {
	Tables []string `json:"tables"`
	Source string   `json:"source"` // URL of the account
	Target string   `json:"target"`
	Filter string   `json:"filter,omitempty"`
	Select []string `json:"select,omitempty"`
	Mode   string   `json:"mode"`             // insert, merge, replace or skip
	Sync   bool     `json:"sync,omitempty"`   // write only what differs
	Delete bool     `json:"delete,omitempty"` // of Sync: also delete what the source lacks
	DryRun bool     `json:"dryRun,omitempty"` // of Sync: write nothing, and have no journal

	Connections int                                         `json:"-"`
	Journal     string                                      `json:"-"` // file
	Rejects     string                                      `json:"-"` // file
	Progress    *Progress                                   `json:"-"`
	Begin       func(again bool)                            `json:"-"` // gets whether earlier work continues
	Refused     func(table string, line int, reason string) `json:"-"` // gets each refused entity
}

// copier is a copy under way.
type copier struct {
	o        *Copy
	from, to *remote.Client
	work     *tableWork
	mu       sync.Mutex
	rejected rejectFile
}

// Run copies. After an error, the same call continues where the journal says.
func (o *Copy) Run(ctx context.Context, from, to *remote.Client) (totals Totals, err error) {
	options := Copy{Tables: o.Tables, Source: o.Source, Target: o.Target, Filter: o.Filter, Select: o.Select, Mode: o.Mode, Sync: o.Sync, Delete: o.Delete}
	if o.DryRun {
		o.Journal = ""
	}
	w, err := openWork(o.Journal, options, o.Tables)
	if err != nil {
		return totals, err
	}
	defer func() { err = errors.Join(err, w.journal.close()) }()
	totals = w.totals()
	o.Progress.tables = len(o.Tables)
	o.Progress.resume(totals.rows())
	if w.all {
		return totals, ErrImported
	}
	o.Begin(w.again)
	c := &copier{o: o, from: from, to: to, work: w, rejected: rejectFile{path: o.Rejects}}
	if !o.DryRun {
		if err := c.rejected.begin(w.rejects); err != nil {
			return totals, err
		}
		defer func() { err = errors.Join(err, c.rejected.close()) }()
	}
	var lost []error
	for _, name := range o.Tables {
		err := c.table(ctx, name)
		if gone(err) {
			lost = append(lost, fmt.Errorf("table %s is not there, or not any more: %w", name, err))
			err = w.forget(name) // what the journal counts may be gone with it
		}
		if err != nil {
			return w.totals(), err
		}
	}
	if len(lost) > 0 {
		return w.totals(), errors.Join(lost...)
	}
	if o.Sync {
		return w.totals(), w.journal.remove() // what changes from now on is for the next run
	}
	return w.totals(), w.journal.write(noted{All: true})
}

func (c *copier) table(ctx context.Context, name string) error {
	if err := c.work.begin(ctx, c.from, name, c.o.Filter); err != nil {
		return err
	}
	if !c.o.DryRun {
		made, err := createTable(ctx, c.to, name)
		if err != nil {
			return err
		}
		if made { // an earlier run's was deleted
			if err := c.work.forget(name); err != nil {
				return err
			}
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
// part is to the journal, which knows the length of that file.
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
