package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Names of objects while an export is not finished: its options, the lines of its
// journal, and pieces of tables that become parts.
const (
	unfinishedPrefix = "unfinished/"
	unfinishedName   = unfinishedPrefix + "export.json"
	linePrefix       = unfinishedPrefix + "line-"
)

// objectJournal is a journal in a place for objects: an object a line, numbered as
// they were written.
type objectJournal struct {
	ctx   context.Context // of the work
	place Bucket

	mu     sync.Mutex
	lines  int   // written or begun, of earlier runs too
	broken error // why a line may be missing; none may come behind it
}

// openObjectJournal opens or makes a journal. It passes the lines that are there to
// replay. again is false if there was none.
func openObjectJournal[T any](ctx context.Context, place Bucket, options T, replay func(line []byte) error) (j *objectJournal, again bool, err error) {
	j = &objectJournal{ctx: ctx, place: place}
	var old T
	again, err = getJSON(ctx, place, unfinishedName, &old)
	switch {
	case err != nil:
		return nil, false, err
	case !again: // lines without options are left from an export that was removed
		err := place.removeAll(ctx, unfinishedPrefix)
		return j, false, errors.Join(err, putJSON(ctx, place, unfinishedName, options))
	case !reflect.DeepEqual(old, options):
		return nil, false, errors.New("it has an unfinished export of other tables, or with other flags: repeat that command, or begin again with --restart")
	}
	var names []string
	for object, err := range place.List(ctx, linePrefix) {
		if err != nil {
			return nil, false, err
		}
		names = append(names, object.Name)
	}
	slices.Sort(names)
	lines := make([][]byte, len(names))
	g, getCtx := errgroup.WithContext(ctx)
	g.SetLimit(journalReaders)
	for i, name := range names {
		g.Go(func() (err error) {
			lines[i], err = place.Get(getCtx, name)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, false, err
	}
	for i, line := range lines {
		if err := replay(line); err != nil {
			return nil, false, fmt.Errorf("%s: %w", names[i], err)
		}
		if _, err := fmt.Sscanf(path.Base(names[i]), "line-%d", &j.lines); err != nil {
			return nil, false, fmt.Errorf("%s is no name of a line: %w", names[i], err)
		}
	}
	return j, true, nil
}

// journalReaders is how many lines are read at the same time.
const journalReaders = 16

// write stores a line. A line that fails may be stored or not: both are true for
// who reads it. What comes later could contradict it, so nothing does.
func (j *objectJournal) write(line any) error {
	j.mu.Lock()
	j.lines++
	n, broken := j.lines, j.broken
	j.mu.Unlock()
	if broken != nil {
		return broken
	}
	text, err := json.Marshal(line)
	if err == nil {
		err = j.place.Put(j.ctx, fmt.Sprintf("%s%010d.json", linePrefix, n), text)
	}
	if err != nil {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.broken = err
	}
	return err
}

func (j *objectJournal) close() error { return nil }

// remove removes all that is kept for an unfinished export.
func (j *objectJournal) remove() error { return j.place.removeAll(j.ctx, unfinishedPrefix) }
