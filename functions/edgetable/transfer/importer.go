package transfer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"edgetable/core/edm"
	"edgetable/core/payload"
	"edgetable/functions/edgetable/remote"
)

// importer sends the rows of an import in batches, several at the same time, and
// notes in the journal up to which row all are done.
type importer struct {
	o       *Import
	c       *remote.Client
	journal *journal // nil for none
	rejects rejectFile

	batches chan *batch
	sent    sync.WaitGroup // batches that are not done

	mu      sync.Mutex
	pending []*batch // in the order of their rows
	state   imported // that of the journal's next line
	noted   time.Time
}

// batch is a batch of rows in one partition, with the rows that were refused
// since the one before it.
type batch struct {
	source  *Source
	ops     []remote.Operation
	lines   []int
	buf     []byte // the bodies
	ends    []int  // of the bodies
	weight  int
	rejects []reject
	rows    int64 // of the source, up to the end of this batch
	totals  Totals
	done    bool
}

// run imports all sources that are not done.
func (im *importer) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	im.batches = make(chan *batch)
	for range im.o.Connections {
		g.Go(func() error {
			for {
				select {
				case b, ok := <-im.batches:
					if !ok {
						return nil
					}
					if err := im.do(ctx, b); err != nil {
						return err
					}
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			}
		})
	}
	g.Go(func() error {
		defer close(im.batches)
		first := im.state
		for i := first.Source; i < len(im.o.Sources); i++ {
			skip := int64(0)
			if i == first.Source {
				if skip = first.Rows; first.Done {
					continue
				}
			}
			if err := im.source(ctx, i, skip); err != nil {
				return err
			}
		}
		return nil
	})
	err := g.Wait()
	im.mu.Lock()
	defer im.mu.Unlock()
	im.state.Finished = err == nil
	return errors.Join(err, im.note())
}

// source imports a file, without the first rows.
func (im *importer) source(ctx context.Context, i int, skip int64) error {
	s := &im.o.Sources[i]
	if s.part != nil && s.part.SHA256 != "" {
		if err := s.verify(); err != nil {
			return err
		}
	}
	r, done, err := s.open(im.o.Stdin, im.o.Format, im.o.Types)
	if err != nil {
		return fmt.Errorf("%s: %w", s.File, err)
	}
	im.mu.Lock()
	im.state.Source, im.state.Rows, im.state.Done = i, skip, false
	im.mu.Unlock()
	f := former{im: im, source: s, skip: skip}
	dropped, err := im.o.read(r, s.File, func(one row) error { return f.row(ctx, one) }, func(one reject) error { return f.refuse(ctx, one) },
		func() error { return f.wait(ctx) })
	if err = errors.Join(err, done()); err == nil {
		err = f.wait(ctx)
	}
	if err != nil {
		return err
	}
	im.mu.Lock()
	defer im.mu.Unlock()
	im.state.Done = true
	im.state.Totals.Dropped += dropped
	return im.note()
}

// former makes batches of rows.
type former struct {
	im     *importer
	source *Source
	skip   int64 // rows that are done
	rows   int64 // rows so far
	b      *batch
}

func (f *former) row(ctx context.Context, r row) error {
	f.rows++
	if f.rows <= f.skip {
		return nil
	}
	if b := f.b; b != nil && len(b.ops) > 0 && (len(b.ops) == remote.MaxOperations || b.ops[0].PartitionKey != r.pk) {
		if err := f.send(ctx); err != nil {
			return err
		}
	}
	f.begin()
	b := f.b
	from := len(b.buf)
	b.buf = payload.AppendJSON(b.buf, r.pk, r.rk, 0, r.properties)
	op := remote.Operation{Kind: importKinds[f.im.o.Mode], PartitionKey: r.pk, RowKey: r.rk, Body: b.buf[from:]}
	weight := op.Weight()
	if len(b.ops) > 0 && b.weight+weight > remote.MaxWeight {
		body := slices.Clone(op.Body)
		b.buf = b.buf[:from]
		if err := f.send(ctx); err != nil {
			return err
		}
		f.begin()
		b = f.b
		b.buf = append(b.buf, body...)
	}
	b.ops, b.lines, b.ends = append(b.ops, op), append(b.lines, r.line), append(b.ends, len(b.buf))
	b.weight += weight
	b.rows = f.rows
	return nil
}

