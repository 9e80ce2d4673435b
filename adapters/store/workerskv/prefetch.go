package workerskv

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"edgetable/core/key"
)

const (
	// listed is from how many entities on a list is tried before they are read one
	// by one: it takes as long as a few reads.
	listed = 8
	// lists bounds how many are tried, as what is listed may be mostly others.
	lists = 3
)

// prefetch reads the entities that jobs depend on, if they are many and near to
// each other, by a list. Those it leaves out are read when they are needed.
func (b *batch) prefetch(ctx context.Context, jobs []*job) error {
	var keys [][]byte
	for _, j := range jobs {
		for i := range j.mutations {
			if m := &j.mutations[i]; b.reads(m) {
				keys = append(keys, m.Key)
			}
		}
	}
	if len(keys) < listed {
		return nil
	}
	slices.SortFunc(keys, bytes.Compare)
	r := key.Range{Start: keys[0], End: append(bytes.Clone(keys[len(keys)-1]), 1)}
	budget := budget{calls: lists}
	w := newWalk(&b.store.cells, &budget, nameOf(b.entities, prefixOf(r)), nameOf(b.entities, r.Start), "", 1000)
	for len(keys) > 0 {
		f, err := w.peek(ctx)
		if errors.Is(err, errSpent) {
			return nil
		}
		if err != nil {
			return err
		}
		// What the list has passed by is not there.
		for len(keys) > 0 && (f == nil || nameOf(b.entities, keys[0]) <= f.name) {
			k := keys[0]
			keys = keys[1:]
			switch {
			case f == nil || nameOf(b.entities, k) < f.name || f.gone:
				b.read[string(k)] = nil
			case f.body != nil:
				b.read[string(k)] = bytes.Clone(f.body)
			}
		}
		if f != nil {
			w.take(f)
		}
	}
	return nil
}
