package transfer

import (
	"sync"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/transfer/progressfile"
	"edgetable/functions/edgetable/transfer/ranges"
	"edgetable/functions/edgetable/transfer/rows"
	"edgetable/functions/edgetable/transfer/scan"
)

// CopyCommand says what to copy from one service to another and how. A run resumes an earlier run
// whose command is equal.
type CopyCommand struct {
	Tables []string `json:"tables"`
	Source string   `json:"source"` // URL of the source account
	Target string   `json:"target"`
	Filter string   `json:"filter,omitempty"`
	Select []string `json:"select,omitempty"`
	Mode   string   `json:"mode"`             // insert, merge, replace or skip
	Sync   bool     `json:"sync,omitempty"`   // write only entities that differ from those in the target
	Delete bool     `json:"delete,omitempty"` // with Sync: also delete entities that the source does not have
}

// Copy is a copy of tables.
type Copy struct {
	CopyCommand
	DryRun bool // write nothing to the target, no progress file, and no file of refused entities

	Connections  int
	ProgressFile string // path of the progress file
	Rejects      string // path of the file of refused entities
	Progress     *scan.Progress
	Begin        func(again bool)                            // called at the start; again is true if an earlier run of the command recorded progress
	Again        func(table string)                          // called for each table whose copy starts over from the beginning
	Refused      func(table string, line int, reason string) // called for each refused entity
}

// copier is the state of a running copy.
type copier struct {
	o        *Copy
	from, to *remote.Client
	work     *scan.Work
	firsts   map[string]*firstWrite // by name of the table
	made     map[string]bool        // tables that this run created
	mu       sync.Mutex             // guards rejected
	rejected rows.RejectFile
}

// mark records the key of an entity in the target, by which a later run recognizes the table. If the
// table has such a key already, mark changes nothing.
func (c *copier) mark(table string, k ranges.Key) error {
	if c.o.DryRun {
		return nil
	}
	return c.work.SetMark(table, k)
}

// writeProgress appends the refused entities to their file. Then it appends a line to the progress
// file, with the state of the range and the length of the file of refused entities.
func (c *copier) writeProgress(table string, p *scan.Task, state progressfile.Line, rejects []rows.Reject) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range rejects {
		c.o.Refused(r.File, r.Line, r.Reason)
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
