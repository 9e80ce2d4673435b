package transfer

import (
	"sync"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/transfer/progressfile"
	"edgetable/functions/edgetable/transfer/ranges"
	"edgetable/functions/edgetable/transfer/rows"
	"edgetable/functions/edgetable/transfer/scan"
)

// CopyCommand specifies a copy of tables from one service to another. A run resumes an earlier run that had the same
// command.
type CopyCommand struct {
	Tables []string `json:"tables"`
	Source string   `json:"source"` // URL of the source account
	Target string   `json:"target"`
	Filter string   `json:"filter,omitempty"`
	Select []string `json:"select,omitempty"`
	Mode   string   `json:"mode"`             // insert, merge, replace or skip
	Sync   bool     `json:"sync,omitempty"`   // if true, only entities that differ from the target are written
	Delete bool     `json:"delete,omitempty"` // if Sync and Delete are true, entities that the source does not have are deleted from the target
}

// Copy is a copy of tables from one service to another.
type Copy struct {
	CopyCommand
	DryRun bool // if true, nothing is written to the target, the progress file or the file of rejects

	Connections  int
	ProgressFile string
	Rejects      string // path of the file of rejects
	Progress     *scan.Progress
	Begin        func(again bool)                            // callback at the start; the argument reports whether an earlier run recorded progress
	OnRestart    func(table string)                          // callback for each table that must be copied again from the beginning
	OnReject     func(table string, line int, reason string) // callback for each rejected entity
}

type copier struct {
	o        *Copy
	from, to *remote.Client
	work     *scan.Work
	firsts   map[string]*firstWrite // first write of each table, by table name
	made     map[string]bool        // tables created by this run, by name
	mu       sync.Mutex             // protects rejected
	rejected rows.RejectFile
}

// recordMark records a key as the mark of a table, unless the table already has a mark.
func (c *copier) recordMark(table string, k ranges.Key) error {
	if c.o.DryRun {
		return nil
	}
	return c.work.SetMark(table, k)
}

// writeProgress appends the rejects to their file. It then appends a line to the progress file, with the state of the
// range and the size of the file of rejects.
func (c *copier) writeProgress(table string, p *scan.Task, state progressfile.Line, rejects []rows.Reject) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range rejects {
		c.o.OnReject(r.File, r.Line, r.Reason)
	}
	if !c.o.DryRun {
		if err := c.rejected.Add(rejects); err != nil {
			return err
		}
		if err := c.rejected.Sync(); err != nil {
			return err
		}
		state.Rejects = c.rejected.Size
	}
	return c.work.Note(table, p, state)
}
