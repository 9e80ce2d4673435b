package progressfile

import (
	"bytes"
	"encoding/json"
	"time"

	"edgetable/functions/edgetable/transfer/ranges"
)

// Line is one line of a progress file. It records one of these facts: the ranges of a table, the
// entities by which later runs recognize tables, the division of a range, or the progress of a
// range. An import has no ranges. Its lines record the progress of its files, one file after
// another.
type Line struct {
	Table  string                 `json:"table,omitempty"`
	Ranges []ranges.Range         `json:"ranges,omitempty"`
	Begun  time.Time              `json:"begun,omitzero"`
	Marks  map[string]*ranges.Key `json:"marks,omitempty"` // keys of the entities by which later runs recognize tables, by table name

	Range   int           `json:"range"`             // number of the range or, in an import, index of the file
	End     *ranges.Range `json:"end,omitempty"`     // upper part of a divided range, which becomes a new range
	At      *ranges.Key   `json:"at,omitempty"`      // key of the last finished entity
	Rows    int64         `json:"rows,omitempty"`    // number of finished rows, in an export or in a file of an import
	Objects []Stored      `json:"objects,omitempty"` // in an export, stored objects of the range that no earlier line lists
	Totals  Totals        `json:"totals,omitzero"`   // in a copy, totals of the range; in an import, totals of all files
	Rejects int64         `json:"rejects,omitempty"` // length in bytes of the file of rejected rows
	Done    bool          `json:"done,omitempty"`
}

// ParseLine decodes a line. It fails for a line with unknown fields, which a later version may have
// written. A run that ignored these fields could miss entities.
func ParseLine(text []byte) (l Line, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err = d.Decode(&l)
	return l, err
}

// Stored is a file that an export stored.
type Stored struct {
	File   string `json:"file"` // path relative to the destination of the export, with slashes
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Totals counts rows by their outcome.
type Totals struct {
	Written  int64 `json:"written"`
	Same     int64 `json:"same,omitempty"`     // rows whose entity exists with the same properties
	Skipped  int64 `json:"skipped,omitempty"`  // in the mode skip: rows whose entity exists
	Rejected int64 `json:"rejected,omitempty"` // rows written to the file of rejected rows
	Dropped  int64 `json:"dropped,omitempty"`  // rows replaced by a later row with the same keys
	Deleted  int64 `json:"deleted,omitempty"`  // in a sync: entities deleted because the source does not have them
}

// Add adds the counts of the totals u to the totals t.
func (t *Totals) Add(u Totals) {
	t.Written += u.Written
	t.Same += u.Same
	t.Skipped += u.Skipped
	t.Rejected += u.Rejected
	t.Dropped += u.Dropped
	t.Deleted += u.Deleted
}

// Own counts equal and skipped entities as written entities. Call Own if only this command writes to
// the table. If an insert then finds an existing entity, an earlier request of the same command wrote
// the entity. Only the response was lost.
func (t *Totals) Own() {
	t.Written += t.Same + t.Skipped
	t.Same, t.Skipped = 0, 0
}

// Rows returns the number of finished rows.
func (t *Totals) Rows() int64 { return t.Written + t.Same + t.Skipped + t.Rejected + t.Deleted }
