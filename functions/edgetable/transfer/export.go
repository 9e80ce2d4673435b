package transfer

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"edgetable/core/payload"
	"edgetable/functions/edgetable/remote"
)

// Export says what to export and how.
type Export struct {
	Tables   []string `json:"tables"`
	Source   string   `json:"source"` // URL of the account
	Filter   string   `json:"filter,omitempty"`
	Select   []string `json:"select,omitempty"`
	Format   string   `json:"format"`   // jsonl, csv or csv-plain
	Compress string   `json:"compress"` // none, gzip or zstd
	Excel    bool     `json:"excel,omitempty"`

	Connections int              `json:"-"`
	Rows        *atomic.Int64    `json:"-"` // entities that were read, those of earlier runs too
	Parts, Done *atomic.Int64    `json:"-"` // ranges there are, and those that are complete
	Begin       func(again bool) `json:"-"` // gets whether earlier work continues
}

// frameSize is how much text is written until the journal notes it, and how much
// may have to be read again after an interruption. It depends on the entities
// alone, so that the same table gives the same file.
const frameSize = 8 << 20

// ErrFinished is why ToDirectory writes nothing: the directory has all of it.
var ErrFinished = errors.New("the export is finished already")

// exported is a line of the journal: the ranges of a table, or how far one of
// them is.
type exported struct {
	Table  string    `json:"table"`
	Ranges []Range   `json:"ranges,omitempty"`
	Begun  time.Time `json:"begun,omitzero"`

	Part int    `json:"part"`
	Rows int64  `json:"rows,omitempty"`
	Size int64  `json:"size,omitempty"` // of the file
	PK   string `json:"pk,omitempty"`   // the last entity in the file
	RK   string `json:"rk,omitempty"`
	Done bool   `json:"done,omitempty"`
}

// exportTable is a table with the state of its ranges.
type exportTable struct {
	ranges []Range
	states []exported
	begun  time.Time
}

func (t *exportTable) rows() (n int64) {
	for i := range t.states {
		n += t.states[i].Rows
	}
	return n
}