var importKinds = map[string]remote.Kind{"insert": remote.Insert, "skip": remote.Insert, "merge": remote.Merge, "replace": remote.Replace}

func (f *former) refuse(ctx context.Context, r reject) error {
	f.rows++
	if f.rows <= f.skip {
		return nil
	}
	f.begin()
	f.b.rejects = append(f.b.rejects, r)
	f.b.rows = f.rows
	if len(f.b.rejects) >= 1000 {
		return f.send(ctx)
	}
	return nil
}

func (f *former) begin() {
	if f.b == nil {
		f.b = &batch{source: f.source, ops: make([]remote.Operation, 0, remote.MaxOperations), lines: make([]int, 0, remote.MaxOperations),
			ends: make([]int, 0, remote.MaxOperations), rows: f.rows}
	}
}

// send passes the batch on.
func (f *former) send(ctx context.Context) error {
	b := f.b
	f.b = nil
	if b == nil {
		return nil
	}
	from := 0
	for i, end := range b.ends {
		b.ops[i].Body = b.buf[from:end]
		from = end
	}
	f.im.mu.Lock()
	f.im.pending = append(f.im.pending, b)
	f.im.mu.Unlock()
	f.im.sent.Add(1)
	select {
	case f.im.batches <- b:
		return nil
	case <-ctx.Done():
		f.im.sent.Done()
		return context.Cause(ctx)
	}
}

