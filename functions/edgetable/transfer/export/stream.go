package export

import (
	"context"
	"errors"
	"io"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/transfer/printer"
	"edgetable/functions/edgetable/transfer/rows"
)

// ToWriter writes one table to a stream in key order.
func (o *Export) ToWriter(ctx context.Context, c *remote.Client, w io.Writer) (err error) {
	if s := o.sheet(); o.Format == "parquet" || s != nil && o.Select == nil {
		err := o.writeSpooled(ctx, c, s, w)
		o.Notes = s.Notes()
		return err
	}
	out := rows.NewFrames(w, o.Compress)
	defer func() { err = errors.Join(err, out.End()) }()
	p := printer.New(out, o.Format, o.Select)
	p.Excel = o.Excel
	for e, err := range o.read(ctx, c) {
		if err == nil {
			err = p.Print(e)
		}
		if err != nil {
			return errors.Join(err, p.Flush())
		}
		o.Progress.Rows.Add(1)
	}
	return p.Close()
}
