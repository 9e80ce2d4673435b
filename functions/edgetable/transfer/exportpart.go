package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/sync/errgroup"

	"edgetable/adapters/client/remote"
	"edgetable/core/objects"
	"edgetable/core/payload"
)

// Names of objects while an export is not finished: what was begun, the lines of its
// progress, and lines of entities that become files of another format.
const (
	unfinishedPrefix = "unfinished/"
	begunName        = unfinishedPrefix + "export.json"
	linePrefix       = unfinishedPrefix + "line-"
)

// filePattern matches the names of files of tables, which have the number of the export and
// the place of the range in the order of keys.
var filePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*/part-\d{4,}-\d+(-\d{6,})?\.(jsonl|csv|parquet)(\.gz|\.zst)?$`)

// own reports whether an object is one of those that an export makes, or of what a place left
// when it was killed.
func own(o objects.Object) bool {
	name, torn := strings.CutSuffix(o.Name, objects.TempSuffix)
	if torn {
		name = name[:max(strings.LastIndexByte(name, '.'), 0)] // behind which is a random text
	}
	return strings.HasPrefix(name, unfinishedPrefix) || filePattern.MatchString(name) || torn && name == ManifestName
}

// objectSize is how much text goes into an object, which is in memory until it is
// stored. Tests have less.
var objectSize = 4 << 20

// piece is the name of an object for so many lines of a part. CSV and parquet are made of it
// when all columns are known.
func (x *exporting) piece(table string, p *part) string {
	if x.Format == "jsonl" {
		return fmt.Sprintf("%s/part-%04d-%s-%06d.jsonl%s", table, x.begun.Number, p.rank, len(p.objects), endings[x.Compress])
	}
	return fmt.Sprintf("%s%s/piece-%s-%06d.jsonl%s", unfinishedPrefix, table, p.rank, len(p.objects), endings[x.Compress])
}

// buffer returns a buffer for an object. The next parts have it again.
func (x *exporting) buffer() *bytes.Buffer {
	if b, ok := x.buffers.Get().(*bytes.Buffer); ok {
		b.Reset()
		return b
	}
	return new(bytes.Buffer)
}

// target is where the frames of a part go: one buffer after the other.
type target struct{ *bytes.Buffer }

// part reads a part of a table, or the rest of it, into objects. The progress has a line for
// each of them; an object without one is written again, or removed at the end.
func (x *exporting) part(ctx context.Context, table string, p *part) error {
	object, free := x.buffer(), x.buffer() // free is stored while the other one is filled
	defer func() { x.buffers.Put(object); x.buffers.Put(free) }()
	to := &target{object}
	out := newFrames(to, x.Compress)
	text, written := []byte(nil), 0 // written is how much text the object has
	rows, stored := p.state.Rows, p.state.Rows
	var storing chan error // gets the result of the last object, nil if it was taken
	settle := func() (err error) {
		if storing != nil {
			err, storing = <-storing, nil
		}
		return err
	}
	flush := func() error {
		_, err := out.Write(text)
		written += len(text)
		text = text[:0]
		return err
	}
	store := func(done bool) error {
		if err := errors.Join(flush(), out.end(), settle()); err != nil {
			return err
		}
		content, name, n := object.Bytes(), x.piece(table, p), rows-stored
		state := noted{Rows: rows, Done: done, At: p.state.At}
		if n > 0 {
			at := p.last()
			state.At = &at
		}
		result := make(chan error, 1)
		storing = result
		go func() {
			result <- func() error {
				if n > 0 {
					one, err := x.place.putFile(ctx, name, n, content)
					if err != nil {
						return err
					}
					state.Object = &one
				}
				return x.work.note(table, p, state)
			}()
		}()
		object, free = free, object
		object.Reset()
		to.Buffer = object
		stored, written = rows, 0
		return nil
	}
	if err := x.noteObjects(ctx, p); err != nil { // of an earlier run
		return err
	}
	for e, err := range p.entities(ctx, x.c, remote.Query{Table: table, Filter: x.Filter, Select: WithKeys(x.Select)}) {
		if err != nil {
			return errors.Join(err, store(false), settle())
		}
		text = append(payload.AppendJSON(text, e.PartitionKey, e.RowKey, e.Timestamp, e.Properties), '\n')
		if p.sheet != nil {
			p.sheet.note(&e)
		}
		rows++
		x.Progress.Rows.Add(1)
		if len(text) < 64<<10 && written+len(text) < objectSize {
			continue
		}
		if err := flush(); err != nil {
			return errors.Join(err, settle())
		}
		if written >= objectSize {
			if err := store(false); err != nil {
				return errors.Join(err, settle())
			}
		}
	}
	return errors.Join(store(true), settle())
}

// noteObjects gives a part a sheet with the columns of the objects that are stored.
func (x *exporting) noteObjects(ctx context.Context, p *part) error {
	if p.sheet = x.sheet(); p.sheet == nil {
		return nil
	}
	return x.place.entities(ctx, p.objects)(func(e payload.Received) error {
		p.sheet.note(&e)
		return nil
	})
}

// sheetPieces is how many objects of lines become one file of CSV or parquet, which is in
// memory until it is stored.
const sheetPieces = 4

// finish names the files of a table, in the order of their keys, or makes those of other
// formats. A table without rows has one file. It can be repeated after any interruption.
func (x *exporting) finish(ctx context.Context, t *ManifestTable, parts []*part) (err error) {
	var pieces []Part
	for _, p := range parts {
		pieces = append(pieces, p.objects...)
		t.Rows += p.state.Rows
	}
	if err := x.compare(ctx, t.Name, pieces); err != nil {
		return err
	}
	s := x.sheet()
	if s == nil {
		if t.Parts = pieces; pieces == nil {
			t.Parts = make([]Part, 1)
			t.Parts[0], err = x.place.putFile(ctx, x.piece(t.Name, parts[0]), 0, nil)
		}
		return err
	}
	for _, p := range parts {
		if p.sheet == nil { // an earlier run read all of it
			if err := x.noteObjects(ctx, p); err != nil {
				return err
			}
		}
		s.add(p.sheet)
	}
	t.Parts = make([]Part, max((len(pieces)+sheetPieces-1)/sheetPieces, 1))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(min(x.Connections, 2))
	for i := range t.Parts {
		g.Go(func() (err error) {
			some := pieces[min(i*sheetPieces, len(pieces)):min((i+1)*sheetPieces, len(pieces))]
			rows, size := int64(0), int64(0)
			for _, p := range some {
				rows, size = rows+p.Rows, size+p.Bytes
			}
			content := x.buffer()
			defer x.buffers.Put(content)
			content.Grow(int(size)) // about what the file has too
			if err := s.make(x.place.entities(ctx, some), content); err != nil {
				return err
			}
			t.Parts[i], err = x.place.putFile(ctx, fmt.Sprintf("%s/part-%04d-%06d%s", t.Name, x.begun.Number, i, x.ending()), rows, content.Bytes())
			return err
		})
	}
	err = g.Wait()
	t.Notes = s.notes()
	return err
}

// compare compares the sizes of objects with what the progress says of them: an earlier run
// may have written them.
func (x *exporting) compare(ctx context.Context, table string, pieces []Part) error {
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
			return fmt.Errorf("%s is missing or has %d bytes instead of %d: it was changed since the export began; begin again with --restart", x.place.at(p.File), size, p.Bytes)
		}
	}
	return nil
}

// ending is the ending of the names of files.
func (c *Command) ending() string {
	switch c.Format {
	case "jsonl":
		return ".jsonl" + endings[c.Compress]
	case "parquet": // which is compressed within
		return ".parquet"
	}
	return ".csv" + endings[c.Compress]
}
