package workerskv

import (
	"bytes"
	"context"

	"edgetable/core/edm"
)

// cells are those of a namespace, as this isolate knows them.
type cells struct {
	ns     Namespace
	memory *memory // nil: it never writes
}

// get reads a cell; nil is that there is none. The caller owns it.
func (c *cells) get(ctx context.Context, name string) ([]byte, error) {
	value, metadata, ok, err := c.ns.Get(ctx, name)
	if err != nil {
		return nil, readError(ctx, err)
	}
	var body []byte
	if ok {
		if body, err = decodeCell(value, metadata); err != nil {
			return nil, err
		}
	}
	if m, ok := c.memory.get(name); ok && (body == nil || m.stamp >= stampOf(body)) {
		return bytes.Clone(m.body), nil
	}
	return body, nil
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

// cellWrite is the write of a cell; a body of nil deletes it.
func cellWrite(name string, body []byte) Write {
	w := Write{Name: name, Gone: body == nil}
	if !w.Gone {
		w.Value, w.Metadata = encodeCell(body)
	}
	return w
}
