package export

import (
	"sync"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/transfer/scan"
)

// Export is an export of tables to files.
type Export struct {
	Command
	Restart bool // if true, an unfinished export, or a finished export by another command, is replaced

	Notes       []string // sentences about columns with unexpected names or types; set by ToWriter
	Connections int
	Progress    *scan.Progress
	Begin       func(again bool) // callback at the start; the argument reports whether an earlier run recorded progress
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
	sheets  sync.Map // maps each *scan.Task to the rows.Sheet with the columns of its range
}
