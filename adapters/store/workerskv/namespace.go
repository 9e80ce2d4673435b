package workerskv

import (
	"context"
	"errors"

	"edgetable/core/edm"
)

// Namespace contains the operations of a Workers KV namespace that this package needs. Names are valid UTF-8 of 1 to
// 512 bytes. Metadata is at most 1,022 bytes of printable ASCII without quotes and backslashes.
//
// A read may return a state that is up to a minute old. KV accepts one write per second to a name, and the last write
// wins.
type Namespace interface {
	// Get returns the value and the metadata of a name, from the same write. metadata is nil if it is not a string. ok
	// is false if the name does not exist. The caller owns both slices.
	Get(ctx context.Context, name string) (value, metadata []byte, ok bool, err error)
	// Write makes writes to different names, in any order, and returns the error of each.
	//
	// ErrRefused means that the write was not applied and will not be. After any other error, the write may have been
	// applied or may still be applied. After a failure, Write may refuse the remaining writes.
	Write(ctx context.Context, writes []Write) []error
	// List returns up to limit names with a prefix, in byte order. limit must not be above 1,000. next is the cursor of
	// the next page, or "" at the end. A page may be empty even if there is a next page.
	//
	// A cursor is valid only for the same prefix. If KV no longer accepts it, List returns ErrCursor.
	List(ctx context.Context, prefix, cursor string, limit int) (keys []Key, next string, err error)
}

// Write stores a value and metadata under a name, or deletes the name.
type Write struct {
	Name            string
	Value, Metadata []byte
	Delete          bool
}

// Key is a name and its metadata.
type Key struct {
	Name     string
	Metadata []byte
}

// These are the errors of a Namespace.
var (
	// ErrRefused means that KV received too many writes, to the name or in total. The refused write was not applied.
	ErrRefused = errors.New("KV refused the write")
	// ErrCursor means that a list cannot continue from the cursor.
	ErrCursor = errors.New("KV refused the cursor")
)

const (
	// interval is the minimum time between two writes of a name.
	interval edm.Ticks = edm.TicksPerSecond
	// visibleAfter is the time after which no isolate uses the state before a write: a minute until KV shows the write
	// everywhere, and the time of a long request that has read the old state.
	visibleAfter edm.Ticks = 120 * edm.TicksPerSecond
)

// readCell returns the cell of a name, or nil if the name does not exist. The caller owns the result.
func readCell(ctx context.Context, ns Namespace, name string) ([]byte, error) {
	value, metadata, ok, err := ns.Get(ctx, name)
	if err != nil {
		return nil, readError(ctx, err)
	}
	if !ok {
		return nil, nil
	}
	return decodeCell(value, metadata)
}

// writeCell writes body as the cell of a name. If body is nil, it deletes the name.
func writeCell(ctx context.Context, ns Namespace, name string, body []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return writeError(ns.Write(ctx, []Write{cellWrite(name, body)}))
}

// cellWrite returns a Write of body as the cell of a name or, if body is nil, a Write that deletes the name.
func cellWrite(name string, body []byte) Write {
	w := Write{Name: name, Delete: body == nil}
	if !w.Delete {
		w.Value, w.Metadata = encodeCell(body)
	}
	return w
}
