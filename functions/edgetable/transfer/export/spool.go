package export

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"

	"edgetable/adapters/client/remote"
	"edgetable/core/payload"
	"edgetable/functions/edgetable/transfer/csvfile"
	"edgetable/functions/edgetable/transfer/parquetfile"
	"edgetable/functions/edgetable/transfer/rows"
)

// sheet returns a new sheet for the format, or nil for JSON lines.
func (c *Command) sheet() rows.Sheet {
	switch c.Format {
	case "jsonl":
		return nil
	case "parquet":
		return parquetfile.NewSheet(c.Compress)
	}
	return csvfile.NewSheet(c.Format == "csv", c.Excel, c.Compress, c.Select)
}

// writeSpooled exports a table to a stream, in a format that needs all column names at the start of
// the file. It first stores the entities in a temporary file.
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
