package transfer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"edgetable/core/payload"
	"edgetable/functions/edgetable/remote"
)

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
