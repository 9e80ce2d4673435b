package transfer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"edgetable/adapters/client/remote"
	"edgetable/core/payload"
)

// sheet makes the files of a format that has to know all columns of a table before
// its first row. The entities are spooled as JSON lines and read again: columns
// that appear late get their place, and memory is bounded.
type sheet interface {
	note(e *payload.Received)                  // for all entities of the table, before the first call of make
	add(after sheet)                           // what another one of the same kind was told to note
	make(list entityList, out io.Writer) error // several goroutines may call it, each with its list
	notes() []string                           // what a reader of the files should know
}

// entityList calls do for each entity of a list that can be read again.
type entityList func(do func(e payload.Received) error) error

// sheet returns that of the format, nil for JSON lines.
func (c *Command) sheet() sheet {
	switch c.Format {
	case "jsonl":
		return nil
	case "parquet":
		return &parquetSheet{compress: c.Compress}
	}
	s := &csvSheet{typed: c.Format == "csv", excel: c.Excel, compress: c.Compress, selected: c.Select != nil}
	if s.selected {
		for _, name := range WithKeys(c.Select)[2:] {
			s.columns.add(name)
		}
	}
	return s
}

// csvSheet makes files of CSV.
type csvSheet struct {
	columns
	typed, excel bool
	selected     bool // the columns are known
	compress     string
}

func (s *csvSheet) note(e *payload.Received) {
	if !s.selected {
		s.columns.note(e)
	}
}

func (s *csvSheet) add(after sheet) {
	for _, name := range after.(*csvSheet).names {
		s.columns.add(name)
	}
}

func (s *csvSheet) notes() []string { return nil }

func (s *csvSheet) make(list entityList, file io.Writer) error {
	out := newFrames(file, s.compress)
	w := newCSVWriter(s.names, s.typed, s.excel)
	text := w.appendHead(nil)
	err := list(func(e payload.Received) (err error) {
		if text = w.append(text, &e); len(text) >= 256<<10 {
			_, err = out.Write(text)
			text = text[:0]
		}
		return err
	})
	if err == nil {
		_, err = out.Write(text)
	}
	return errors.Join(err, out.end())
}

// fileEntities reads a file of ours.
func fileEntities(file string) entityList {
	return func(do func(e payload.Received) error) error {
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		return entities(file, f, do)
	}
}

// entities reads lines of ours from a file.
func entities(file string, text io.Reader, do func(e payload.Received) error) error {
	lines := newLineReader(text)
	var r payload.Reader
	for {
		line, number, err := lines.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s line %d: %w", file, number, err)
		}
		e, err := r.Entity(line)
		if err != nil {
			return fmt.Errorf("%s line %d: %w", file, number, err)
		}
		if err := do(e); err != nil {
			return err
		}
	}
}

// spooled keeps the entities in a file until all columns are known.
func (o *Export) spooled(ctx context.Context, c *remote.Client, s sheet, out io.Writer) (err error) {
	f, err := os.CreateTemp("", "edgetable-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	w := bufio.NewWriterSize(f, 256<<10)
	var line []byte
	for e, err := range o.read(ctx, c) {
		if err != nil {
			return err
		}
		s.note(&e)
		line = append(payload.AppendJSON(line[:0], e.PartitionKey, e.RowKey, e.Timestamp, e.Properties), '\n')
		if _, err := w.Write(line); err != nil {
			return err
		}
		o.Progress.Rows.Add(1)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return s.make(fileEntities(f.Name()), out)
}
