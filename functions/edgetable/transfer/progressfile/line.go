package progressfile

import (
	"bytes"
	"encoding/json"
	"time"

	"edgetable/functions/edgetable/transfer/ranges"
)

// Line is a line of a progress file. In an import, it records the progress of a file and the marks of the tables. In
// other commands, it records the ranges or the marks of tables, the division of a range, or the progress of a range.
type Line struct {
	Table  string                 `json:"table,omitempty"`
	Ranges []ranges.Range         `json:"ranges,omitempty"`
	Begun  time.Time              `json:"begun,omitzero"`
	Marks  map[string]*ranges.Key `json:"marks,omitempty"` // marks of tables, by table name

	Range   int           `json:"range"`             // number of the range; in an import, index of the file
	End     *ranges.Range `json:"end,omitempty"`     // upper part of a divided range, which is a new range
	At      *ranges.Key   `json:"at,omitempty"`      // last finished key
	Rows    int64         `json:"rows,omitempty"`    // number of finished rows: of the range in an export, of the file in an import
	Objects []Stored      `json:"objects,omitempty"` // exported objects of the range that no earlier line lists
	Totals  Totals        `json:"totals,omitzero"`   // totals of the range in a copy, or of all files in an import
	Rejects int64         `json:"rejects,omitempty"` // size in bytes of the file of rejects
	Done    bool          `json:"done,omitempty"`
}

// ParseLine decodes a line. It fails if the line has unknown fields, which a later version may have written: a run that
// ignored them could miss entities.
func ParseLine(text []byte) (l Line, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err = d.Decode(&l)
	return l, err
}

// Stored is a file written by an export.
type Stored struct {
	File   string `json:"file"` // slash-separated path relative to the destination of the export
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Totals counts rows by outcome.
type Totals struct {
	Written  int64 `json:"written"`
	Same     int64 `json:"same,omitempty"`     // rows whose entity already existed with the same properties
	Skipped  int64 `json:"skipped,omitempty"`  // rows whose entity already existed, in the mode skip
	Rejected int64 `json:"rejected,omitempty"` // rows written to the file of rejects
	Dropped  int64 `json:"dropped,omitempty"`  // rows replaced by a later row with the same keys
	Deleted  int64 `json:"deleted,omitempty"`  // entities that a sync has deleted from the target, because the source does not have them
}

// Add adds u to t.
func (t *Totals) Add(u Totals) {
	t.Written += u.Written
	t.Same += u.Same
	t.Skipped += u.Skipped
	t.Rejected += u.Rejected
	t.Dropped += u.Dropped
	t.Deleted += u.Deleted
}

// CountAsWritten adds Same and Skipped to Written. It must be called only if no other command writes to the table.
// These entities were then written by earlier requests whose responses were lost.
func (t *Totals) CountAsWritten() {
	t.Written += t.Same + t.Skipped
	t.Same, t.Skipped = 0, 0
}

// Rows returns the number of finished rows.
func (t *Totals) Rows() int64 { return t.Written + t.Same + t.Skipped + t.Rejected + t.Deleted }