// wait sends the last batch and waits until all batches are done.
func (f *former) wait(ctx context.Context) error {
	if err := f.send(ctx); err != nil {
		return err
	}
	f.im.sent.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// do writes a batch and notes it.
func (im *importer) do(ctx context.Context, b *batch) error {
	defer im.sent.Done()
	if im.o.DryRun {
		b.totals.Written += int64(len(b.ops))
	} else if err := im.write(ctx, b, b.ops, b.lines); err != nil {
		return err
	}
	b.totals.Rejected = int64(len(b.rejects))
	im.mu.Lock()
	defer im.mu.Unlock()
	b.done = true
	for len(im.pending) > 0 && im.pending[0].done {
		b := im.pending[0]
		im.pending = im.pending[1:]
		im.state.Rows = b.rows
		im.state.Totals.add(b.totals)
		im.o.Rows.Add(b.totals.Written + b.totals.Same + b.totals.Skipped + b.totals.Rejected)
		for _, r := range b.rejects {
			im.o.Refused(r.file, r.line, r.reason)
		}
		if !im.o.DryRun {
			if err := im.rejects.add(b.rejects); err != nil {
				return err
			}
		}
	}
	if time.Since(im.noted) < time.Second {
		return nil
	}
	return im.note()
}

// note writes a line of the journal. The rejects that it counts are on the disk.
func (im *importer) note() error {
	im.noted = time.Now()
	if im.journal == nil {
		return im.rejects.sync()
	}
	im.state.Rejects = im.rejects.size
	if err := im.rejects.sync(); err != nil {
		return err
	}
	return im.journal.write(im.state)
}

// write writes operations until each is done, skipped or refused.
func (im *importer) write(ctx context.Context, b *batch, ops []remote.Operation, lines []int) error {
	where := func(err error) error {
		return fmt.Errorf("%s line %d, PartitionKey %s, to table %s: %w", b.source.File, lines[0], Quote(ops[0].PartitionKey), b.source.Table, err)
	}
	conflicts := 0
	for len(ops) > 0 {
		err := im.c.Batch(ctx, b.source.Table, ops)
		if err == nil {
			b.totals.Written += int64(len(ops))
			return nil
		}
		var answer *remote.Error
		if !errors.As(err, &answer) {
			return where(err)
		}
		known := answer.Index >= 0 && answer.Index < len(ops)
		switch {
		case answer.Code == "EntityAlreadyExists" && ops[0].Kind == remote.Insert && conflicts <= len(ops):
			conflicts++
			free, freeLines, err := im.conflict(ctx, b, ops, lines)
			if err != nil {
				return where(err)
			}
			ops, lines = free, freeLines
		case len(ops) > 1 && (answer.Status == http.StatusRequestEntityTooLarge || answer.Status == http.StatusNotImplemented || answer.Status == http.StatusBadRequest && !known):
			half := len(ops) / 2
			if answer.Status == http.StatusNotImplemented { // it has no batches
				half = 1
			}
			if err := im.write(ctx, b, ops[:half:half], lines[:half:half]); err != nil {
				return err
			}
			ops, lines = ops[half:], lines[half:]
		case known && (answer.Status == http.StatusBadRequest || answer.Status == http.StatusRequestEntityTooLarge):
			b.refuse(&ops[answer.Index], lines[answer.Index], answer.Error())
			ops, lines = without(ops, answer.Index), without(lines, answer.Index)
		case answer.Code == "TableNotFound":
			return where(errors.New("the table is not there"))
		default:
			return where(err)
		}
	}
	return nil
}

func without[T any](list []T, i int) []T { return append(slices.Clone(list[:i]), list[i+1:]...) }

func (b *batch) refuse(o *remote.Operation, line int, reason string) {
	b.rejects = append(b.rejects, reject{file: b.source.File, line: line, reason: reason, body: o.Body})
}

// conflict deals with the operations of an insert that find an entity, and
// returns the others.
func (im *importer) conflict(ctx context.Context, b *batch, ops []remote.Operation, lines []int) ([]remote.Operation, []int, error) {
	there, err := im.existing(ctx, b, ops)
	if err != nil {
		return nil, nil, err
	}
	var free []remote.Operation
	var freeLines []int
	for i := range ops {
		stored, ok := there[ops[i].RowKey]
		switch {
		case !ok:
			free, freeLines = append(free, ops[i]), append(freeLines, lines[i])
		case im.o.Mode == "skip":
			b.totals.Skipped++
		default:
			e, err := payload.ReadEntity(ops[i].Body)
			if err != nil {
				return nil, nil, err
			}
			if string(byName(e.Properties)) == stored {
				b.totals.Same++
			} else {
				b.refuse(&ops[i], lines[i], "the entity exists with other content")
			}
		}
	}
	return free, freeLines, nil
}

// byName returns the properties in the order of their names.
func byName(p edm.Properties) edm.Properties { return p.Merge(p) }

// existing reads the entities that operations would write, by their RowKeys. It
// reads the part of the partition with all of them; where many others are there
// too, it reads them one by one.
func (im *importer) existing(ctx context.Context, b *batch, ops []remote.Operation) (map[string]string, error) {
	there := map[string]string{}
	for i := range ops {
		there[ops[i].RowKey] = ""
	}
	const page = 1000
	n, last := 0, ""
	q := remote.Query{Table: b.source.Table, Top: page, Filter: "PartitionKey eq " + Quote(ops[0].PartitionKey) + " and RowKey ge " + Quote(ops[0].RowKey) +
		" and RowKey le " + Quote(ops[len(ops)-1].RowKey)}
	found := map[string]string{}
	for e, err := range im.c.Entities(ctx, q) {
		if err != nil {
			return nil, err
		}
		n, last = n+1, strings.Clone(e.RowKey)
		if _, ok := there[last]; ok {
			found[last] = string(byName(e.Properties))
		}
	}
	if n < page {
		return found, nil
	}
	for i := len(ops) - 1; i >= 0 && ops[i].RowKey != last; i-- {
		if _, ok := found[ops[i].RowKey]; ok {
			continue
		}
		e, ok, err := im.c.Get(ctx, b.source.Table, ops[i].PartitionKey, ops[i].RowKey, nil)
		if err != nil {
			return nil, err
		}
		if ok {
			found[ops[i].RowKey] = string(byName(e.Properties))
		}
	}
	return found, nil
}
