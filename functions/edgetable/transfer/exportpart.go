package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"edgetable/core/payload"
	"edgetable/functions/edgetable/remote"
)

// frameSize is how much text is written until the journal notes it, and how much
// may have to be read again after an interruption. It depends on the entities
// alone, so that the same table gives the same file.
const frameSize = 8 << 20

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

// spoolEnding is that of the files from which those of CSV and parquet are made.
const spoolEnding = ".spool"

// file returns the name of a part, below the directory.
func (o *Export) file(table string, part int) string {
	name := fmt.Sprintf("%s/part-%04d.", table, part)
	switch o.Format {
	case "jsonl":
		return name + "jsonl" + endings[o.Compress]
	case "parquet": // which is compressed within
		return name + "parquet"
	}
	return name + "csv" + endings[o.Compress]
}

// written returns the name of the file to which entities are written at first:
// CSV and parquet have to know all columns before the first row.
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
