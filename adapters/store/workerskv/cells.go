package workerskv

import (
	"bytes"
	"context"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// cells are those of a namespace, as this isolate knows them.
type cells struct {
	ns     Namespace
	memory *memory // nil: it never writes
	alone  bool    // nobody else writes
}

// get reads a cell; nil is that there is none. The caller owns it.
func (c *cells) get(ctx context.Context, name string) ([]byte, error) {
	body, remembered, err := c.view(ctx, name)
	if remembered {
		body = bytes.Clone(body)
	}
	return body, err
}

// view reads a cell, which is read-only if it is what is remembered. Of who writes
// alone that is the newest, if it is known to be: then nothing is read.
func (c *cells) view(ctx context.Context, name string) (body []byte, remembered bool, err error) {
	if m, ok := c.memory.get(name); ok && c.alone && !m.doubted {
		return m.body, true, ctx.Err()
	}
	value, metadata, ok, err := c.ns.Get(ctx, name)
	if err != nil {
		return nil, false, readError(ctx, err)
	}
	if ok {
		if body, err = decodeCell(value, metadata); err != nil {
			return nil, false, err
		}
	}
	if m, ok := c.memory.get(name); ok && (body == nil || m.stamp >= stampOf(body)) {
		return m.body, true, nil
	}
	return body, false, nil
}

// put writes a cell, which nobody changes any more, or deletes it: a body of nil
// and the stamp of the delete.
func (c *cells) put(ctx context.Context, name string, stamp edm.Ticks, body []byte) error {
	err := writeOne(ctx, c.ns, cellWrite(name, body))
	if err == nil {
		c.memory.put(name, stamp, body)
	}
	return err
}

// known fails where a write of who writes alone may have been done, or may still
// be: until all see what became of it, the next one would be judged by what was before.
func (c *cells) known(name string) error {
	if m, ok := c.memory.get(name); ok && c.alone && m.doubted {
		return table.ErrBusy
	}
	return nil
}

// cellWrite is the write of a cell; a body of nil deletes it.
func cellWrite(name string, body []byte) Write {
	w := Write{Name: name, Gone: body == nil}
	if !w.Gone {
		w.Value, w.Metadata = encodeCell(body)
	}
	return w
}
