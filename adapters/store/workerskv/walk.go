package workerskv

import (
	"context"
	"errors"
	"strings"

	"edgetable/core/edm"
)

// found is a cell that a walk came to.
type found struct {
	name  string
	stamp edm.Ticks
	body  []byte // nil: it is the value, or gone
	gone  bool   // deleted by this isolate
	mark  bool
	// shared: the body belongs to others too.
	shared bool
}

// budget is how many calls of the namespace a page may still make. Lists stop
// when there are none left, single reads not before a key was examined.
type budget struct {
	calls   int
	begun   bool
	expired func() bool // the time of the page; may be nil
	lists   int         // that were made
}

// spent reports whether no list may be made. The time counts only for what a page
// gets on without.
func (b *budget) spent() bool {
	return b.calls <= 0 || b.lists >= minCalls && b.expired != nil && b.expired()
}

// maxList is the most names of a list.
const maxList = 1000

// errSpent ends a page early: no calls are left, or no time.
var errSpent = errors.New("the calls of a page are spent")

// walk goes through the cells whose names begin with a prefix, in order. It is
// a list of the namespace, which knows no start but a cursor, so it skips what is
// before the first name; and what this isolate wrote is laid over it.
type walk struct {
	cells  *cells
	budget *budget
	prefix string
	from   string // the first name
	limit  int    // of names a call, which grows where none is of use

	page   []Key  // of which nothing was taken yet
	cursor string // the page came from
	next   string // cursor behind it, "" where it is the last
	begun  bool
	last   string // the last name that KV listed
	memos  []memo
	shared bool // memos belong to others too
	point  bool // not a list, but the cell with the name from
}

// newWalk begins at a name, with a cursor from which it is thought to follow, or
// none.
func newWalk(c *cells, b *budget, prefix, from, cursor string, limit int) *walk {
	return &walk{
		cells: c, budget: b, prefix: prefix, from: from, limit: min(max(limit, 16), maxList),
		cursor: cursor, memos: c.memory.from(prefix, from), shared: true,
	}
}

// newPoint walks over one cell.
func newPoint(c *cells, b *budget, name string) *walk {
	return &walk{cells: c, budget: b, prefix: name, from: name, point: true}
}

// fill lists until there is a name on the page, or no more.
func (w *walk) fill(ctx context.Context) error {
	if w.point {
		return w.fillPoint(ctx)
	}
	for len(w.page) == 0 && (!w.begun || w.next != "") {
		if w.budget.spent() {
			return errSpent
		}
		w.budget.calls--
		w.budget.lists++
		cursor := w.next
		if !w.begun {
			cursor = w.cursor
		}
		keys, next, err := w.cells.ns.List(ctx, w.prefix, cursor, w.limit)
		if errors.Is(err, ErrCursor) && cursor != "" {
			// From the beginning, over all that was seen already.
			w.begun, w.cursor, w.next = false, "", ""
			continue
		}
		if err != nil {
			return readError(ctx, err)
		}
		w.begun, w.cursor, w.next = true, cursor, next
		for i, k := range keys {
			// A cursor may come from anybody: what it leads to is looked at.
			if k.Name < w.from || k.Name <= w.last || !strings.HasPrefix(k.Name, w.prefix) {
				continue
			}
			w.page = keys[i:]
			break
		}
		if len(w.page) == 0 { // there may be many more that are before the first name
			w.limit = min(8*w.limit, maxList)
		}
	}
	return nil
}

func (w *walk) fillPoint(ctx context.Context) error {
	if w.begun || len(w.prefix) > maxName {
		return nil
	}
	if w.budget.calls <= 0 && w.budget.begun {
		return errSpent
	}
	w.budget.calls--
	body, remembered, err := w.cells.view(ctx, w.prefix)
	if err != nil {
		return err
	}
	w.begun, w.shared = true, remembered
	if body != nil {
		w.memos = []memo{{name: w.prefix, stamp: stampOf(body), body: body}}
	}
	return nil
}

// read reads a cell, if the budget allows it.
func (w *walk) read(ctx context.Context, name string) ([]byte, error) {
	if w.budget.calls <= 0 && w.budget.begun {
		return nil, errSpent
	}
	w.budget.calls--
	return w.cells.get(ctx, name)
}

// peek is the cell at hand, nil at the end.
func (w *walk) peek(ctx context.Context) (*found, error) {
	if err := w.fill(ctx); err != nil {
		return nil, err
	}
	var f *found
	if len(w.page) > 0 {
		k := w.page[0]
		if !strings.HasPrefix(k.Name, w.prefix) || k.Name <= w.last && w.last != "" {
			return nil, errCell // no order
		}
		p, err := decodeMetadata(k.Metadata)
		if err != nil {
			return nil, err
		}
		f = &found{name: k.Name, stamp: p.stamp, body: p.body, mark: p.mark}
	}
	if len(w.memos) > 0 {
		m := &w.memos[0]
		if f == nil || m.name < f.name || m.name == f.name && m.stamp >= f.stamp {
			f = &found{name: m.name, stamp: m.stamp, body: m.body, gone: m.body == nil, shared: w.shared}
		}
	}
	return f, nil
}

// take goes on behind the cell at hand.
func (w *walk) take(f *found) {
	if len(w.page) > 0 && w.page[0].Name == f.name {
		w.last = f.name
		w.page = w.page[1:]
	}
	if len(w.memos) > 0 && w.memos[0].name == f.name {
		w.memos = w.memos[1:]
	}
}

// resume is the cursor with which a walk from here on lists least.
func (w *walk) resume() string {
	if len(w.page) == 0 && w.next != "" {
		return w.next
	}
	return w.cursor
}

// whole is the body of a cell that a walk came to, nil if it is gone meanwhile.
// It is read-only.
func (w *walk) whole(ctx context.Context, f *found) ([]byte, error) {
	if f.body != nil || f.gone {
		return f.body, nil
	}
	return w.read(ctx, f.name)
}

// skip goes on at a name, or behind it.
func (w *walk) skip(name string) {
	w.from = max(w.from, name)
	for len(w.page) > 0 && w.page[0].Name < name {
		w.page = w.page[1:]
	}
	for len(w.memos) > 0 && w.memos[0].name < name {
		w.memos = w.memos[1:]
	}
}
