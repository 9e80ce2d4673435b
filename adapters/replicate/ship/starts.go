package ship

import (
	"slices"

	"edgetable/core/edm"
)

// reach holds commit numbers that say which commits of a timeline the backup location and the store have.
type reach struct {
	shipped edm.Ticks // the backup location has the log up to this number; 0 if it has no log
	backup  edm.Ticks // if the location has no log, a backup has the commits up to this number; 0 if there is no usable backup
	since   edm.Ticks // the store has the log after this number
	branch  bool      // whether the timeline is new: the store was restored or promoted, and this process has discarded no log
	hole    bool      // whether the location lacks a part of the log between its newest backup and the end of the log
}

// start says after which commit a store begins to ship its log.
type start int

const (
	afterShipped   start = iota // begin after the last commit in the shipped log
	afterBackup                 // begin after the commits of an existing backup
	afterNewBackup              // begin after the commits of a new backup
	afterGap                    // begin after a new backup; moments between the shipped log and this backup cannot be restored
)

type beginning struct {
	applies func(reach) bool
	start   start
}

// starts says after which commit the store begins to ship its log. The first row whose condition holds is used.
var starts = [...]beginning{
	{reach.backupCanBeContinued, afterBackup}, // the process ended between its first backup and its first shipped log, or a prune removed the log
	{reach.nothingShipped, afterNewBackup},    // this is the first start of a store with this backup location
	{reach.justRestored, afterNewBackup},      // this is the first start of a restored store, which never had the log
	{reach.piecesAreGone, afterGap},           // the location was replaced by an older copy of itself
	{reach.logWasDiscarded, afterGap},         // too much log waited for the location, or the disk was full
	{reach.always, afterShipped},              // this is the case at every start after the first
}

func (r reach) backupCanBeContinued() bool { return r.backup > 0 }
func (r reach) nothingShipped() bool       { return r.shipped == 0 }
func (r reach) justRestored() bool         { return r.branch && r.since > r.shipped }
func (r reach) piecesAreGone() bool        { return r.hole }
func (r reach) logWasDiscarded() bool      { return r.since > r.shipped }
func (r reach) always() bool               { return true }

// start returns the value in the first row of the table starts whose condition holds.
func (r reach) start() start {
	return starts[slices.IndexFunc(starts[:], func(c beginning) bool { return c.applies(r) })].start
}
