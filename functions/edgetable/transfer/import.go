package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"

	"edgetable/adapters/client/remote"
	"edgetable/core/key"
)

// Import says what to import and how.
type Import struct {
	Target  string   `json:"target"` // URL of the account
	Sources []Source `json:"sources"`
	Mode    string   `json:"mode"`             // insert, merge, replace or skip
	Format  string   `json:"format"`           // of files whose names do not say theirs
	Mapping Mapping  `json:"mapping"`          // of rows to entities
	DryRun  bool     `json:"dryRun,omitempty"` // write nothing to the service

	Connections int                                        `json:"-"`
	Journal     string                                     `json:"-"` // file; "" for none
	Rejects     string                                     `json:"-"` // file
	Stdin       io.Reader                                  `json:"-"`
	Progress    *Progress                                  `json:"-"`
	Begin       func(again bool)                           `json:"-"` // gets whether earlier work continues
	Preview     func(table string, entity []byte)          `json:"-"` // gets the first rows of each file as they would be written; nil for none
	Refused     func(file string, line int, reason string) `json:"-"` // gets each refused row
	memory      int                                        // for sorting; 0 for sortMemory
}

// Totals say what became of the rows.
type Totals struct {
	Written  int64 `json:"written"`
	Same     int64 `json:"same,omitempty"`     // an insert found the same entity
	Skipped  int64 `json:"skipped,omitempty"`  // they exist
	Rejected int64 `json:"rejected,omitempty"` // they are in the file of rejects
	Dropped  int64 `json:"dropped,omitempty"`  // a later row has the same keys
	Deleted  int64 `json:"deleted,omitempty"`  // the source of a sync lacks them
}

func (t *Totals) add(u Totals) {
	t.Written += u.Written
	t.Same += u.Same
	t.Skipped += u.Skipped
	t.Rejected += u.Rejected
	t.Dropped += u.Dropped
	t.Deleted += u.Deleted
}

// rows is how many rows the work is done with.
func (t *Totals) rows() int64 { return t.Written + t.Same + t.Skipped + t.Rejected + t.Deleted }

// imported is a line of the journal: so many rows of a source are done, in the
// order in which they are sent.
type imported struct {
	Source   int    `json:"source"`
	Rows     int64  `json:"rows"`
	Done     bool   `json:"done,omitempty"`
	Rejects  int64  `json:"rejects,omitempty"` // bytes of the file of rejects
	Totals   Totals `json:"totals"`            // of all sources
	Finished bool   `json:"finished,omitempty"`
}

// ErrImported is why Run writes nothing: the journal says that all is done.
var ErrImported = errors.New("the import is finished already")

// Run imports. After an error, the same call continues where the journal says.
// What a crash may have left between the journal and the service is written
// again; an insert takes an entity with the same content for its own.
func (o *Import) Run(ctx context.Context, c *remote.Client) (totals Totals, err error) {
	im := &importer{o: o, writer: writer{c, o.Mode}, rejects: rejectFile{path: o.Rejects}}
	state := imported{}
	if o.Journal != "" && !o.DryRun {
		if err := o.forgetFinished(); err != nil {
			return totals, err
		}
		j, err := openJournal(o.Journal, *o.options(), func(line []byte) error {
			state = imported{}
			return json.Unmarshal(line, &state)
		})
		if err != nil {
			return totals, err
		}
		defer func() { err = errors.Join(err, j.close()) }()
		if state.Finished {
			return state.Totals, ErrImported
		}
		im.journal = j
	}
	if !o.DryRun {
		var made bool
		if made, err = o.createTables(ctx, c); err != nil {
			return totals, err
		}
		if made && state != (imported{}) { // somebody deleted the table with the rows that the journal counts
			state = imported{}
			if err := im.journal.write(state); err != nil {
				return totals, err
			}
		}
		if err := im.rejects.begin(state.Rejects); err != nil {
			return totals, err
		}
		defer func() { err = errors.Join(err, im.rejects.close()) }()
	}
	im.state = state
	o.measure(&state)
	o.Begin(state.Rows > 0 || state.Source > 0 || state.Done)
	err = im.run(ctx)
	return im.state.Totals, err
}

