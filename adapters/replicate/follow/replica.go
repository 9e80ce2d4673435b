package follow

import (
	"context"
	"io"

	"edgetable/core/commitlog"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Replica is a store that replays the log of another store.
type Replica interface {
	table.Store

	// Identity returns the identity of the store. A store that was restored from a backup has the identity of the
	// original store.
	Identity() (string, error)
	// Position returns how far the store has replayed the log of another store. ok is false if the store replays no log.
	Position() (p commitlog.Position, ok bool, err error)
	// Replay atomically applies commits of another store, sorted by number, and stores the position p after these commits. A
	// commit may be applied twice.
	Replay(ctx context.Context, p commitlog.Position, commits []commitlog.Commit) error
	// Promote ends the replay, so that the store accepts writes with Timestamps higher than the given one.
	//
	// The parameter keepLogs is the maximum size of unshipped log that the store keeps. The parameter next is the ID of
	// the store's new timeline in the backup location, or "".
	Promote(above edm.Ticks, keepLogs int64, next string) error
	// BeginTimeline records that the commits of the store belong to a new timeline from now on.
	BeginTimeline(id, parent string, left edm.Ticks) error
}

// Kind contains the functions of a kind of store that can be a secondary.
type Kind struct {
	// Open opens the store in a directory to which a backup was restored. It returns early if ctx is done.
	Open      func(ctx context.Context, dir string) (Restored, error)
	HasStore  func(dir string) bool               // HasStore reports whether a directory contains a store, which may be damaged.
	CheckNew  func(dir string) error              // CheckNew returns an error if a directory without a store has files of another program.
	OwnsFile  func(name string) bool              // OwnsFile reports whether a file with this name belongs to a store.
	Lock      func(dir string) (io.Closer, error) // Lock locks a directory against other processes that use its store.
	IsNoSpace func(err error) bool                // IsNoSpace reports whether an error means that the disk is full.
}

// Restored is a store that was opened only to apply the log to it.
type Restored interface {
	Replica
	io.Closer
}
