package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"edgetable/core/payload"
	"edgetable/functions/edgetable/remote"
)

// frameSize is how much text is written until the journal notes it, and how much
// may have to be read again after an interruption. Tests have less.
var frameSize = 8 << 20

// file returns the name of a file of the export, below the directory, by its place
// in the order of keys.
func (o *Export) file(table string, n int) string {
	return fmt.Sprintf("%s/part-%04d%s", table, n, o.ending())
}

// ending is the ending of the names of files.
func (o *Export) ending() string {
	switch o.Format {
	case "jsonl":
		return ".jsonl" + endings[o.Compress]
	case "parquet": // which is compressed within
		return ".parquet"
	}
	return ".csv" + endings[o.Compress]
}

// piece returns the name of the file for a part until all parts are complete:
// their order is not known before. For CSV and parquet it is JSON lines, as all
// columns have to be known before the first row.
func (o *Export) piece(table string, p *part) (name, compress string) {
	name = fmt.Sprintf("%s/piece-%04d.jsonl", table, p.number)
	if o.Format == "jsonl" {
		return name + endings[o.Compress], o.Compress
	}
	return name, "none"
}

// part reads a part of a table into its file, or what the file lacks.
func (o *Export) part(ctx context.Context, c *remote.Client, dir, table string, p *part, w *tableWork) (err error) {
	if err := os.MkdirAll(filepath.Join(dir, table), 0o755); err != nil {
		return err
	}
	name, compress := o.piece(table, p)
	f, err := os.OpenFile(filepath.Join(dir, filepath.FromSlash(name)), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Truncate(p.state.Size); err != nil {
		return err
	}
	if _, err := f.Seek(p.state.Size, io.SeekStart); err != nil {
		return err
	}
	out := newFrames(f, compress)
	var text []byte
	rows, framed := p.state.Rows, 0 // framed is how much text went out since the journal's last line
	flush := func() error {
		_, err := out.Write(text)
		framed += len(text)
		text = text[:0]
		return err
	}
	note := func(done bool) error {
		for _, step := range []func() error{flush, out.end, f.Sync} {
			if err := step(); err != nil {
				return err
			}
		}
		size, err := f.Seek(0, io.SeekCurrent)
		if err != nil {
			return err
		}
		framed = 0
		state := noted{Rows: rows, Size: size, Done: done}
		if rows > 0 {
			at := p.last()
			state.At = &at
		}
		return w.note(table, p, state)
	}
	for e, err := range p.entities(ctx, c, remote.Query{Table: table, Filter: o.Filter, Select: WithKeys(o.Select)}) {
		if err != nil {
			return errors.Join(err, note(false))
		}
		text = append(payload.AppendJSON(text, e.PartitionKey, e.RowKey, e.Timestamp, e.Properties), '\n')
		rows++
		o.Progress.Rows.Add(1)
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
	return note(true)
}
