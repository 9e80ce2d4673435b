package scan

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/transfer/progressfile"
	"edgetable/functions/edgetable/transfer/ranges"
)

// Work is the work of a command on several tables. A later run can resume the work from a progress
// file.
type Work struct {
	lines   progressfile.Lines
	tables  map[string]*workedTable
	again   bool  // an earlier run has recorded some work
	rejects int64 // length in bytes of the file of rejects
}

// workedTable is a table with its ranges. tasks is nil before the ranges are known.
type workedTable struct {
	begun time.Time
	tasks []*Task
	scan  *scan // the division of the table into ranges, in this run

	mu   sync.Mutex
	mark *ranges.Key // key of the first written entity; nil before the first write
}

// New returns a Work for these tables, without a progress file.
func New(tables []string) *Work {
	w := &Work{lines: (*progressfile.File)(nil), tables: map[string]*workedTable{}}
	for _, name := range tables {
		w.tables[name] = &workedTable{}
	}
	return w
}

// Open returns a Work for these tables. It opens the progress file at path, which must have the
// same options. If path is "", Open uses no progress file.
func Open[T any](path string, options T, tables []string) (w *Work, err error) {
	w = New(tables)
	if path != "" {
		w.lines, err = progressfile.Open(path, options, w.Replay)
	}
	return w, err
}

// KeepIn sets the log that records the progress.
func (w *Work) KeepIn(lines progressfile.Lines) { w.lines = lines }

// Again reports whether an earlier run has recorded some work.
func (w *Work) Again() bool { return w.again }

// Rejects returns the length of the file of rejected rows that earlier runs recorded.
func (w *Work) Rejects() int64 { return w.rejects }

// Close closes the progress file.
func (w *Work) Close() error { return w.lines.Close() }

// Remove removes the progress file.
func (w *Work) Remove() error { return w.lines.Remove() }

// recordedTable returns the table with a name that the progress file contains.
func (w *Work) recordedTable(name string) (*workedTable, error) {
	t := w.tables[name]
	if t == nil {
		return nil, fmt.Errorf("the progress file names the table %q, which is not a table of this run", name)
	}
	return t, nil
}

// Replay applies a line that an earlier run recorded.
func (w *Work) Replay(line []byte) error {
	l, err := progressfile.ParseLine(line)
	if err != nil {
		return err
	}
	w.again = true
	w.rejects = max(w.rejects, l.Rejects)
	for name, k := range l.Marks {
		t, err := w.recordedTable(name)
		if err != nil {
			return err
		}
		t.mark = k
	}
	if l.Marks != nil {
		return nil
	}
	t, err := w.recordedTable(l.Table)
	switch {
	case err != nil:
		return err
	case l.Ranges != nil:
		t.begin(l)
		return nil
	case l.Range < 0 || l.Range >= len(t.tasks):
		return fmt.Errorf("table %s has no range %d", l.Table, l.Range)
	}
	one := t.tasks[l.Range]
	if l.End != nil {
		one.cutAt(l.End.From)
		t.tasks = append(t.tasks, newTask(len(t.tasks), *l.End, rankBehind(one, t.tasks)))
		return nil
	}
	one.resume(l)
	return nil
}

func (t *workedTable) begin(l progressfile.Line) {
	t.begun, t.tasks, t.mark = l.Begun, nil, nil
	rank := ranges.FirstRank
	for i, r := range l.Ranges {
		t.tasks = append(t.tasks, newTask(i, r, rank))
		rank = ranges.RankBetween(rank, "")
	}
}

// Tasks returns the ranges of a table in key order.
func (w *Work) Tasks(table string) []*Task { return InOrder(w.tables[table].tasks) }

// Begun returns the time at which the work on a table began.
func (w *Work) Begun(table string) time.Time { return w.tables[table].begun }

// Rows returns the number of exported rows of these tables.
func (w *Work) Rows(tables ...string) (n int64) {
	for _, name := range tables {
		for _, one := range w.tables[name].tasks {
			n += one.State().Rows
		}
	}
	return n
}

// Totals returns the sum of the totals of these tables. Without tables, it uses all tables.
func (w *Work) Totals(tables ...string) (all progressfile.Totals) {
	if len(tables) == 0 {
		tables = slices.Collect(maps.Keys(w.tables))
	}
	for _, name := range tables {
		for _, one := range w.tables[name].tasks {
			all.Add(one.State().Totals)
		}
	}
	return all
}

// Mark returns the key of the first entity that was written to a table. It returns nil if no entity
// was written.
func (w *Work) Mark(table string) *ranges.Key {
	t := w.tables[table]
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mark
}

// SetMark records the key of the first entity that was written to a table. A later run recognizes
// the table by this entity. If the table has such a key already, SetMark does nothing.
func (w *Work) SetMark(table string, k ranges.Key) error {
	t := w.tables[table]
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mark != nil {
		return nil
	}
	k = k.Clone()
	if err := w.lines.Write(progressfile.Line{Marks: map[string]*ranges.Key{table: &k}}); err != nil {
		return err
	}
	t.mark = &k
	return nil
}

// Begin prepares the work on a table. It finds the range of the table, unless an earlier run has
// recorded the range. Call Run after Begin.
func (w *Work) Begin(ctx context.Context, c *remote.Client, table, filter string) error {
	t := w.tables[table]
	t.scan = newScan(ranges.Probes(c, table))
	if t.tasks != nil {
		return nil
	}
	begun := time.Now().UTC().Truncate(time.Second)
	whole, err := ranges.WholeTable(ctx, t.scan.probe, filter)
	if err != nil {
		return err
	}
	return w.setRanges(t, progressfile.Line{Table: table, Ranges: []ranges.Range{whole}, Begun: begun})
}

// setRanges records the ranges of a table when a command begins to read the table, or starts over.
func (w *Work) setRanges(t *workedTable, l progressfile.Line) error {
	if err := w.lines.Write(l); err != nil {
		return err
	}
	t.begin(l)
	return nil
}

// Forget discards the recorded progress of a table, so that the work on the table starts over.
func (w *Work) Forget(table string) error {
	t := w.tables[table]
	l := progressfile.Line{Table: table, Begun: t.begun}
	some := t.mark != nil
	for _, one := range InOrder(t.tasks) {
		l.Ranges = append(l.Ranges, one.span)
		state := one.State()
		some = some || state.At != nil || state.Done
	}
	if !some {
		return nil
	}
	return w.setRanges(t, l)
}

// Run calls the callback for each unfinished range of a table, in several workers.
func (w *Work) Run(ctx context.Context, table string, workers int, progress *Progress, do func(ctx context.Context, t *Task) error) error {
	t := w.tables[table]
	s := t.scan.setTasks(t.tasks)
	s.note = func(one, end *Task) error {
		return w.lines.Write(progressfile.Line{Table: table, Range: one.number, End: &end.span})
	}
	progress.begin(s)
	defer progress.end()
	err := s.run(ctx, workers, do)
	t.tasks = s.tasks
	return err
}

// Note records the state of a range in the progress file, and then in memory.
func (w *Work) Note(table string, t *Task, state progressfile.Line) error {
	state.Table, state.Range = table, t.number
	if err := w.lines.Write(state); err != nil {
		return err
	}
	t.setState(state)
	return nil
}
