package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"edgetable/adapters/client/remote"
	"edgetable/core/payload"
	"edgetable/functions/edgetable/transfer/internal/size"
	"edgetable/functions/edgetable/transfer/progressfile"
	"edgetable/functions/edgetable/transfer/ranges"
	"edgetable/functions/edgetable/transfer/rows"
	"edgetable/functions/edgetable/transfer/scan"
)

// objectName returns the name of the nth object of a range. For CSV and parquet, these objects are intermediate. The
// final files are made from them when all columns are known.
func (x *exporting) objectName(table string, p *scan.Task, n int) string {
	if x.Format == "jsonl" {
		return fmt.Sprintf("%s/part-%04d-%s-%06d.jsonl%s", table, x.begun.Number, p.Rank(), n, rows.Endings[x.Compress])
	}
	return fmt.Sprintf("%s%s/piece-%s-%06d.jsonl%s", unfinishedPrefix, table, p.Rank(), n, rows.Endings[x.Compress])
}

// rowSize is extra capacity of a buffer, because the last row of an object may exceed the size limit of the object.
const rowSize = 64 << 10

func (x *exporting) buffer() *bytes.Buffer {
	if b, ok := x.buffers.Get().(*bytes.Buffer); ok {
		b.Reset()
		return b
	}
	return bytes.NewBuffer(make([]byte, 0, size.Object+rowSize)) // allocate all at once, because growing copies the content and needs twice the memory
}

// target is the destination of the compressed text of a range. Its buffer is replaced after each object.
type target struct{ *bytes.Buffer }

// lineObjects is the number of objects that one progress line records. Writing a line takes as long as writing an
// object, so a line for each object would double the time. A killed run loses at most this many objects of each range.
const lineObjects = 4

// rangeExport writes a range to objects. It fills one buffer while a goroutine stores the previous buffer. Until
// awaitObject returns, only this goroutine may use the previous buffer and the progress line in the field next. The
// same holds for the progress of the range. The method store calls awaitObject before it starts the next goroutine.
type rangeExport struct {
	*exporting
	table string
	p     *scan.Task

	object  *target // current object; the field Buffer is nil until the object gets its first row
	out     rows.Frames
	row     []byte
	written int         // bytes of text in the current object, before compression
	read    int64       // number of rows read
	stored  int64       // number of rows in the previous objects
	at      *ranges.Key // key of the last row in the previous objects
	number  int         // number of the next object

	storing chan error        // receives the goroutine's error, or nil after success; the channel is nil if no goroutine runs
	next    progressfile.Line // next progress line; lists the stored objects that no line in the destination records yet
}

// readRange writes the unfinished part of a range to objects. After some of the objects, it writes a progress line. An
// object that no progress line records is written again or removed by a later run.
func (x *exporting) readRange(ctx context.Context, table string, p *scan.Task) error {
	earlier := p.State()
	r := &rangeExport{exporting: x, table: table, p: p, object: &target{}, read: earlier.Rows, stored: earlier.Rows, at: earlier.At, number: len(p.Stored())}
	r.out = rows.NewFrames(r.object, x.Compress)
	sheet, err := x.sheetOf(ctx, p) // includes the columns of objects that an earlier run stored
	if err != nil {
		return err
	}
	for e, err := range p.Entities(ctx, x.c, remote.Query{Table: table, Filter: x.Filter, Select: rows.WithKeys(x.Select)}) {
		if err != nil {
			return errors.Join(err, r.store(ctx, true, false), r.awaitObject())
		}
		if err := r.add(e); err != nil {
			return errors.Join(err, r.awaitObject())
		}
		if sheet != nil {
			// Copy the entity, because the call of sheet.Note moves its argument to the heap. Without the copy, each
			// entity would be on the heap, even in exports without a sheet (a collector of columns).
			one := e
			sheet.Note(&one)
		}
		if r.written >= size.Object {
			if err := r.store(ctx, false, false); err != nil {
				return errors.Join(err, r.awaitObject())
			}
		}
	}
	return errors.Join(r.store(ctx, true, true), r.awaitObject())
}

func (r *rangeExport) add(e payload.Received) error {
	if r.object.Buffer == nil {
		r.object.Buffer = r.buffer()
	}
	r.row = append(payload.AppendJSON(r.row[:0], e.PartitionKey, e.RowKey, e.Timestamp, e.Properties), '\n')
	if _, err := r.out.Write(r.row); err != nil {
		return err
	}
	r.written += len(r.row)
	r.read++
	r.Progress.Rows.Add(1)
	return nil
}

// store waits until the previous object is stored. Then it starts a goroutine that stores the content of the buffer. If
// last is set, the goroutine also writes a progress line. The parameter done is true if the range is complete, and the
// progress line records this.
func (r *rangeExport) store(ctx context.Context, last, done bool) error {
	if err := errors.Join(r.out.End(), r.awaitObject()); err != nil {
		return err
	}
	content, name, n := r.object.Buffer, r.objectName(r.table, r.p, r.number), r.read-r.stored
	if n > 0 {
		key := r.p.Last()
		r.at = &key
		r.number++
	}
	now := progressfile.Line{Rows: r.read, Done: done, At: r.at}
	result := make(chan error, 1)
	r.storing = result
	go func() { result <- r.put(ctx, content, name, n, now, last) }()
	r.object.Buffer, r.stored, r.written = nil, r.read, 0
	return nil
}

