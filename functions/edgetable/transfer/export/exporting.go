package export

import (
	"sync"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/transfer/scan"
)

// Export is an export of tables to files.
type Export struct {
	Command
	Restart bool // discard an unfinished export of any command, and replace a finished export of another command

	Notes       []string // set by ToWriter: sentences about columns with unexpected names or types
	Connections int
	Progress    *scan.Progress
	Begin       func(again bool) // called at the start; again is true if an earlier run recorded progress
}

// exporting is the state of a running export.
type exporting struct {
	*Export
	c     *remote.Client
	place Place
	old   *Manifest // manifest of the last finished export, or nil
	begun *exportRecord
	work  *scan.Work
	lines int // number of progress lines of earlier runs

	buffers sync.Pool // buffers for objects
	sheets  sync.Map  // key: *scan.Task of a range; value: the rows.Sheet that collects the columns of the entities in the range
}
