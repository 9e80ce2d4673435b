package repository

import (
	"context"
	"iter"
)

// Objects is a place for named byte strings.
type Objects interface {
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

// Object is an object in a list.
type Object struct {
	Name string
	Size int64
}

// Names of objects.
const (
	formatName = "format"
	dataDir    = "objects/"
	backupDir  = "backups/"
	runDir     = "unfinished/"
	tempSuffix = ".part" // of a file that a Directory is writing
)