// options is the part of o that must be the same when work goes on.
func (o *Import) options() *Import {
	p := &Import{Target: o.Target, Sources: slices.Clone(o.Sources), Mode: o.Mode, Format: o.Format, Mapping: o.Mapping}
	for i := range p.Sources {
		s := &p.Sources[i]
		s.part, s.bytes, s.fetch = nil, nil, nil
	}
	return p
}

// forgetFinished removes the journal of other options if nothing is left to
// continue: the work is finished, or ended before its first row.
func (o *Import) forgetFinished() error {
	text, err := os.ReadFile(o.Journal)
	if err != nil {
		return nil // there is none, or openJournal returns the error
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	var last imported
	var old Import
	if json.Unmarshal(lines[len(lines)-1], &last) != nil || json.Unmarshal(lines[0], &old) != nil {
		return nil
	}
	if none := len(lines) == 1 || last == (imported{}); !last.Finished && !none {
		return nil
	}
	if reflect.DeepEqual(old, *o.options()) {
		return nil
	}
	return RemoveJournal(o.Journal)
}

// measure sets the progress: the finished bytes and rows, and the size of the input.
func (o *Import) measure(state *imported) {
	p := o.Progress
	p.resume(state.Totals.rows())
	p.read.Store(state.Totals.rows() + state.Totals.Dropped - state.Rows) // of the sources before this one
	for i := range o.Sources {
		s := &o.Sources[i]
		s.bytes = &p.input
		p.size.Add(s.Size)
		if i < state.Source {
			p.input.Add(s.Size)
		}
	}
}

// createTables makes the tables that are missing. Made is false if there are none.
func (o *Import) createTables(ctx context.Context, c *remote.Client) (made bool, err error) {
	known := map[string]bool{}
	for _, s := range o.Sources {
		if known[s.Table] {
			continue
		}
		known[s.Table] = true
		one, err := createTable(ctx, c, s.Table)
		if err != nil {
			return made, err
		}
		made = made || one
	}
	return made, nil
}

// read passes the rows of a source on in the order in which they are written:
// as they come while their keys rise, and the others sorted, so that batches are
// full. Between the two, wait is called. The order depends on the file alone.
func (o *Import) read(r rows, file string, pass func(row) error, refuse func(reject) error, wait func() error) (dropped int64, err error) {
	memory := o.memory
	if memory == 0 {
		memory = sortMemory
	}
	var held row // until it is known that the next one has other keys
	var heldKey, nextKey []byte
	some := false
	var s *sorter
	for {
		one, err := r.next()
		o.Progress.read.Add(1)
		var bad *badRow
		switch {
		case err == io.EOF:
			if some {
				if err := pass(held); err != nil {
					return dropped, err
				}
			}
			if s == nil {
				return dropped, nil
			}
			if err := wait(); err != nil {
				return dropped, errors.Join(err, s.close())
			}
			n, err := s.each(pass)
			return dropped + n, errors.Join(err, s.close())
		case errors.As(err, &bad):
			err = refuse(reject{file: file, line: bad.line, reason: bad.reason, text: bad.text})
		case err != nil:
			err = fmt.Errorf("about %s: %w", Where(file, one.line), err)
		case s != nil:
			err = s.add(one)
		default:
			nextKey = key.Append(nextKey[:0], one.pk, one.rk)
			switch order := bytes.Compare(heldKey, nextKey); {
			case some && order > 0:
				s = newSorter(memory)
				if err = s.add(one); err == nil {
					err = pass(held)
					some = false
				}
			case some && order == 0:
				dropped++
			case some:
				err = pass(held)
			}
			if s == nil {
				held, some = one, true
				heldKey, nextKey = nextKey, heldKey
			}
		}
		if err != nil {
			if s != nil {
				err = errors.Join(err, s.close())
			}
			return dropped, err
		}
	}
}
