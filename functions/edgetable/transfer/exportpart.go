package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	if err := cutTo(f, p.state.Size); err != nil {
		return err
	}
	var file io.Writer = f
	sum := sha256.New()
	whole := p.state.Size == 0 // the sum is that of the file
	if whole {
		file = io.MultiWriter(f, sum)
	}
	out := newFrames(file, compress)
	var text []byte
	rows, framed := p.state.Rows, 0 // framed is how much text went out since the last note
	flush := func() error {
		_, err := out.Write(text)
		framed += len(text)
		text = text[:0]
		return err
	}
	var noting chan error // gets the result of the last note, nil if it was taken
	settled := func() (err error) {
		if noting != nil {
			err, noting = <-noting, nil
		}
		return err
	}
	defer func() { err = errors.Join(err, settled()) }()
	note := func(done bool) error { // reading goes on while the disk works
		for _, step := range []func() error{settled, flush, out.end} {
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
		result := make(chan error, 1)
		noting = result
		go func() {
			err := f.Sync()
			if err == nil {
				err = w.note(table, p, state)
			}
			result <- err
		}()
		return nil
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
	if err := note(true); err != nil {
		return err
	}
	if err := settled(); err != nil {
		return err
	}
	if whole {
		p.sum = hex.EncodeToString(sum.Sum(nil))
	}
	return nil
}
