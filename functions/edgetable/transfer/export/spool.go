package export

import (
	"bufio"
	"context"
	"errors"
	"io"
	"iter"
	"os"

	"edgetable/adapters/client/remote"
	"edgetable/core/payload"
	"edgetable/functions/edgetable/transfer/rows"
)

// writeSpooled exports a table to a stream in a format that needs all column names in advance. It spools the entities
// to a temporary file first.
func (o *Export) writeSpooled(ctx context.Context, c *remote.Client, s rows.Sheet, out io.Writer) (err error) {
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
		s.Note(&e)
		line = append(payload.AppendJSON(line[:0], e.PartitionKey, e.RowKey, e.Timestamp, e.Properties), '\n')
		if _, err := w.Write(line); err != nil {
			return err
		}
		o.Progress.Rows.Add(1)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return s.Make(rows.FileEntities(f.Name()), out)
}

func (o *Export) read(ctx context.Context, c *remote.Client) iter.Seq2[payload.Received, error] {
	return c.Entities(ctx, remote.Query{Table: o.Tables[0], Filter: o.Filter, Select: rows.WithKeys(o.Select)})
}
