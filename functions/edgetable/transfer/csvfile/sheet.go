package csvfile

import (
	"errors"
	"io"
	"strings"

	"edgetable/core/payload"
	"edgetable/functions/edgetable/transfer/rows"
)

// Sheet writes entities to CSV files.
type Sheet struct {
	Columns
	typed, excel bool
	selected     bool // true if the caller selected the properties
	compress     string
}

// NewSheet returns a Sheet that writes the given properties, or all properties if the list is nil.
func NewSheet(typed, excel bool, compress string, selected []string) *Sheet {
	s := &Sheet{typed: typed, excel: excel, compress: compress, selected: selected != nil}
	if s.selected {
		for _, name := range rows.WithKeys(selected)[2:] {
			s.Columns.add(name)
		}
	}
	return s
}

func (s *Sheet) Note(e *payload.Received) {
	if !s.selected {
		s.Columns.Note(e)
	}
}

func (s *Sheet) Add(after rows.Sheet) {
	for _, name := range after.(*Sheet).Names {
		s.Columns.add(name)
	}
}

func (s *Sheet) Notes() []string { return nil }

func (s *Sheet) Make(list rows.List, file io.Writer) error {
	out := rows.NewFrames(file, s.compress)
	w := NewWriter(s.Names, s.typed, s.excel)
	text := w.AppendHead(nil)
	err := list(func(e payload.Received) (err error) {
		if text = w.Append(text, &e); len(text) >= 256<<10 {
			_, err = out.Write(text)
			text = text[:0]
		}
		return err
	})
	if err == nil {
		_, err = out.Write(text)
	}
	return errors.Join(err, out.End())
}

// Columns collects property names in the order in which they first appear.
type Columns struct {
	Names []string
	known map[string]bool
}

func (c *Columns) Note(e *payload.Received) {
	if e.Timestamp != 0 {
		c.add(rows.Timestamp)
	}
	for name := range e.Properties.All() {
		c.add(name)
	}
}

func (c *Columns) add(name string) {
	if c.known == nil {
		c.known = map[string]bool{}
	}
	if !c.known[name] {
		name = strings.Clone(name)
		c.known[name] = true
		c.Names = append(c.Names, name)
	}
}
