package workerskv

import (
	"context"
	"errors"
	"strings"
)

// found is a cell that a walk has reached.
type found struct {
	name string
	peeked
}

// budget is the number of KV calls that a page may still make. Once it is spent, no more lists are made; reads of
// single names continue until the page has examined a key.
type budget struct {
	calls   int
	begun   bool        // a key was examined
	expired func() bool // reports that the page's time is up; may be nil
	lists   int         // number of lists made
}

// spent reports whether no more lists may be made. The time counts only after the lists that every page needs.
func (b *budget) spent() bool {
	return b.calls <= 0 || b.lists >= minCalls && b.expired != nil && b.expired()
}

// maxList is the maximum number of names in a list.
const maxList = 1000

// errSpent ends a page early, because its calls or its time are used up.
var errSpent = errors.New("the budget of the page is spent")

// walk visits the cells whose names begin with a prefix, in order. A list of the
// namespace can only start at a prefix or a cursor, so it skips the names before the
// first one.
type walk struct {
	ns     Namespace
	budget *budget
	prefix string
	from   string // the first name
	limit  int    // names per list; grows while lists return no usable names

	page   []Key  // listed, not consumed yet
	cursor string // cursor of the list that returned page
	next   string // cursor after page, "" at the end
	begun  bool
	last   string // the last name consumed
	point  *found // set for a walk over a single name
}

// newWalk begins at a name, with the cursor of an earlier walk or "".
func newWalk(ns Namespace, b *budget, prefix, from, cursor string, limit int) *walk {
	return &walk{ns: ns, budget: b, prefix: prefix, from: from, limit: min(max(limit, 16), maxList), cursor: cursor}
}

// newPoint starts a walk over one name.
func newPoint(ctx context.Context, ns Namespace, b *budget, name string) (*walk, error) {
	w := &walk{ns: ns, budget: b, prefix: name, from: name, begun: true}
	if len(name) > maxName {
		return w, nil
	}
	body, err := w.read(ctx, name)
	if body != nil {
		w.point = &found{name, peeked{stamp: stampOf(body), body: body}}
	}
	return w, err
}

// fill lists until the page has a name, or the end is reached.
func (w *walk) fill(ctx context.Context) error {
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
		keys, next, err := w.ns.List(ctx, w.prefix, cursor, w.limit)
		if errors.Is(err, ErrCursor) && cursor != "" {
			// Restart, and skip all names that were consumed.
			w.begun, w.cursor, w.next = false, "", ""
			continue
		}
		if err != nil {
			return readError(ctx, err)
		}
		w.begun, w.cursor, w.next = true, cursor, next
		for i, k := range keys {
			// A cursor comes from a client's token, so the names that it returns are checked.
			if k.Name >= w.from && k.Name > w.last && strings.HasPrefix(k.Name, w.prefix) {
				w.page = keys[i:]
				break
			}
		}
		if len(w.page) == 0 { // many more names may precede the first one
			w.limit = min(8*w.limit, maxList)
		}
	}
	return nil
}

// read reads a cell, if the budget permits.
func (w *walk) read(ctx context.Context, name string) ([]byte, error) {
	if w.budget.calls <= 0 && w.budget.begun {
		return nil, errSpent
	}
	w.budget.calls--
	return readCell(ctx, w.ns, name)
}

// peek returns the current cell, or nil at the end.
func (w *walk) peek(ctx context.Context) (*found, error) {
	if w.point != nil {
		return w.point, nil
	}
	if err := w.fill(ctx); err != nil || len(w.page) == 0 {
		return nil, err
	}
	k := w.page[0]
	if !strings.HasPrefix(k.Name, w.prefix) || k.Name <= w.last && w.last != "" {
		return nil, errCell // not in order
	}
	p, err := decodeMetadata(k.Metadata)
	if err != nil {
		return nil, err
	}
	return &found{k.Name, p}, nil
}

// take moves past the current cell.
func (w *walk) take() {
	if w.point != nil {
		w.point = nil
		return
	}
	w.last = w.page[0].Name
	w.page = w.page[1:]
}

// resume returns the best cursor for continuing the walk later.
func (w *walk) resume() string {
	if len(w.page) == 0 && w.next != "" {
		return w.next
	}
	return w.cursor
}

// body returns the whole cell, or nil if it was deleted since the list.
func (w *walk) body(ctx context.Context, f *found) ([]byte, error) {
	if f.body != nil {
		return f.body, nil
	}
	return w.read(ctx, f.name)
}

// skip moves to a name, or past it.
func (w *walk) skip(name string) {
	w.from = max(w.from, name)
	for len(w.page) > 0 && w.page[0].Name < name {
		w.page = w.page[1:]
	}
	if w.point != nil && w.point.name < name {
		w.point = nil
	}
}
