// Package objects is the port to object storage: a directory, or a prefix in a bucket. It holds backups and exports.
package objects

import (
	"context"
	"iter"
)

// Place stores named byte strings. Slashes separate the parts of a name.
type Place interface {
	// Put stores an object. Readers see the whole object or none of it. When Put returns nil, the object is durable;
	// after an error it may or may not exist.
	Put(ctx context.Context, name string, b []byte) error
	// Get returns the content of an object, or an error that wraps fs.ErrNotExist.
	Get(ctx context.Context, name string) ([]byte, error)
	// List returns the objects whose names begin with prefix, in any order.
	List(ctx context.Context, prefix string) iter.Seq2[Object, error]
	// Delete deletes an object. It is no error if the object is missing.
	Delete(ctx context.Context, name string) error
}

// Ordered is a Place that can list objects from a given name on without reading the names before it.
type Ordered interface {
	// ListAfter lists the objects whose names begin with prefix and sort after the name after.
	ListAfter(ctx context.Context, prefix, after string) iter.Seq2[Object, error]
}

// ListAfter lists the objects whose names begin with prefix and are greater than the last argument. If p is not
// [Ordered], it lists all objects with the prefix and skips the others.
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

// Object is one entry of a list.
type Object struct {
	Name string
	Size int64
}

// TempSuffix ends the name of an object that is being written, or that a killed process left unfinished. A list may
// contain such names.
const TempSuffix = ".part"
