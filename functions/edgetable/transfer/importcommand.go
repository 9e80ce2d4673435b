package transfer

import (
	"io"

	"edgetable/functions/edgetable/transfer/progressfile"
	"edgetable/functions/edgetable/transfer/rows"
	"edgetable/functions/edgetable/transfer/scan"
)

// ImportCommand specifies an import. A run resumes an earlier run that had the same command.
type ImportCommand struct {
	Target  string       `json:"target"` // URL of the target account
	Sources []Source     `json:"sources"`
	Mode    string       `json:"mode"`   // insert, merge, replace or skip
	Format  string       `json:"format"` // format of files whose extension does not name a format
	Mapping rows.Mapping `json:"mapping"`
}

// Import is an import of files to tables.
type Import struct {
	ImportCommand
	DryRun bool // if true, nothing is written to the service

	Connections  int
	ProgressFile string // path of the progress file; "" means that there is none
	Rejects      string // path of the file of rejects
	Stdin        io.Reader
	Progress     *scan.Progress
	Begin        func(again bool)                           // callback at the start; the argument reports whether an earlier run recorded progress
	OnRestart    func(table string)                         // callback for each table that was missing or created again, so that its import starts from the beginning
	Preview      func(table string, entity []byte)          // callback for the first entities of each file, in the form in which the import would write them; may be nil
	OnReject     func(file string, line int, reason string) // callback for each rejected row
	memory       int                                        // maximum size of the rows in memory for sorting, in bytes; 0 means sorter.Memory
}

// hasFinishedWork reports whether a progress line records finished work.
func hasFinishedWork(l *progressfile.Line) bool {
	return l.Range > 0 || l.Rows > 0 || l.Done || l.Marks != nil
}
