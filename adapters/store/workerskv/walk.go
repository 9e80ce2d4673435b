package workerskv

import (
	"context"
	"errors"
	"strings"
)

// foundName is a name that a walk has reached, with its decoded metadata.
type foundName struct {
	name string
	peeked
}

// budget limits the KV calls and the time of a page. Without budget, a page does not list names any further, but still
// reads single names until it has examined one key.
type budget struct {
	calls   int         // number of KV calls that the page may still make
	begun   bool        // whether the page has examined a key
	expired func() bool // function that reports whether the time of the page is over; may be nil
	lists   int         // number of list calls that the page has made
}

// isSpent reports whether the page must not list further names. The time limit applies only after the first minCalls
// list calls.
func (b *budget) isSpent() bool {
	return b.calls <= 0 || b.lists >= minCalls && b.expired != nil && b.expired()
}

// maxList is the maximum number of names that one list of KV returns.
const maxList = 1000

// errSpent means that a page must end early.
var errSpent = errors.New("the page ended early, because its calls or its time are used up")

// walk visits, in order, the names that begin with prefix, from the name from on. A list of KV begins at the prefix or
// at a cursor, so a walk may skip names.
type walk struct {
	ns     Namespace
	budget *budget
	prefix string
	from   string // names below from are skipped
	limit  int    // names per list; it grows while all listed names are skipped

	page   []Key  // names that were listed and not yet consumed
	cursor string // the cursor of the list that returned page
	next   string // the cursor of the list after page; "" at the end
	begun  bool
	last   string     // the last consumed name
	point  *foundName // set if the walk visits only a single name
}

// newWalk returns a walk that skips the names below from. The parameter cursor is the cursor of an earlier walk with
// the same prefix, or "".
func newWalk(ns Namespace, b *budget, prefix, from, cursor string, limit int) *walk {
	return &walk{ns: ns, budget: b, prefix: prefix, from: from, limit: min(max(limit, 16), maxList), cursor: cursor}
}

// newPoint returns a walk over a single name, and reads the name.
func newPoint(ctx context.Context, ns Namespace, b *budget, name string) (*walk, error) {
	w := &walk{ns: ns, budget: b, prefix: name, from: name, begun: true}
	if len(name) > maxName {
		return w, nil
	}
	body, err := w.read(ctx, name)
	if body != nil {
		w.point = &foundName{name, peeked{stamp: stampOf(body), body: body}}
	}
	return w, err
}

// fill lists names until the page contains a name or the list is complete.
func (w *walk) fill(ctx context.Context) error {
	for len(w.page) == 0 && (!w.begun || w.next != "") {
		if w.budget.isSpent() {
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
			// Restart at the beginning of the prefix, and skip the consumed names.
			w.begun, w.cursor, w.next = false, "", ""
			continue
		}
		if err != nil {
			return readError(ctx, err)
		}
		w.begun, w.cursor, w.next = true, cursor, next
		for i, k := range keys {
			// The cursor may come from a client, so the list may return any names. Check each name.
			if k.Name >= w.from && k.Name > w.last && strings.HasPrefix(k.Name, w.prefix) {
				w.page = keys[i:]
				break
			}
		}
		if len(w.page) == 0 { // list more names at a time, because many more may have to be skipped
			w.limit = min(8*w.limit, maxList)
		}
	}
	return nil
}

// read reads the cell of a name, or returns errSpent if the budget is spent.
func (w *walk) read(ctx context.Context, name string) ([]byte, error) {
	if w.budget.calls <= 0 && w.budget.begun {
		return nil, errSpent
	}
	w.budget.calls--
	return readCell(ctx, w.ns, name)
}

// peek returns the current name with its metadata, or nil at the end.
func (w *walk) peek(ctx context.Context) (*foundName, error) {
	if w.point != nil {
		return w.point, nil
	}
	if err := w.fill(ctx); err != nil || len(w.page) == 0 {
		return nil, err
	}
	k := w.page[0]
	if !strings.HasPrefix(k.Name, w.prefix) || k.Name <= w.last && w.last != "" {
		return nil, errCell // KV has returned names out of order
	}
	p, err := decodeMetadata(k.Metadata)
	if err != nil {
		return nil, err
	}
	return &foundName{k.Name, p}, nil
}

// skipCell consumes the current name.
func (w *walk) skipCell() {
	if w.point != nil {
		w.point = nil
		return
	}
	w.last = w.page[0].Name
	w.page = w.page[1:]
}

// resume returns the cursor at which a later walk skips the fewest names.
func (w *walk) resume() string {
	if len(w.page) == 0 && w.next != "" {
		return w.next
	}
	return w.cursor
}

// body returns the whole cell of a name, or nil if the name was deleted after the list.
func (w *walk) body(ctx context.Context, f *foundName) ([]byte, error) {
	if f.body != nil {
		return f.body, nil
	}
	return w.read(ctx, f.name)
}

// skip consumes all names below the given name.
func (w *walk) skip(name string) {
	w.from = max(w.from, name)
	for len(w.page) > 0 && w.page[0].Name < name {
		w.page = w.page[1:]
	}
	if w.point != nil && w.point.name < name {
		w.point = nil
	}
}
