package progressfile

import (
	"bytes"
	"encoding/json"
	"time"

	"edgetable/functions/edgetable/transfer/ranges"
)

// Line is a line of a progress file. It says one thing: the ranges of a table, or the entities
// that mark tables, or that a range lost its end to a new one, or how far a range is. An import
// reads files, one after the other, in the place of ranges.
type Line struct {
	Table  string                 `json:"table,omitempty"`
	Ranges []ranges.Range         `json:"ranges,omitempty"`
	Begun  time.Time              `json:"begun,omitzero"`
	Marks  map[string]*ranges.Key `json:"marks,omitempty"` // by table

	Range   int           `json:"range"`             // number of the range, or of the file
	End     *ranges.Range `json:"end,omitempty"`     // of the range, which is a range of its own from now on
	At      *ranges.Key   `json:"at,omitempty"`      // the last entity that is done
	Rows    int64         `json:"rows,omitempty"`    // that are done, of an export or of a file
	Objects []Stored      `json:"objects,omitempty"` // that an export stored since the line before
	Totals  Totals        `json:"totals,omitzero"`   // of a copy: of the range; of an import: of all files
	Rejects int64         `json:"rejects,omitempty"` // bytes of the file of rejects
	Done    bool          `json:"done,omitempty"`
}

// ParseLine reads a line. It refuses one of another form, such as another version writes: to
// resume by half of it could leave entities out.
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

// Totals say what became of the rows.
type Totals struct {
	Written  int64 `json:"written"`
	Same     int64 `json:"same,omitempty"`     // an insert found the same entity
	Skipped  int64 `json:"skipped,omitempty"`  // they exist
	Rejected int64 `json:"rejected,omitempty"` // they are in the file of rejects
	Dropped  int64 `json:"dropped,omitempty"`  // a later row has the same keys
	Deleted  int64 `json:"deleted,omitempty"`  // the source of a sync lacks them
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

// Own counts as written what an insert found in a table that nobody else writes to: it wrote that
// itself, and the reply was lost.
func (t *Totals) Own() {
	t.Written += t.Same + t.Skipped
	t.Same, t.Skipped = 0, 0
}

// Rows is how many rows the work is done with.
func (t *Totals) Rows() int64 { return t.Written + t.Same + t.Skipped + t.Rejected + t.Deleted }
