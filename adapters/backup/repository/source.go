package repository

import (
	"context"
	"time"
)

// Source describes the store that [Repository.Create] backs up.
type Source struct {
	Store   string // identity of the store
	From    string // host and data directory of the store, for the operator
	Program string // version of edgetable that makes the backup
	// Snapshot returns a directory with the files of the store at one moment, and the span of these files. Create
	// removes each file after storing it.
	Snapshot func(ctx context.Context) (dir string, log *LogSpan, err error)
	// Check returns an error for a damaged file. It is called before the file is stored.
	Check func(path string) error
	// Keys are age public keys; none means no encryption.
	Keys []string
	// Interrupted lists earlier runs of the same data directory that did not complete. Create reuses their objects and
	// deletes their manifests.
	Interrupted []string
	// Begin is called with the name of the run before the run's first object is written.
	Begin func(id string) error
	// Progress is called with the number of bytes stored so far and the total.
	Progress func(done, total int64)

	Now func() time.Time
}
