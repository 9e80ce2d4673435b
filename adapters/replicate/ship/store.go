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
	// KeepLogs sets the maximum size in bytes of the unshipped log that the store keeps; 0 means that the store keeps
	// none.
	KeepLogs(limit int64) error
	// LogWritten returns the number of bytes written to the log since the store was opened, and the total size of the
	// logs kept for shipping.
	LogWritten() (written, kept int64)

	// Durable returns a number up to which all commits are durable.
	Durable() edm.Ticks
	// AwaitDurable waits until all commits registered before the call are durable, or until ctx is done. It returns a
	// number up to which all commits are durable, and the argument now.
	//
	// The result whole reports whether these commits include every commit whose caller got its reply before the time
	// now.
	AwaitDurable(ctx context.Context, now time.Time) (number edm.Ticks, at time.Time, whole bool)
	// Started returns the highest commit number that earlier processes may have issued.
	Started() edm.Ticks
	// Touch makes a commit that changes no data.
	Touch(ctx context.Context) error
}

// History is the durable record of the timeline (history of commits) to which the commits of a store belong.
type History interface {
	// Identity returns the identity of the store. A copy of a store has the same identity.
	Identity() (string, error)
	// Timeline returns the timeline to which the commits of the store belong.
	Timeline() commitlog.Timeline
	// ChangeTimeline passes the timeline to a function that changes it, and stores the changed timeline.
	ChangeTimeline(do func(*commitlog.Timeline)) error
	// BeginTimeline records that the commits of the store belong to a new timeline from now on.
	BeginTimeline(id, parent string, left edm.Ticks) error
	// Raise makes the numbers of all later commits higher than the given number.
	Raise(above edm.Ticks) error
}
