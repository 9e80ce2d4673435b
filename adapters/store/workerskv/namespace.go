package workerskv

import (
	"context"
	"errors"
)

// Namespace is one of Workers KV, as far as it is needed here. Names are valid
// UTF-8 of 1 to 512 bytes. Metadata is printable ASCII without quotes and
// backslashes, at most 1,022 bytes, and is kept as a JSON string: with its quotes
// that is the 1,024 bytes there are for it.
//
// Reads may be a minute old, each by itself, and so may be the answer that there
// is nothing. A name takes one write a second, and the last one counts.
type Namespace interface {
	// Get returns a value and its metadata, of one version. It is not ok where
	// there is none. Metadata that is not a string is nil. The caller owns both.
	Get(ctx context.Context, name string) (value, metadata []byte, ok bool, err error)
	// Write does writes, at least one and no two of a name, in any order or at once, and
	// returns what became of each. It is ErrRefused where nothing was written and
	// nothing will be; after any other error it may have been, or may still be.
	// Where one failed, others may be refused without being tried.
	Write(ctx context.Context, writes []Write) []error
	// List returns at most limit names, at most 1,000, that begin with prefix, in
	// the order of their bytes, and where to go on: next is "" where the list is
	// complete. A page may be empty and have a next. A cursor is good for the
	// prefix it came from; one that is not taken any more fails with ErrCursor.
	List(ctx context.Context, prefix, cursor string, limit int) (keys []Key, next string, err error)
}

// Write is what is to be under a name.
type Write struct {
	Name            string
	Value, Metadata []byte
	Gone            bool // nothing is to be there
}

// writeOne does one write.
func writeOne(ctx context.Context, ns Namespace, w Write) error {
	return ns.Write(ctx, []Write{w})[0]
}

// Key is a name and its metadata.
type Key struct {
	Name     string
	Metadata []byte
}

// What a Namespace may answer besides success.
var (
	// ErrRefused: too many writes, of this name or altogether. Nothing was written.
	ErrRefused = errors.New("KV refused the write")
	// ErrCursor: the list cannot go on from there.
	ErrCursor = errors.New("KV refused the cursor")
)