// ToDirectory exports to a directory: a file for each range of keys, then the
// manifest. After an error, the same call continues where the journal says.
func (o *Export) ToDirectory(ctx context.Context, c *remote.Client, dir string) (m *Manifest, err error) {
	if m, err := readManifest(dir); err != nil {
		return nil, err
	} else if m != nil {
		return m, errors.Join(ErrFinished, tidy(dir))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if err := o.mayUse(dir); err != nil {
		return nil, err
	}
	tables := map[string]*exportTable{}
	for _, name := range o.Tables {
		tables[name] = &exportTable{}
	}
	again := false
	j, err := openJournal(filepath.Join(dir, journalName), *o.options(), func(line []byte) error {
		var l exported
		if err := json.Unmarshal(line, &l); err != nil {
			return err
		}
		t := tables[l.Table]
		switch {
		case t == nil:
			return fmt.Errorf("table %q is not part of the export", l.Table)
		case l.Ranges != nil:
			t.ranges, t.states, t.begun = l.Ranges, make([]exported, len(l.Ranges)), l.Begun
			for i := range t.states {
				t.states[i] = exported{Table: l.Table, Part: i}
			}
		case l.Part < 0 || l.Part >= len(t.states):
			return fmt.Errorf("table %s has no part %d", l.Table, l.Part)
		default:
			o.Rows.Add(l.Rows - t.states[l.Part].Rows)
			t.states[l.Part] = l
			again = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, j.close()) }()
	o.Begin(again)
	for _, name := range o.Tables {
		if err := o.table(ctx, c, dir, name, tables[name], j); err != nil {
			n := int64(0) // what the next run continues from
			for _, t := range tables {
				n += t.rows()
			}
			o.Rows.Store(n)
			return nil, err
		}
	}
	return o.finish(dir, tables)
}

// Begun returns the tables of the export in a directory that is not finished, nil
// if there is none.
func Begun(dir string) []string {
	text, err := os.ReadFile(filepath.Join(dir, journalName))
	if err != nil {
		return nil
	}
	first, _, _ := bytes.Cut(text, []byte("\n"))
	var o Export
	if json.Unmarshal(first, &o) != nil {
		return nil
	}
	return o.Tables
}

// options is the part of o that must be the same when work goes on.
func (o *Export) options() *Export {
	return &Export{Tables: o.Tables, Source: o.Source, Filter: o.Filter, Select: o.Select, Format: o.Format, Compress: o.Compress, Excel: o.Excel}
}

// mayUse refuses a directory with something else in it.
func (o *Export) mayUse(dir string) error {
	list, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(list) > 0 && !slices.ContainsFunc(list, func(e os.DirEntry) bool { return e.Name() == journalName }) {
		return fmt.Errorf("%s is not empty and has no export that could go on: name another directory", dir)
	}
	return nil
}

// Remove removes an export from a directory, finished or not, and nothing else.
func Remove(dir string, tables []string) error {
	for _, name := range []string{ManifestName, journalName} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	for _, table := range tables {
		parts, err := filepath.Glob(filepath.Join(dir, table, "part-*"))
		if err != nil {
			return err
		}
		for _, part := range parts {
			if err := os.Remove(part); err != nil {
				return err
			}
		}
		_ = os.Remove(filepath.Join(dir, table)) // it may have files of others
	}
	return nil
}

func (o *Export) table(ctx context.Context, c *remote.Client, dir, name string, t *exportTable, j *journal) error {
	if t.ranges == nil {
		t.begun = time.Now().UTC().Truncate(time.Second)
		ranges, err := Split(ctx, c, name, o.Filter, splits)
		if err != nil {
			return err
		}
		t.ranges, t.states = ranges, make([]exported, len(ranges))
		for i := range t.states {
			t.states[i] = exported{Table: name, Part: i}
		}
		if err := j.write(exported{Table: name, Ranges: ranges, Begun: t.begun}); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
		return err
	}
	o.Parts.Add(int64(len(t.ranges)))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(o.Connections)
	for i := range t.ranges {
		if t.states[i].Done {
			written, _ := o.written(name, i)
			if err := os.Truncate(filepath.Join(dir, filepath.FromSlash(written)), t.states[i].Size); err != nil {
				return err
			}
			o.Done.Add(1)
			continue
		}
		g.Go(func() error {
			if err := o.part(ctx, c, dir, t.ranges[i], &t.states[i], j); err != nil {
				return err
			}
			o.Done.Add(1)
			return nil
		})
	}
	return g.Wait()
}

// spoolEnding is that of the files from which those of CSV are made.
const spoolEnding = ".spool"

// file returns the name of a part, below the directory.
func (o *Export) file(table string, part int) string {
	name := fmt.Sprintf("%s/part-%04d.", table, part)
	if o.Format == "jsonl" {
		return name + "jsonl" + endings[o.Compress]
	}
	return name + "csv" + endings[o.Compress]
}

// written returns the name of the file to which entities are written at first:
// CSV has to know all columns before its first line.
func (o *Export) written(table string, part int) (name, compress string) {
	name = o.file(table, part)
	if o.Format == "jsonl" {
		return name, o.Compress
	}
	return name + spoolEnding, "none"
}

// part reads a range into its file, or what the file lacks.
func (o *Export) part(ctx context.Context, c *remote.Client, dir string, r Range, state *exported, j *journal) (err error) {
	name, compress := o.written(state.Table, state.Part)
	f, err := os.OpenFile(filepath.Join(dir, filepath.FromSlash(name)), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Truncate(state.Size); err != nil {
		return err
	}
	if _, err := f.Seek(state.Size, io.SeekStart); err != nil {
		return err
	}
	out := newFrames(f, compress)
	ranges := []Range{r}
	if state.Rows > 0 {
		ranges = r.Behind(state.PK, state.RK)
	}
	var text []byte
	rows, framed := state.Rows, 0 // framed is how much text went out since the journal's last line
	var pk, rk []byte             // of the last entity in text
	flush := func() error {
		_, err := out.Write(text)
		framed += len(text)
		text = text[:0]
		return err
	}
	note := func(done bool) error {
		if err := errors.Join(flush(), out.end(), f.Sync()); err != nil {
			return err
		}
		size, err := f.Seek(0, io.SeekCurrent)
		if err != nil {
			return err
		}
		*state = exported{Table: state.Table, Part: state.Part, Rows: rows, Size: size, PK: string(pk), RK: string(rk), Done: done}
		framed = 0
		return j.write(state)
	}
	for _, r := range ranges {
		for e, err := range c.Entities(ctx, remote.Query{Table: state.Table, Filter: And(r.Filter(), o.Filter), Select: WithKeys(o.Select)}) {
			if err != nil {
				return err
			}
			text = append(payload.AppendJSON(text, e.PartitionKey, e.RowKey, e.Timestamp, e.Properties), '\n')
			pk, rk = append(pk[:0], e.PartitionKey...), append(rk[:0], e.RowKey...)
			rows++
			o.Rows.Add(1)
			if len(text) < 256<<10 {
				continue
			}
			if err := flush(); err != nil {
				return err
			}
			if framed >= frameSize {
				if err := note(false); err != nil {
					return err
				}
			}
		}
	}
	return note(true)
}

// finish makes the files of CSV and writes the manifest, after which the export
// is complete.
func (o *Export) finish(dir string, tables map[string]*exportTable) (*Manifest, error) {
	m := &Manifest{Edgetable: manifestVersion, Source: o.Source, Format: o.Format, Filter: o.Filter, Select: o.Select, Tables: []ManifestTable{}}
	for _, name := range o.Tables {
		t := tables[name]
		if begun := t.begun.Format(time.RFC3339); m.Begun == "" || begun < m.Begun {
			m.Begun = begun
		}
		var all columns
		if o.Format != "jsonl" {
			for i := range t.states {
				written, _ := o.written(name, i)
				if err := o.collect(filepath.Join(dir, filepath.FromSlash(written)), &all); err != nil {
					return nil, err
				}
			}
		}
		table := ManifestTable{Name: name, Parts: []Part{}}
		for i := range t.states {
			file := filepath.Join(dir, filepath.FromSlash(o.file(name, i)))
			if t.states[i].Rows == 0 && (i > 0 || t.rows() > 0) { // an empty table has one file
				if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
					return nil, err
				}
				continue
			}
			if o.Format != "jsonl" {
				if err := o.makeCSV(file+spoolEnding, file, all.names); err != nil {
					return nil, err
				}
			}
			bytes, sum, err := checksum(file)
			if err != nil {
				return nil, err
			}
			table.Rows += t.states[i].Rows
			table.Parts = append(table.Parts, Part{File: o.file(name, i), Rows: t.states[i].Rows, Bytes: bytes, SHA256: sum})
		}
		if err := syncDir(filepath.Join(dir, name)); err != nil {
			return nil, err
		}
		m.Tables = append(m.Tables, table)
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, err
	}
	if err := writeFile(filepath.Join(dir, ManifestName), append(text, '\n')); err != nil {
		return nil, err
	}
	return m, tidy(dir)
}

// tidy removes what a finished export does not need.
func tidy(dir string) error {
	spools, err := filepath.Glob(filepath.Join(dir, "*", "part-*"+spoolEnding))
	for _, old := range append(spools, filepath.Join(dir, journalName)) {
		if e := os.Remove(old); e != nil && !os.IsNotExist(e) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// collect adds the columns of a spooled file.
func (o *Export) collect(spool string, all *columns) error {
	if o.Select != nil {
		for _, name := range WithKeys(o.Select)[2:] {
			all.add(name)
		}
		return nil
	}
	return entities(spool, func(e payload.Received) error {
		all.note(&e)
		return nil
	})
}

// makeCSV makes a file of CSV from a spooled one.
func (o *Export) makeCSV(spool, file string, names []string) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Sync(), f.Close()) }()
	out := newFrames(f, o.Compress)
	return errors.Join(o.convert(spool, out, names), out.end())
}

// convert writes a spooled file as CSV.
func (o *Export) convert(spool string, out io.Writer, names []string) error {
	w := newCSVWriter(names, o.Format == "csv", o.Excel)
	text := w.appendHead(nil)
	err := entities(spool, func(e payload.Received) (err error) {
		if text = w.append(text, &e); len(text) >= 256<<10 {
			_, err = out.Write(text)
			text = text[:0]
		}
		return err
	})
	if err == nil {
		_, err = out.Write(text)
	}
	return err
}

// entities reads a file of ours.
func entities(file string, do func(e payload.Received) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := newLineReader(f)
	var r payload.Reader
	for {
		line, err := lines.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s line %d: %w", file, lines.number, err)
		}
		e, err := r.Entity(line)
		if err != nil {
			return fmt.Errorf("%s line %d: %w", file, lines.number, err)
		}
		if err := do(e); err != nil {
			return err
		}
	}
}

