package export

import (
	"sync"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/transfer/scan"
)

// Export is an export of tables to files.
type Export struct {
	Command
	Restart bool // replace an unfinished export, or a finished export by another command

	Notes       []string // sentences about columns with unexpected names or types; set by ToWriter
	Connections int
	Progress    *scan.Progress
	Begin       func(again bool) // called at the start; again reports whether an earlier run recorded progress
}

type exporting struct {
	*Export
	c     *remote.Client
	place Place
	old   *Manifest // manifest of the last finished export, or nil
	begun *exportRecord
	work  *scan.Work
	lines int // number of progress lines that earlier runs wrote

	buffers sync.Pool
	sheets  sync.Map // by *scan.Task: the rows.Sheet with the columns of the range
}
