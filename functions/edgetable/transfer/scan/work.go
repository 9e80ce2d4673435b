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

// Work is the state of a command that reads several tables. A progress file records it, so that a later run can resume.
type Work struct {
	lines   progressfile.Lines
	tables  map[string]*workedTable
	again   bool  // true if an earlier run recorded progress
	rejects int64 // size in bytes of the file of rejects
}

// workedTable is a table with its ranges, which are nil until they are known.
type workedTable struct {
	begun time.Time
	tasks []*Task
	scan  *scan // scan of the current run

	mu   sync.Mutex
	mark *ranges.Key // mark of the table, or nil
}

// New returns a Work for the tables, without a progress file.
func New(tables []string) *Work {
	w := &Work{lines: (*progressfile.File)(nil), tables: map[string]*workedTable{}}
	for _, name := range tables {
		w.tables[name] = &workedTable{}
	}
	return w
}

// Open returns a Work for the tables with the progress file at path. If path is "", the Work has no progress file. Open
// fails if the file belongs to a command with other options.
func Open[T any](path string, options T, tables []string) (w *Work, err error) {
	w = New(tables)
	if path != "" {
		w.lines, err = progressfile.Open(path, options, w.Replay)
	}
	return w, err
}

// KeepIn sets the log in which the progress is recorded.
func (w *Work) KeepIn(lines progressfile.Lines) { w.lines = lines }

// HasProgress reports whether an earlier run recorded progress.
func (w *Work) HasProgress() bool { return w.again }

// Rejects returns the size in bytes of the file of rejects, as recorded by earlier runs.
func (w *Work) Rejects() int64 { return w.rejects }

// Close closes the progress file.
func (w *Work) Close() error { return w.lines.Close() }

// Remove removes the progress file.
func (w *Work) Remove() error { return w.lines.Remove() }

// recordedTable returns the table with the given name, which is from the progress file. It returns an error if this run
// does not have the table.
func (w *Work) recordedTable(name string) (*workedTable, error) {
	t := w.tables[name]
	if t == nil {
		return nil, fmt.Errorf("the progress file names the table %q, which is not a table of this run", name)
	}
	return t, nil
}

// Replay applies a progress line of an earlier run.
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

// StartTime returns the time at which a run first began to read a table.
func (w *Work) StartTime(table string) time.Time { return w.tables[table].begun }

// Rows returns the number of exported rows of the tables.
func (w *Work) Rows(tables ...string) (n int64) {
	for _, name := range tables {
		for _, one := range w.tables[name].tasks {
			n += one.State().Rows
		}
	}
	return n
}

// Totals returns the totals of the given tables, or of all tables if none are given.
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

// Mark returns the mark of a table, which is the key of the first entity written to it. It returns nil if the table has
// no mark.
func (w *Work) Mark(table string) *ranges.Key {
	t := w.tables[table]
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mark
}

// SetMark records k as the mark of a table, unless the table already has one.
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

// Begin determines the range of a table, unless an earlier run recorded ranges. It must be called before Run.
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

// setRanges records the ranges of a table at the start, or when the table must be read again.
func (w *Work) setRanges(t *workedTable, l progressfile.Line) error {
	if err := w.lines.Write(l); err != nil {
		return err
	}
	t.begin(l)
	return nil
}

// Forget discards the progress of a table, so that the table is read again from the beginning.
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

// Run calls the callback concurrently for the unfinished ranges of a table.
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

// Note records the state of a range in the progress file and in memory.
func (w *Work) Note(table string, t *Task, state progressfile.Line) error {
	state.Table, state.Range = table, t.number
	if err := w.lines.Write(state); err != nil {
		return err
	}
	t.setState(state)
	return nil
}
