// Package objects is the port to places for named byte strings: a directory, or a prefix
// in a bucket. Backups and exports are kept in them.
package objects

import (
	"context"
	"iter"
)

// Place is a place for named byte strings. A name has slashes between its parts.
type Place interface {
	// Put stores an object. Nobody ever sees a part of it. When Put returns nil, the
	// object is durable; after an error it may exist or not.
	Put(ctx context.Context, name string, b []byte) error
	// Get returns an object, or an error that wraps fs.ErrNotExist.
	Get(ctx context.Context, name string) ([]byte, error)
	// List returns the objects whose names begin with prefix, in any order.
	List(ctx context.Context, prefix string) iter.Seq2[Object, error]
	// Delete deletes an object, which may be missing.
	Delete(ctx context.Context, name string) error
}

// Ordered is a place that can begin a list after a name without reading what is before it.
type Ordered interface {
	// ListAfter returns the objects whose names begin with prefix and are above after.
	ListAfter(ctx context.Context, prefix, after string) iter.Seq2[Object, error]
}

// ListAfter lists the objects whose names begin with prefix and are above after. A place that is
// not [Ordered] lists all with the prefix.
func ListAfter(ctx context.Context, p Place, prefix, after string) iter.Seq2[Object, error] {
	if o, ok := p.(Ordered); ok {
		return o.ListAfter(ctx, prefix, after)
	}
	return func(yield func(Object, error) bool) {
		for o, err := range p.List(ctx, prefix) {
			if err == nil && o.Name <= after {
				continue
			}
			if !yield(o, err) {
				return
			}
		}
	}
}

// Object is an object in a list.
type Object struct {
	Name string
	Size int64
}

// TempSuffix ends the names of objects that a place is writing, or that were left by a
// process that was killed at it. A list may show them.
const TempSuffix = ".part"
