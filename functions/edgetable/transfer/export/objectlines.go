package export

import (
	"context"
	"crypto/rand"
	"edgetable/functions/edgetable/transfer/scan"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
)

// start begins a new export. The files of the last finished export remain.
func (x *exporting) start(ctx context.Context) error {
	if err := x.tidy(ctx, x.old); err != nil {
		return err
	}
	return x.becomeOwner(ctx)
}

// becomeOwner makes this process the owner of the export. Only the owner may write objects.
func (x *exporting) becomeOwner(ctx context.Context) error {
	if x.work == nil {
		x.work = scan.New(x.begun.Tables)
	}
	x.begun.Owner = rand.Text()
	x.work.KeepIn(&objectLines{ctx: ctx, x: x, lines: x.lines})
	return x.place.putJSON(ctx, begunName, x.begun)
}

// checkOwner returns an error if another process has become the owner of the export.
func (x *exporting) checkOwner(ctx context.Context) error {
	var now exportRecord
	if _, err := x.place.getJSON(ctx, begunName, &now); err != nil {
		return err
	}
	if now.Owner != x.begun.Owner {
		return fmt.Errorf("another process exports to %s too: wait for its end, or stop it", x.place.Location)
	}
	return nil
}

// lineReaders is the maximum number of concurrent reads of progress objects.
const lineReaders = 16

// resume loads the progress of earlier runs.
func (x *exporting) resume(ctx context.Context) error {
	var names []string
	for object, err := range x.place.List(ctx, linePrefix) {
		if err != nil {
			return err
		}
		if path.Ext(object.Name) == ".json" { // objects with other extensions are left over from interrupted writes
			names = append(names, object.Name)
		}
	}
	slices.Sort(names)
	lines := make([][]byte, len(names))
	g, getCtx := errgroup.WithContext(ctx)
	g.SetLimit(lineReaders)
	for i, name := range names {
		g.Go(func() (err error) {
			lines[i], err = x.place.Get(getCtx, name)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	x.work = scan.New(x.begun.Tables)
	for i, line := range lines {
		if err := x.work.Replay(line); err != nil {
			return fmt.Errorf("%s: %w", x.place.At(names[i]), err)
		}
		if _, err := fmt.Sscanf(path.Base(names[i]), "line-%d", &x.lines); err != nil {
			return fmt.Errorf("the name of %s, which contains a part of the progress, must end with line- and a number: %w", x.place.At(names[i]), err)
		}
	}
	x.Progress.Resume(x.work.Rows(x.begun.Tables...))
	return x.becomeOwner(ctx)
}

// objectLines stores the progress of an export in the destination, one object for each line, numbered in the order of
// the writes.
type objectLines struct {
	ctx context.Context
	x   *exporting

	mu     sync.Mutex
	lines  int   // number of lines that this run and earlier runs tried to write
	broken error // error of the first failed write; later calls of Write return this error
}

// Write stores a line. After an error, it is unknown whether the line was stored, and Write refuses all further lines,
// so that a later run can accept both cases.
func (j *objectLines) Write(line any) error {
	j.mu.Lock()
	j.lines++
	n, broken := j.lines, j.broken
	j.mu.Unlock()
	if broken != nil {
		return broken
	}
	text, err := json.Marshal(line)
	if err = errors.Join(err, j.x.checkOwner(j.ctx)); err == nil {
		err = j.x.place.Put(j.ctx, fmt.Sprintf("%s%010d.json", linePrefix, n), text)
	}
	if err != nil {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.broken = err
	}
	return err
}

func (j *objectLines) Close() error { return nil }

func (j *objectLines) Remove() error { return nil }