// awaitObject waits until the goroutine has stored its object, and returns the goroutine's error.
func (r *rangeExport) awaitObject() (err error) {
	if r.storing != nil {
		err, r.storing = <-r.storing, nil
	}
	return err
}

// put stores an object of n rows. Then it counts the stored objects that no progress line records. If their number
// has reached the constant lineObjects, or if the parameter last is set, put writes a progress line.
func (r *rangeExport) put(ctx context.Context, content *bytes.Buffer, name string, n int64, now progressfile.Line, last bool) error {
	if n > 0 {
		one, err := r.place.putFile(ctx, name, n, content.Bytes())
		if err != nil && r.next.Objects != nil {
			err = errors.Join(err, r.writeProgress()) // a full disk may still have space for a short progress line
		}
		if err != nil {
			return err
		}
		r.buffers.Put(content)
		r.next.Objects = append(r.next.Objects, one)
	}
	r.next.Rows, r.next.Done, r.next.At = now.Rows, now.Done, now.At
	if !last && len(r.next.Objects) < lineObjects {
		return r.checkOwner(ctx) // only the write of a progress line checks the owner, and none is written here, so check the owner now
	}
	return r.writeProgress()
}

// writeProgress writes a progress line with the objects that no earlier line records.
func (r *rangeExport) writeProgress() error {
	l := r.next
	r.next.Objects = nil
	return r.work.Note(r.table, r.p, l)
}

// sheetOf returns the sheet that collects the columns of a range. It adds the columns of objects that an earlier run
// stored. The result is nil for JSON lines, which need no sheet.
func (x *exporting) sheetOf(ctx context.Context, p *scan.Task) (rows.Sheet, error) {
	if s, ok := x.sheets.Load(p); ok {
		return s.(rows.Sheet), nil
	}
	s := x.sheet()
	if s == nil {
		return nil, nil
	}
	x.sheets.Store(p, s)
	return s, x.place.entities(ctx, p.Stored())(func(e payload.Received) error {
		s.Note(&e)
		return nil
	})
}

// sheetObjects is the number of intermediate objects from which one file of CSV or parquet is made. The whole file is
// in memory until it is stored.
const sheetObjects = 4

// finish sets the files of a table in the manifest, in key order. For CSV and parquet, it first makes the files from
// the intermediate objects. A table without rows gets one file. After an interruption, finish can run again.
func (x *exporting) finish(ctx context.Context, t *ManifestTable, tasks []*scan.Task) (err error) {
	var pieces []progressfile.Stored
	for _, p := range tasks {
		pieces = append(pieces, p.Stored()...)
		t.Rows += p.State().Rows
	}
	if err := x.compare(ctx, t.Name, pieces); err != nil {
		return err
	}
	s := x.sheet()
	if s == nil {
		if t.Files = pieces; pieces == nil {
			t.Files = make([]progressfile.Stored, 1)
			t.Files[0], err = x.place.putFile(ctx, x.objectName(t.Name, tasks[0], 0), 0, nil)
		}
		return err
	}
	for _, p := range tasks {
		one, err := x.sheetOf(ctx, p)
		if err != nil {
			return err
		}
		s.Add(one)
	}
	t.Files = make([]progressfile.Stored, max((len(pieces)+sheetObjects-1)/sheetObjects, 1))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(min(x.Connections, 2))
	for i := range t.Files {
		g.Go(func() (err error) {
			some := pieces[min(i*sheetObjects, len(pieces)):min((i+1)*sheetObjects, len(pieces))]
			rows, size := int64(0), int64(0)
			for _, p := range some {
				rows, size = rows+p.Rows, size+p.Bytes
			}
			content := x.buffer()
			defer x.buffers.Put(content)
			content.Grow(int(size)) // the file will have about the size of the intermediate objects
			if err := s.Make(x.place.entities(ctx, some), content); err != nil {
				return err
			}
			t.Files[i], err = x.place.putFile(ctx, fmt.Sprintf("%s/part-%04d-%06d%s", t.Name, x.begun.Number, i, x.ending()), rows, content.Bytes())
			return err
		})
	}
	err = g.Wait()
	t.Notes = s.Notes()
	return err
}

// compare checks that the objects still have their recorded sizes. Somebody may have changed or removed objects since
// an earlier run wrote them.
func (x *exporting) compare(ctx context.Context, table string, pieces []progressfile.Stored) error {
	prefix := table + "/"
	if x.Format != "jsonl" {
		prefix = unfinishedPrefix + prefix
	}
	sizes := map[string]int64{}
	for object, err := range x.place.List(ctx, prefix) {
		if err != nil {
			return err
		}
		sizes[object.Name] = object.Size
	}
	for _, p := range pieces {
		if size, ok := sizes[p.File]; !ok || size != p.Bytes {
			return fmt.Errorf("%s is missing or has %d bytes instead of %d: it was changed since the export began; begin again with --restart", x.place.At(p.File), size, p.Bytes)
		}
	}
	return nil
}
