package transfer

import (
	"bytes"
	"context"
	"fmt"
)

// objectSize is how much text goes into an object, which is in memory until it is
// stored. Tests have less.
var objectSize = 4 << 20

// objectPart writes a part of a table to objects. The journal has a line behind each of
// them; an object without one is written again, or removed at the end.
type objectPart struct {
	frames
	object *bytes.Buffer
	store  func(state noted) error
}

// object returns the name of an object for so many lines of a part. For CSV and
// parquet it is JSON lines at first, as for files.
func (o *Export) object(table string, p *part, n int) string {
	if o.Format == "jsonl" {
		return fmt.Sprintf("%s/part-%04d-%06d.jsonl%s", table, p.number, n, endings[o.Compress])
	}
	return fmt.Sprintf("%s%s/piece-%04d-%06d.jsonl%s", unfinishedPrefix, table, p.number, n, endings[o.Compress])
}

func (b Bucket) part(ctx context.Context, o *Export, w *tableWork, table string, p *part) (partWriter, int, error) {
	var object bytes.Buffer
	return &objectPart{newFrames(&object, o.Compress), &object, func(state noted) error {
		if rows := state.Rows - p.state.Rows; rows > 0 {
			one, err := b.putPart(ctx, o.object(table, p, len(p.objects)), rows, object.Bytes())
			if err != nil {
				return err
			}
			state.Object = &one
		}
		return w.note(table, p, state)
	}}, objectSize, nil
}

// note stores what was written as an object.
func (p *objectPart) note(state noted) error {
	if err := p.end(); err != nil {
		return err
	}
	defer p.object.Reset()
	return p.store(state)
}

func (p *objectPart) close() error { return nil }
