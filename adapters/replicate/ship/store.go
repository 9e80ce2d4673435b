package ship

import (
	"context"
	"time"

	"edgetable/core/commitlog"
	"edgetable/core/edm"
)

// Store is a store whose log is shipped.
type Store interface {
	History

	// ReadLog returns a reader of all commits with numbers > after. The store must still have the log of these commits:
	// Timeline.Since must be <= after.
	ReadLog(after edm.Ticks) commitlog.Reader
	// KeepLogs changes the maximum size in bytes of the log that the store keeps because it is not shipped yet; 0 means that
	// the store keeps none.
	KeepLogs(limit int64) error
	// LogWritten returns the number of bytes written to the log since the store was opened, and the total size of the logs
	// that are kept until they are shipped.
	LogWritten() (written, kept int64)

	// Durable returns a number up to which all commits are durable.
	Durable() edm.Ticks
	// AwaitDurable waits until all commits registered before the call are durable, or until ctx ends. All commits up to the
	// result number are durable. If the result whole is true, these commits include every commit that returned before the
	// result time.
	AwaitDurable(ctx context.Context, now time.Time) (number edm.Ticks, at time.Time, whole bool)
	// Started returns the highest number that processes before this one may have issued for a commit of the store.
	Started() edm.Ticks
	// Touch makes a commit that changes no data, and returns the number of the commit.
	Touch(ctx context.Context) (edm.Ticks, error)
}

// History is the durable record of a store that says to which timeline (history of commits) its commits belong.
type History interface {
	// Identity distinguishes the store from other stores. A copy of a store has the same identity.
	Identity() (string, error)
	// Timeline returns the timeline to which the commits of the store belong.
	Timeline() commitlog.Timeline
	// ChangeTimeline changes the record of the timeline with the function do.
	ChangeTimeline(do func(*commitlog.Timeline)) error
	// BeginTimeline records that the commits of the store belong to a new timeline from now on.
	BeginTimeline(id, parent string, left edm.Ticks) error
	// Raise makes the numbers of all later commits higher than the given number.
	Raise(above edm.Ticks) error
}
