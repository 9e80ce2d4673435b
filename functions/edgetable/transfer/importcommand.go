package transfer

import (
	"io"

	"edgetable/functions/edgetable/transfer/progressfile"
	"edgetable/functions/edgetable/transfer/rows"
	"edgetable/functions/edgetable/transfer/scan"
)

// ImportCommand says what to import and how. A run resumes an earlier run whose command is equal.
type ImportCommand struct {
	Target  string       `json:"target"` // URL of the target account
	Sources []Source     `json:"sources"`
	Mode    string       `json:"mode"`    // insert, merge, replace or skip
	Format  string       `json:"format"`  // format of files whose extension names no format
	Mapping rows.Mapping `json:"mapping"` // how rows become entities
}

// Import is an import of files.
type Import struct {
	ImportCommand
	DryRun bool // write nothing to the service

	Connections  int
	ProgressFile string // path of the progress file; "" means no progress file
	Rejects      string // path of the file of refused rows
	Stdin        io.Reader
	Progress     *scan.Progress
	Begin        func(again bool)                           // called at the start; again is true if an earlier run recorded progress
	Again        func(table string)                         // called if the import starts over because a table was missing or created again
	Preview      func(table string, entity []byte)          // may be nil; called with the first entities of each file, as the import would write them
	Refused      func(file string, line int, reason string) // called for each refused row
	memory       int                                        // maximum bytes of rows in memory for sorting; 0 means sorter.Memory
}

// hasFinishedWork reports whether a line of the progress file records finished work.
func hasFinishedWork(l *progressfile.Line) bool {
	return l.Range > 0 || l.Rows > 0 || l.Done || l.Marks != nil
}
