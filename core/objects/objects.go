// Package objects defines the interface to the storage of backups and exports: a directory, or the objects in a bucket
// whose names have a common prefix.
package objects

import (
	"context"
	"iter"
)

// Place stores objects, which are named byte strings. Names may contain slashes.
type Place interface {
	// Put stores an object atomically. If it returns nil, the object is durable. After an error, the object might
	// exist.
	Put(ctx context.Context, name string, b []byte) error
	// Get returns the content of an object, or an error that wraps fs.ErrNotExist.
	Get(ctx context.Context, name string) ([]byte, error)
	// List returns the objects whose names begin with prefix, in any order.
	List(ctx context.Context, prefix string) iter.Seq2[Object, error]
	// Delete deletes an object. Deleting a missing object is not an error.
	Delete(ctx context.Context, name string) error
}

// Ordered is a [Place] that can list the objects after a given name without reading earlier names.
type Ordered interface {
	// ListAfter lists the objects whose names begin with prefix and are greater than after.
	ListAfter(ctx context.Context, prefix, after string) iter.Seq2[Object, error]
}

// ListAfter lists the objects in p whose names begin with prefix and are greater than startAfter. If p is not
// [Ordered], it lists all objects with the prefix and skips the smaller ones.
func ListAfter(ctx context.Context, p Place, prefix, startAfter string) iter.Seq2[Object, error] {
	if o, ok := p.(Ordered); ok {
		return o.ListAfter(ctx, prefix, startAfter)
	}
	return func(yield func(Object, error) bool) {
		for o, err := range p.List(ctx, prefix) {
			if err == nil && o.Name <= startAfter {
				continue
			}
			if !yield(o, err) {
				return
			}
		}
	}
}

// Object is an entry of a list.
type Object struct {
	Name string
	Size int64
}

// TempSuffix is the suffix of the name of an incomplete object. The object is being written, or its writer was killed.
// Lists may contain such objects.
const TempSuffix = ".part"
