package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"edgetable/core/payload"
	"edgetable/functions/edgetable/remote"
)

// Copy says what to copy from one service to another and how.
type Copy struct {
	Tables []string `json:"tables"`
	Source string   `json:"source"` // URL of the account
	Target string   `json:"target"`
	Filter string   `json:"filter,omitempty"`
	Select []string `json:"select,omitempty"`
	Mode   string   `json:"mode"` // insert, merge, replace or skip

	Connections int                                         `json:"-"`
	Journal     string                                      `json:"-"` // file
	Rejects     string                                      `json:"-"` // file
	Rows        *atomic.Int64                               `json:"-"` // entities that are done, those of earlier runs too
	Parts, Done *atomic.Int64                               `json:"-"` // ranges there are, and those that are complete
	Begin       func(again bool)                            `json:"-"` // gets whether earlier work continues
	Refused     func(table string, line int, reason string) `json:"-"` // gets each refused entity
}

// copied is a line of the journal: the ranges of a table, how far one of them is,
// or the end.
type copied struct {
	Table  string  `json:"table,omitempty"`
	Ranges []Range `json:"ranges,omitempty"`

	Part     int    `json:"part"`
	PK       string `json:"pk,omitempty"` // the last entity that was copied
	RK       string `json:"rk,omitempty"`
	Totals   Totals `json:"totals"` // of the range
	Done     bool   `json:"done,omitempty"`
	Finished bool   `json:"finished,omitempty"`
}

// copyNote is after how many entities of a range the journal gets a line.
const copyNote = 2000

// copyTable is a table with the state of its ranges.
type copyTable struct {
	ranges []Range
	states []copied
}

// copier is a copy under way.
type copier struct {
	o        *Copy
	from     *remote.Client
	to       writer
	journal  *journal
	mu       sync.Mutex
	rejected rejectFile
}

// Run copies. After an error, the same call continues where the journal says.
func (o *Copy) Run(ctx context.Context, from, to *remote.Client) (totals Totals, err error) {
	tables := map[string]*copyTable{}
	for _, name := range o.Tables {
		tables[name] = &copyTable{}
	}
	again, finished := false, false
	options := Copy{Tables: o.Tables, Source: o.Source, Target: o.Target, Filter: o.Filter, Select: o.Select, Mode: o.Mode}
	j, err := openJournal(o.Journal, options, func(line []byte) error {
		var l copied
		if err := json.Unmarshal(line, &l); err != nil {
			return err
		}
		again = true
		t := tables[l.Table]
		switch {
		case l.Finished:
			finished = true
		case t == nil:
			return fmt.Errorf("table %q is not part of the copy", l.Table)
		case l.Ranges != nil:
			*t = copyTable{l.Ranges, make([]copied, len(l.Ranges))}
		case l.Part < 0 || l.Part >= len(t.states):
			return fmt.Errorf("table %s has no part %d", l.Table, l.Part)
		default:
			t.states[l.Part] = l
		}
		return nil
	})
	if err != nil {
		return totals, err
	}
	defer func() { err = errors.Join(err, j.close()) }()
	sum := func() (all Totals) {
		for _, t := range tables {
			for i := range t.states {
				all.add(t.states[i].Totals)
			}
		}
		return all
	}
	totals = sum()
	o.Rows.Add(totals.rows())
	if finished {
		return totals, ErrImported
	}
	o.Begin(again)
	c := &copier{o: o, from: from, journal: j, to: writer{to, o.Mode}, rejected: rejectFile{path: o.Rejects}}
	if again {
		if err := c.rejected.keep(); err != nil {
			return totals, err
		}
	}
	defer func() { err = errors.Join(err, c.rejected.close()) }()
	for _, name := range o.Tables {
		if err := c.table(ctx, name, tables[name]); err != nil {
			return sum(), err
		}
	}
	return sum(), j.write(copied{Finished: true})
}

func (t *Totals) rows() int64 { return t.Written + t.Same + t.Skipped + t.Rejected }

func (c *copier) table(ctx context.Context, name string, t *copyTable) error {
	if t.ranges == nil {
		ranges, err := Split(ctx, c.from, name, c.o.Filter, splits)
		if err != nil {
			return err
		}
		*t = copyTable{ranges, make([]copied, len(ranges))}
		if err := c.journal.write(copied{Table: name, Ranges: ranges}); err != nil {
			return err
		}
	}
	if _, err := c.to.c.CreateTable(ctx, name); err != nil {
		var answer *remote.Error
		if !errors.As(err, &answer) || answer.Status != 403 {
			return err
		}
	}
	c.o.Parts.Add(int64(len(t.ranges)))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(c.o.Connections)
	for i := range t.ranges {
		if t.states[i].Done {
			c.o.Done.Add(1)
			continue
		}
		g.Go(func() error {
			if err := c.part(ctx, name, i, t.ranges[i], &t.states[i]); err != nil {
				return err
			}
			c.o.Done.Add(1)
			return nil
		})
	}
	return g.Wait()
}

// part copies a range, or the rest of it, a batch at a time.
func (c *copier) part(ctx context.Context, name string, n int, r Range, state *copied) error {
	ranges := []Range{r}
	if state.PK != "" || state.RK != "" || state.Totals != (Totals{}) {
		ranges = r.Behind(state.PK, state.RK)
	}
	source := &Source{Table: name, File: c.o.Source + "/" + name}
	b := &batch{source: source}
	var pending int64 // entities since the last line of the journal
	flush := func() error {
		if len(b.ops) == 0 {
			return nil
		}
		last := &b.ops[len(b.ops)-1]
		if err := c.to.write(ctx, b, b.ops, b.lines); err != nil {
			return err
		}
		b.totals.Rejected = int64(len(b.rejects))
		if err := c.refuse(b.rejects); err != nil {
			return err
		}
		next := *state
		next.Table, next.Part, next.PK, next.RK = name, n, last.PartitionKey, last.RowKey
		next.Totals.add(b.totals)
		pending += b.totals.rows()
		c.o.Rows.Add(b.totals.rows())
		*state = next
		*b = batch{source: source, ops: b.ops[:0], lines: b.lines[:0]}
		if pending < copyNote {
			return nil
		}
		pending = 0
		return c.journal.write(next)
	}
	for _, r := range ranges {
		for e, err := range c.from.Entities(ctx, remote.Query{Table: name, Filter: And(r.Filter(), c.o.Filter), Select: WithKeys(c.o.Select)}) {
			if err != nil {
				return err
			}
			body := payload.AppendJSON(nil, e.PartitionKey, e.RowKey, 0, e.Properties)
			op := remote.Operation{Kind: importKinds[c.o.Mode], PartitionKey: strings.Clone(e.PartitionKey), RowKey: strings.Clone(e.RowKey), Body: body}
			if len(b.ops) > 0 && (len(b.ops) == remote.MaxOperations || b.ops[0].PartitionKey != op.PartitionKey || b.weight+op.Weight() > remote.MaxWeight) {
				if err := flush(); err != nil {
					return err
				}
			}
			b.ops, b.lines = append(b.ops, op), append(b.lines, 0)
			b.weight += op.Weight()
		}
	}
	if err := flush(); err != nil {
		return err
	}
	state.Table, state.Part, state.Done = name, n, true
	return c.journal.write(state)
}

// refuse writes the entities that the target refuses to the file.
func (c *copier) refuse(list []reject) error {
	if len(list) == 0 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range list {
		c.o.Refused(r.file, r.line, r.reason)
	}
	return errors.Join(c.rejected.add(list), c.rejected.sync())
}
