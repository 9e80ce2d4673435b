package transfer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/transfer/progressfile"
	"edgetable/functions/edgetable/transfer/ranges"
	"edgetable/functions/edgetable/transfer/rows"
)

// importer sends the rows of an import in concurrent batches. The progress file records how many rows at the start of
// the source are finished; a later run sends all others.
type importer struct {
	o        *Import
	writer   writer
	progress *progressfile.File // progress file; nil if there is none
	rejects  rows.RejectFile
	made     map[string]bool // tables by name; the value is true if this run created the table and only one source writes to it

	batches chan *batch
	sent    sync.WaitGroup // counts the unfinished batches

	mu      sync.Mutex
	pending []*batch          // batches that are not recorded in the progress file, in row order
	state   progressfile.Line // next line of the progress file
	noted   time.Time
	firsts  map[string]*firstWrite // first write of each table, by table name
}

// verify verifies the checksums of exported files before any row is written. It skips files that earlier runs have
// imported.
func (im *importer) verify(ctx context.Context) error {
	for i := im.state.Range; i < len(im.o.Sources); i++ {
		s := &im.o.Sources[i]
		if s.stored == nil || s.stored.SHA256 == "" || i == im.state.Range && im.state.Done {
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := s.verify(); err != nil {
			return err
		}
	}
	return nil
}

func (im *importer) run(all context.Context) error {
	if err := im.verify(all); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(all)
	im.batches, im.firsts = make(chan *batch), map[string]*firstWrite{}
	for range im.o.Connections {
		g.Go(func() error {
			for {
				select {
				case b, ok := <-im.batches:
					if !ok {
						return nil
					}
					if err := im.writeAndRecord(ctx, b); err != nil {
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
		for i := first.Range; i < len(im.o.Sources); i++ {
			skip := int64(0)
			if i == first.Range {
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
	for table, mark := range im.state.Marks { // check that no table was deleted and created again during the import
		if err != nil {
			break
		}
		var ok bool
		if ok, err = hasMark(all, im.writer.c, table, mark); err == nil && !ok {
			err = recreatedError(table, mark)
			return errors.Join(err, im.progress.Write(progressfile.Line{}))
		}
	}
	if remote.TableGone(err) { // the recorded progress counts entities of the deleted table
		return errors.Join(err, im.progress.Write(progressfile.Line{}))
	}
	if err = errors.Join(err, im.writeProgress()); err == nil && im.progress != nil {
		err = im.progress.Remove() // without the progress file, the next run of the command imports everything again
	}
	return err
}

// source imports the ith source. It omits the rows that earlier runs have finished; finished is the number of these
// rows.
func (im *importer) source(ctx context.Context, i int, finished int64) error {
	s := &im.o.Sources[i]
	inOrder, err := im.isSourceInOrder(s)
	if err != nil {
		return err
	}
	r, done, err := s.open(im.o.Stdin, im.o.Format, &im.o.Mapping)
	if err != nil {
		return fmt.Errorf("%s: %w", s.Path, err)
	}
	if im.o.Preview != nil {
		r = &previewed{Reader: r, left: previewRows, show: func(entity []byte) { im.o.Preview(s.Table, entity) }}
	}
	im.mu.Lock()
	im.state.Range, im.state.Rows, im.state.Done = i, finished, false
	im.mu.Unlock()
	f := batcher{kind: Kinds[im.o.Mode], put: im.send, source: s, skip: finished}
	dropped, err := im.o.read(r, s.Path, inOrder, func(one rows.Row) error { return f.row(ctx, one) }, func(one rows.Reject) error {
		one.Table = s.Table
		return f.refuse(ctx, one)
	})
	if err = errors.Join(err, done()); err == nil {
		err = im.finish(ctx, &f)
	}
	if err != nil {
		return err
	}
	im.mu.Lock()
	defer im.mu.Unlock()
	im.state.Done = true
	im.state.Totals.Dropped += dropped
	return im.writeProgress()
}

func (im *importer) finish(ctx context.Context, f *batcher) error {
	if err := f.send(ctx); err != nil {
		return err
	}
	im.sent.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

func (im *importer) send(ctx context.Context, b *batch) error {
	im.mu.Lock()
	im.pending = append(im.pending, b)
	im.mu.Unlock()
	im.sent.Add(1)
	select {
	case im.batches <- b:
		return nil
	case <-ctx.Done():
		im.sent.Done()
		return context.Cause(ctx)
	}
}

// isSourceInOrder reports whether the rows of a source are known to be in key order. An exported file with unchanged
// columns is in order. Other files are read in advance, to check the order; standard input is not.
func (im *importer) isSourceInOrder(s *Source) (inOrder bool, err error) {
	how := &im.o.Mapping
	if s.exported && how.PartitionKey == "" && how.RowKey == "" && how.Rename == nil {
		return true, nil
	}
	if s.Path == "-" {
		return false, nil
	}
	count := s.bytes
	s.bytes = new(atomic.Int64) // do not count the bytes of this additional pass over the file
	defer func() { s.bytes = count }()
	r, done, err := s.open(nil, im.o.Format, how)
	if err != nil {
		return false, fmt.Errorf("%s: %w", s.Path, err)
	}
	inOrder, err = isInKeyOrder(r)
	if closed := done(); err == nil {
		err = closed
	} else {
		if _, missing := errors.AsType[*rows.NoColumn](err); missing {
			return false, err
		}
		inOrder, err = true, nil // isInKeyOrder stopped at an unreadable row, which the import reports later
	}
	return inOrder, err
}

// writeAndRecord writes a batch. It then records the finished batches up to the first unfinished one, in row order.
func (im *importer) writeAndRecord(ctx context.Context, b *batch) error {
	defer im.sent.Done()
	im.mu.Lock()
	one := im.firsts[b.source.Table]
	if one == nil {
		one = &firstWrite{}
		im.firsts[b.source.Table] = one
	}
	im.mu.Unlock()
	if err := one.do(func() error { return im.write(ctx, b) }); err != nil {
		return err
	}
	b.totals.Rejected = int64(len(b.rejects))
	im.mu.Lock()
	defer im.mu.Unlock()
	b.done = true
	for len(im.pending) > 0 && im.pending[0].done {
		b := im.pending[0]
		for _, r := range b.rejects {
			im.o.OnReject(r.File, r.Line, r.Reason)
		}
		if !im.o.DryRun {
			if err := im.rejects.Add(b.rejects); err != nil {
				return err
			}
		}
		im.pending = im.pending[1:]
		im.state.Rows = b.rows
		im.state.Totals.Add(b.totals)
		im.o.Progress.Rows.Add(b.totals.Rows())
	}
	if time.Since(im.noted) < time.Second {
		return nil
	}
	return im.writeProgress()
}

// write writes a batch. If this is the table's first batch without rejects, it sets the mark of the table.
func (im *importer) write(ctx context.Context, b *batch) error {
	if im.o.DryRun {
		b.totals.Written += int64(len(b.ops))
		return nil
	}
	refused := len(b.rejects)
	if err := im.writer.write(ctx, b, b.ops, b.lines); err != nil {
		return err
	}
	if im.made[b.source.Table] {
		b.totals.CountAsWritten()
	}
	im.mu.Lock()
	defer im.mu.Unlock()
	if len(b.ops) > 0 && len(b.rejects) == refused && im.state.Marks[b.source.Table] == nil {
		if im.state.Marks == nil {
			im.state.Marks = map[string]*ranges.Key{}
		}
		im.state.Marks[b.source.Table] = &ranges.Key{Partition: b.ops[0].PartitionKey, Row: b.ops[0].RowKey}
	}
	return nil
}

// writeProgress appends a line to the progress file. It syncs the file of rejects first, because the line contains the
// size of this file.
func (im *importer) writeProgress() error {
	im.noted = time.Now()
	if im.progress == nil {
		return im.rejects.Sync()
	}
	im.state.Rejects = im.rejects.Size
	if err := im.rejects.Sync(); err != nil {
		return err
	}
	return im.progress.Write(im.state)
}