// ToWriter exports one table as a stream, in the order of its keys.
func (o *Export) ToWriter(ctx context.Context, c *remote.Client, w io.Writer) (err error) {
	out := newFrames(w, o.Compress)
	defer func() { err = errors.Join(err, out.end()) }()
	if o.Format != "jsonl" && o.Select == nil {
		return o.spooled(ctx, c, out)
	}
	p := NewPrinter(out, o.Format, o.Select)
	p.excel = o.Excel
	for e, err := range o.read(ctx, c) {
		if err == nil {
			err = p.Print(e)
		}
		if err != nil {
			return errors.Join(err, p.w.Flush())
		}
		o.Rows.Add(1)
	}
	return p.Close()
}

func (o *Export) read(ctx context.Context, c *remote.Client) iter.Seq2[payload.Received, error] {
	return c.Entities(ctx, remote.Query{Table: o.Tables[0], Filter: o.Filter, Select: WithKeys(o.Select)})
}

// spooled keeps the entities in a file until all columns are known.
func (o *Export) spooled(ctx context.Context, c *remote.Client, out io.Writer) (err error) {
	f, err := os.CreateTemp("", "edgetable-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	w := bufio.NewWriterSize(f, 256<<10)
	var all columns
	var line []byte
	for e, err := range o.read(ctx, c) {
		if err != nil {
			return err
		}
		all.note(&e)
		line = append(payload.AppendJSON(line[:0], e.PartitionKey, e.RowKey, e.Timestamp, e.Properties), '\n')
		if _, err := w.Write(line); err != nil {
			return err
		}
		o.Rows.Add(1)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return o.convert(f.Name(), out, all.names)
}
