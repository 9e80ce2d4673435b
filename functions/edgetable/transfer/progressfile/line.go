package progressfile

import (
	"bytes"
	"encoding/json"
	"time"

	"edgetable/functions/edgetable/transfer/ranges"
)

// Line is one line of a progress file. It records one of these facts: the ranges of a table, the
// entities that mark tables, the division of a range, or the progress of a range. An import reads
// files one after another; for it a file takes the place of a range.
type Line struct {
	Table  string                 `json:"table,omitempty"`
	Ranges []ranges.Range         `json:"ranges,omitempty"`
	Begun  time.Time              `json:"begun,omitzero"`
	Marks  map[string]*ranges.Key `json:"marks,omitempty"` // by table

	Range   int           `json:"range"`             // number of the range, or of the file
	End     *ranges.Range `json:"end,omitempty"`     // the end of the range, which becomes a range of its own
	At      *ranges.Key   `json:"at,omitempty"`      // the last finished entity
	Rows    int64         `json:"rows,omitempty"`    // finished rows of an export or of a file
	Objects []Stored      `json:"objects,omitempty"` // stored by an export since the previous line
	Totals  Totals        `json:"totals,omitzero"`   // totals of the range for a copy, of all files for an import
	Rejects int64         `json:"rejects,omitempty"` // length in bytes of the file of rejects
	Done    bool          `json:"done,omitempty"`
}

// ParseLine decodes a line. It refuses a line with unknown fields, which another version may have
// written. To resume from a part of such a line could leave out entities.
func ParseLine(text []byte) (l Line, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err = d.Decode(&l)
	return l, err
}

// Stored is a file that an export stored.
type Stored struct {
	File   string `json:"file"` // below the place, with slashes
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Totals counts rows by outcome.
type Totals struct {
	Written  int64 `json:"written"`
	Same     int64 `json:"same,omitempty"`     // inserts that found an equal entity
	Skipped  int64 `json:"skipped,omitempty"`  // the entity exists already
	Rejected int64 `json:"rejected,omitempty"` // written to the file of rejects
	Dropped  int64 `json:"dropped,omitempty"`  // replaced by a later row with the same keys
	Deleted  int64 `json:"deleted,omitempty"`  // missing in the source of a sync
}

// Add adds other totals.
func (t *Totals) Add(u Totals) {
	t.Written += u.Written
	t.Same += u.Same
	t.Skipped += u.Skipped
	t.Rejected += u.Rejected
	t.Dropped += u.Dropped
	t.Deleted += u.Deleted
}

// Own moves the count of equal entities to the written ones. In a table that nobody else writes
// to, an insert that finds an equal entity finds its own write, whose reply was lost.
func (t *Totals) Own() {
	t.Written += t.Same + t.Skipped
	t.Same, t.Skipped = 0, 0
}

// Rows returns the number of finished rows.
func (t *Totals) Rows() int64 { return t.Written + t.Same + t.Skipped + t.Rejected + t.Deleted }
