package transfer

import (
	"encoding/json"
	"fmt"
	"time"
)

// exported is a line of the journal: the ranges of a table, or how far one of
// them is.
type exported struct {
	Table  string    `json:"table"`
	Ranges []Range   `json:"ranges,omitempty"`
	Begun  time.Time `json:"begun,omitzero"`

	Part int    `json:"part"`
	Rows int64  `json:"rows,omitempty"`
	Size int64  `json:"size,omitempty"` // of the file
	PK   string `json:"pk,omitempty"`   // the last entity in the file
	RK   string `json:"rk,omitempty"`
	Done bool   `json:"done,omitempty"`
}

// exportTable is a table with the state of its ranges.
type exportTable struct {
	ranges []Range
	states []exported
	begun  time.Time
}

func (t *exportTable) rows() (n int64) {
	for i := range t.states {
		n += t.states[i].Rows
	}
	return n
}

// resume opens the journal and returns how far each table is, and whether there is
// earlier work.
func (o *Export) resume(path string) (tables map[string]*exportTable, again bool, j *journal, err error) {
	tables = map[string]*exportTable{}
	for _, name := range o.Tables {
		tables[name] = &exportTable{}
	}
	j, err = openJournal(path, *o.options(), func(line []byte) error {
		var l exported
		if err := json.Unmarshal(line, &l); err != nil {
			return err
		}
		t := tables[l.Table]
		switch {
		case t == nil:
			return fmt.Errorf("table %q is not part of the export", l.Table)
		case l.Ranges != nil:
			t.ranges, t.states, t.begun = l.Ranges, make([]exported, len(l.Ranges)), l.Begun
			for i := range t.states {
				t.states[i] = exported{Table: l.Table, Part: i}
			}
		case l.Part < 0 || l.Part >= len(t.states):
			return fmt.Errorf("table %s has no part %d", l.Table, l.Part)
		default:
			o.Rows.Add(l.Rows - t.states[l.Part].Rows)
			t.states[l.Part] = l
			again = true
		}
		return nil
	})
	return tables, again, j, err
}
