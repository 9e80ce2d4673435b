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

// objectName returns the name of the nth object of a range. Objects of CSV and parquet exports are intermediate: the
// final files are created when all columns are known.
func (x *exporting) objectName(table string, p *scan.Task, n int) string {
	if x.Format == "jsonl" {
		return fmt.Sprintf("%s/part-%04d-%s-%06d.jsonl%s", table, x.begun.Number, p.Rank(), n, rows.Endings[x.Compress])
	}
	return fmt.Sprintf("%s%s/piece-%s-%06d.jsonl%s", unfinishedPrefix, table, p.Rank(), n, rows.Endings[x.Compress])
}

// rowSize is the extra capacity of an object's buffer. The last row of an object may exceed the size limit.
const rowSize = 64 << 10

func (x *exporting) buffer() *bytes.Buffer {
	if b, ok := x.buffers.Get().(*bytes.Buffer); ok {
		b.Reset()
		return b
	}
	return bytes.NewBuffer(make([]byte, 0, size.Object+rowSize)) // allocate once, because a growing buffer copies its content and temporarily needs twice the memory
}

// target is the destination of the compressed rows. The buffer is replaced after each object.
type target struct{ *bytes.Buffer }

// lineObjects is the number of objects that a progress line records. Writing a line takes as long as writing an object.
// If a run is killed, this is the maximum number of objects of each range that are lost.
const lineObjects = 4

// rangeExport writes a range to objects. While it fills a buffer, a goroutine stores the previous one. Until
// awaitObject returns, the goroutine owns that buffer and the progress.
type rangeExport struct {
	*exporting
	table string
	p     *scan.Task

	object  *target // current object; Buffer is nil until the first row
	out     rows.Frames
	row     []byte
	written int         // uncompressed bytes in the current object
	read    int64       // number of rows read
	stored  int64       // number of rows in the completed objects
	at      *ranges.Key // key of the last row in the completed objects
	number  int         // number of the next object

	storing chan error        // receives the result of the goroutine; nil if no goroutine runs
	next    progressfile.Line // next progress line; lists the stored objects that no line has recorded yet
}

// readRange writes the unfinished part of a range to objects, with a progress line after every few objects. A later run
// overwrites or removes objects that no line records.
func (x *exporting) readRange(ctx context.Context, table string, p *scan.Task) error {
	earlier := p.State()
	r := &rangeExport{exporting: x, table: table, p: p, object: &target{}, read: earlier.Rows, stored: earlier.Rows, at: earlier.At, number: len(p.Stored())}
	r.out = rows.NewFrames(r.object, x.Compress)
	sheet, err := x.sheetOf(ctx, p) // the sheet includes the columns of the objects that earlier runs stored
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
			// Note's argument escapes to the heap. Copy e here, so that e stays on the stack in exports without a
			// sheet.
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

// store starts a goroutine that stores the current object, after the previous one. If last is set, the goroutine also
// writes a progress line. If done is set, this line marks the range as complete.
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

// awaitObject waits for the goroutine that stores an object and returns its error.
func (r *rangeExport) awaitObject() (err error) {
	if r.storing != nil {
		err, r.storing = <-r.storing, nil
	}
	return err
}

// put stores an object of n rows. It writes a progress line if last is set, or if lineObjects stored objects are not
// recorded yet.
func (r *rangeExport) put(ctx context.Context, content *bytes.Buffer, name string, n int64, now progressfile.Line, last bool) error {
	if n > 0 {
		one, err := r.place.putFile(ctx, name, n, content.Bytes())
		if err != nil && r.next.Objects != nil {
			err = errors.Join(err, r.writeProgress()) // a full disk may still have space for a short line
		}
		if err != nil {
			return err
		}
		r.buffers.Put(content)
		r.next.Objects = append(r.next.Objects, one)
	}
	r.next.Rows, r.next.Done, r.next.At = now.Rows, now.Done, now.At
	if !last && len(r.next.Objects) < lineObjects {
		return r.checkOwner(ctx) // in all other cases, writeProgress checks the owner
	}
	return r.writeProgress()
}

// writeProgress writes a progress line with the objects that were not recorded yet.
func (r *rangeExport) writeProgress() error {
	l := r.next
	r.next.Objects = nil
	return r.work.Note(r.table, r.p, l)
}

// sheetOf returns the sheet with the columns of a range, including those of objects that earlier runs stored. It
// returns nil for JSON lines, which need no sheet.
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

// sheetObjects is the number of intermediate objects that are merged into one CSV or parquet file. The whole file is in
// memory until it is stored.
const sheetObjects = 4

// finish lists the files of a table in the manifest, in key order. It creates CSV and parquet files from the
// intermediate objects. For a table without rows, it creates one empty file.
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
			content.Grow(int(size)) // the file is about as large as the intermediate objects
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

// compare checks the sizes of the recorded objects, because objects may have been changed or removed since an earlier
// run.
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
