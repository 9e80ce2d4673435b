package transfer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"edgetable/adapters/backup/repository"
	"edgetable/core/payload"
	"edgetable/functions/edgetable/remote"
)

// objectSize is how much text goes into an object, and how much may have to be
// read again after an interruption. The object is in memory until it is stored.
// Tests have less.
var objectSize = 4 << 20

// ToObjects exports to a place for objects, without a disk: an object for each
// 4 MiB of lines, the manifest last. After an error, the same call continues, also
// on another machine.
func (o *Export) ToObjects(ctx context.Context, c *remote.Client, place repository.Objects) (*Manifest, error) {
	m := &Manifest{}
	switch found, err := getJSON(ctx, place, ManifestName, m); {
	case err != nil:
		return nil, err
	case found:
		return m, errors.Join(ErrFinished, tidyObjects(ctx, place, m))
	}
	w := newWork(o.Tables)
	j, again, err := openObjectJournal(ctx, place, *o.options(), w.replay)
	if err != nil {
		return nil, err
	}
	w.journal, w.again = j, again
	missing, err := o.tables(ctx, c, w, func(ctx context.Context, table string, p *part) error {
		return o.partToObjects(ctx, c, place, table, p, w)
	})
	if err != nil {
		return nil, err
	}
	return o.finishObjects(ctx, place, w, missing)
}

// object returns the name of an object for so many lines of a part. For CSV and
// parquet it is JSON lines at first, as for files.
func (o *Export) object(table string, p *part, n int) string {
	if o.Format == "jsonl" {
		return fmt.Sprintf("%s/part-%04d-%06d.jsonl%s", table, p.number, n, endings[o.Compress])
	}
	return fmt.Sprintf("%s%s/piece-%04d-%06d.jsonl%s", unfinishedPrefix, table, p.number, n, endings[o.Compress])
}

// partToObjects exports what is missing of a part. The journal has a line behind
// each object; an object without one is written again, or removed at the end.
func (o *Export) partToObjects(ctx context.Context, c *remote.Client, place repository.Objects, table string, p *part, w *tableWork) error {
	var text []byte
	var object bytes.Buffer
	out := newFrames(&object, o.Compress)
	rows, written := int64(0), 0
	flush := func() error {
		_, err := out.Write(text)
		text = text[:0]
		return err
	}
	store := func(done bool) error {
		state := noted{Rows: p.state.Rows + rows, Done: done}
		if state.Rows > 0 {
			at := p.last()
			state.At = &at
		}
		if rows > 0 {
			if err := errors.Join(flush(), out.end()); err != nil {
				return err
			}
			one, err := putPart(ctx, place, o.object(table, p, len(p.objects)), rows, object.Bytes())
			if err != nil {
				return err
			}
			state.Object = &one
		}
		rows, written = 0, 0
		object.Reset()
		return w.note(table, p, state)
	}
	for e, err := range p.entities(ctx, c, remote.Query{Table: table, Filter: o.Filter, Select: WithKeys(o.Select)}) {
		if err != nil {
			return err
		}
		before := len(text)
		text = append(payload.AppendJSON(text, e.PartitionKey, e.RowKey, e.Timestamp, e.Properties), '\n')
		written += len(text) - before
		rows++
		o.Progress.Rows.Add(1)
		if len(text) < 256<<10 {
			continue
		}
		if err := flush(); err != nil {
			return err
		}
		if written >= objectSize {
			if err := store(false); err != nil {
				return err
			}
		}
	}
	return store(true)
}

// putPart stores an object and describes it.
func putPart(ctx context.Context, place repository.Objects, name string, rows int64, content []byte) (Part, error) {
	sum := sha256.Sum256(content)
	return Part{File: name, Rows: rows, Bytes: int64(len(content)), SHA256: hex.EncodeToString(sum[:])}, place.Put(ctx, name, content)
}
