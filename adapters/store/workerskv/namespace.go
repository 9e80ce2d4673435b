package workerskv

import (
	"context"
	"errors"

	"edgetable/core/edm"
)

// Namespace is the part of a Workers KV namespace that this package needs. Names
// are valid UTF-8 of 1 to 512 bytes. Metadata is printable ASCII without quotes
// and backslashes, at most 1,022 bytes; KV keeps it as a JSON string, which with
// its quotes has the 1,024 bytes that KV permits.
//
// Each read may show a state up to a minute old, and so may an answer that a name
// does not exist. KV accepts one write per second and name; the last one wins.
type Namespace interface {
	// Get returns a value and its metadata, both of one version. ok is false if the
	// name does not exist. Metadata that is not a string is nil. The caller owns
	// both slices.
	Get(ctx context.Context, name string) (value, metadata []byte, ok bool, err error)
	// Write carries out one or more writes in any order or concurrently and returns
	// the error of each. No name occurs twice. ErrRefused promises that the write was
	// not and will not be applied; after any other error it may have been applied or
	// may still be. After a failure, the remaining writes may be refused untried.
	Write(ctx context.Context, writes []Write) []error
	// List returns at most limit names, at most 1,000, that begin with prefix, in
	// byte order, and the cursor of the next page: "" if the list is complete. A page
	// may be empty and still have a next one. A cursor is valid for its prefix only;
	// one that KV no longer accepts fails with ErrCursor.
	List(ctx context.Context, prefix, cursor string, limit int) (keys []Key, next string, err error)
}

// Write puts a value and metadata under a name, or deletes the name.
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

// Errors of a Namespace.
var (
	// ErrRefused means that there were too many writes, of this name or in total. Nothing
	// was written.
	ErrRefused = errors.New("KV refused the write")
	// ErrCursor means that the list cannot continue from this cursor.
	ErrCursor = errors.New("KV refused the cursor")
)

const (
	// interval is the minimum time between two writes of a name.
	interval edm.Ticks = edm.TicksPerSecond
	// visibleAfter is the time after which all isolates see a write: the minute that KV takes, plus the longest
	// request that may have begun before it.
	visibleAfter edm.Ticks = 120 * edm.TicksPerSecond
)

// readCell reads a cell; nil if there is none. The caller owns it.
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

// writeCell writes a cell; nil deletes it.
func writeCell(ctx context.Context, ns Namespace, name string, body []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return writeError(ns.Write(ctx, []Write{cellWrite(name, body)}))
}

// cellWrite returns the write of a cell; a nil body deletes it.
func cellWrite(name string, body []byte) Write {
	w := Write{Name: name, Delete: body == nil}
	if !w.Delete {
		w.Value, w.Metadata = encodeCell(body)
	}
	return w
}
