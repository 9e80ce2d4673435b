package transfer

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"edgetable/adapters/client/remote"
)

// noted is a line of a progress file of work on tables: the ranges of a table, how far
// one of its parts is, that a part lost its end to a new one.
type noted struct {
	Table  string    `json:"table,omitempty"`
	Ranges []Range   `json:"ranges,omitempty"`
	Begun  time.Time `json:"begun,omitzero"`
	Mark   *Key      `json:"mark,omitempty"` // see marked

	Part    int    `json:"part"`
	End     *Range `json:"end,omitempty"`     // of the part, which is a part of its own from now on
	At      *Key   `json:"at,omitempty"`      // the last entity that is done
	Rows    int64  `json:"rows,omitempty"`    // of an export
	Size    int64  `json:"size,omitempty"`    // of its file
	Object  *Part  `json:"object,omitempty"`  // that was stored, instead of a file
	Totals  Totals `json:"totals,omitzero"`   // of a copy
	Rejects int64  `json:"rejects,omitempty"` // bytes of the file of rejects
	Done    bool   `json:"done,omitempty"`
}

// tableWork is work on tables that goes on where the progress file says.
type tableWork struct {
	progress lines
	tables   map[string]*workedTable
	again    bool  // there is earlier work
	rejects  int64 // bytes of the file of rejects
}

// workedTable is a table with its parts, nil until they are known.
type workedTable struct {
	begun time.Time
	parts []*part
	mark  *Key  // nil for none
	first first // write of this run
	scan  *scan // of this run
}

func newWork(tables []string) *tableWork {
	w := &tableWork{progress: (*progressFile)(nil), tables: map[string]*workedTable{}}
	for _, name := range tables {
		w.tables[name] = &workedTable{}
	}
	return w
}

// openWork opens the progress file of work with such options. Without a path there is
// none.
func openWork[T any](path string, options T, tables []string) (w *tableWork, err error) {
	w = newWork(tables)
	if path != "" {
		w.progress, err = openProgress(path, options, w.replay)
	}
	return w, err
}

func (w *tableWork) replay(line []byte) error {
	var l noted
	if err := json.Unmarshal(line, &l); err != nil {
		return err
	}
	w.again = true
	w.rejects = max(w.rejects, l.Rejects)
	t := w.tables[l.Table]
	switch {
	case t == nil:
		return fmt.Errorf("table %q is not part of this work", l.Table)
	case l.Ranges != nil:
		t.begin(l)
		return nil
	case l.Mark != nil:
		t.mark = l.Mark
		return nil
	case l.Part < 0 || l.Part >= len(t.parts):
		return fmt.Errorf("table %s has no part %d", l.Table, l.Part)
	}
	p := t.parts[l.Part]
	if l.End != nil {
		p.span.To, p.span.High = l.End.From, Key{}
		t.parts = append(t.parts, newPart(len(t.parts), *l.End, rankBehind(p, t.parts)))
		return nil
	}
	p.resume(l)
	return nil
}

func (t *workedTable) begin(l noted) {
	t.begun, t.parts, t.mark = l.Begun, nil, nil
	rank := firstRank
	for i, r := range l.Ranges {
		t.parts = append(t.parts, newPart(i, r, rank))
		rank = rankBetween(rank, "")
	}
}

// rows and totals are what the progress file says of all tables.
func (w *tableWork) rows() (n int64) {
	for _, t := range w.tables {
		for _, p := range t.parts {
			n += p.state.Rows
		}
	}
	return n
}

func (w *tableWork) totals() (all Totals) {
	for _, t := range w.tables {
		all.add(t.totals())
	}
	return all
}

func (w *tableWork) rowsOfTotals() int64 {
	all := w.totals()
	return all.rows()
}

func (t *workedTable) totals() (all Totals) {
	for _, p := range t.parts {
		all.add(p.state.Totals)
	}
	return all
}

// begin finds the parts of a table, if they are not known yet. Run comes next.
func (w *tableWork) begin(ctx context.Context, c *remote.Client, table, filter string) error {
	t := w.tables[table]
	t.scan = newScan(probes(c, table))
	if t.parts != nil {
		return nil
	}
	begun := time.Now().UTC().Truncate(time.Second)
	whole, err := wholeTable(ctx, t.scan.probe, filter)
	if err != nil {
		return err
	}
	return w.divided(t, noted{Table: table, Ranges: []Range{whole}, Begun: begun})
}

// divided notes the parts of a table before any work on them.
func (w *tableWork) divided(t *workedTable, l noted) error {
	if err := w.progress.write(l); err != nil {
		return err
	}
	t.begin(l)
	return nil
}

// forget begins a table again.
func (w *tableWork) forget(table string) error {
	t := w.tables[table]
	l := noted{Table: table, Begun: t.begun}
	some := t.mark != nil
	for _, p := range inOrder(t.parts) {
		l.Ranges = append(l.Ranges, p.span)
		some = some || p.state.At != nil || p.state.Done
	}
	if !some {
		return nil
	}
	return w.divided(t, l)
}

// run calls do for the parts of a table that are not done.
func (w *tableWork) run(ctx context.Context, table string, workers int, progress *Progress, do func(ctx context.Context, p *part) error) error {
	t := w.tables[table]
	s := t.scan.of(t.parts)
	s.note = func(p, end *part) error {
		return w.progress.write(noted{Table: table, Part: p.number, End: &end.span})
	}
	progress.begin(s)
	defer progress.end()
	err := s.run(ctx, workers, do)
	t.parts = s.parts
	return err
}

// note writes the state of a part to the progress file, and then to memory.
func (w *tableWork) note(table string, p *part, state noted) error {
	state.Table, state.Part = table, p.number
	if err := w.progress.write(state); err != nil {
		return err
	}
	p.noted(state)
	return nil
}
