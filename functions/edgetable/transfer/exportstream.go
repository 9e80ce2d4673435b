package transfer

import (
	"context"
	"errors"
	"io"
	"iter"

	"edgetable/adapters/client/remote"
	"edgetable/core/payload"
)

// ToWriter exports one table as a stream, in the order of its keys.
func (o *Export) ToWriter(ctx context.Context, c *remote.Client, w io.Writer) (err error) {
	if s := o.sheet(); o.Format == "parquet" || s != nil && o.Select == nil {
		err := o.spooled(ctx, c, s, w)
		o.Notes = s.notes()
		return err
	}
	out := newFrames(w, o.Compress)
	defer func() { err = errors.Join(err, out.end()) }()
	p := NewPrinter(out, o.Format, o.Select)
	p.excel = o.Excel
	for e, err := range o.read(ctx, c) {
		if err == nil {
			err = p.Print(e)
		}
		if err != nil {
			return errors.Join(err, p.w.Flush())
		}
		o.Progress.Rows.Add(1)
	}
	return p.Close()
}

func (o *Export) read(ctx context.Context, c *remote.Client) iter.Seq2[payload.Received, error] {
	return c.Entities(ctx, remote.Query{Table: o.Tables[0], Filter: o.Filter, Select: WithKeys(o.Select)})
}
