// Package objects is the port to object storage, which holds backups and exports. The storage is a directory, or
// those objects in a bucket whose names have a common prefix.
package objects

import (
	"context"
	"iter"
)

// Place stores objects: byte strings with names. Slashes separate the parts of a name.
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

// Ordered is an optional interface of a [Place]: it can list the objects after a given name without reading earlier
// names.
type Ordered interface {
	// ListAfter lists the objects whose names begin with prefix and are greater than after.
	ListAfter(ctx context.Context, prefix, after string) iter.Seq2[Object, error]
}

// ListAfter lists the objects in p whose names begin with prefix and are greater than after. If p is not [Ordered],
// ListAfter lists all objects with the prefix and drops those whose names are not greater.
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

// TempSuffix is the suffix in the name of an incomplete object. Either the object is being written, or its writer was
// killed. A list may contain such names.
const TempSuffix = ".part"
