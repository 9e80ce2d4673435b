package rows

import (
	"encoding/json"
	"io"
	"os"
	"slices"
)

// tableOf returns the table of a reject, or "" if the reject does not name it.
func tableOf(text []byte) string {
	var row struct {
		Table string `json:"odata.table"`
	}
	_ = json.Unmarshal(text, &row) // the reader of the rows reports this error
	return row.Table
}

// RejectedTables returns the names of the tables in a file of rejects, in sorted order. The list contains "" if a
// reject does not name its table.
func RejectedTables(path string) (tables []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for lines := NewLineReader(f); ; {
		text, _, err := lines.Next()
		if err == io.EOF {
			return tables, nil
		}
		if err != nil {
			return nil, err
		}
		name := tableOf(text)
		if i, there := slices.BinarySearch(tables, name); !there {
			tables = slices.Insert(tables, i, name)
		}
	}
}

// rejectedOf returns the rejects of one table.
type rejectedOf struct {
	Texts
	table string
}

func (r rejectedOf) Next() (text []byte, line int, err error) {
	for {
		if text, line, err = r.Texts.Next(); err != nil || tableOf(text) == r.table {
			return text, line, err
		}
	}
}

// NewRejectedRows returns a reader of the rejects of one table.
func NewRejectedRows(text io.Reader, table string, m *Mapper) *jsonRows {
	return NewTexts(rejectedOf{NewLineReader(text), table}, m)
}
