package printer

import (
	"bufio"
	"strings"

	"edgetable/core/payload"
	"edgetable/functions/edgetable/transfer/csvfile"
	"edgetable/functions/edgetable/transfer/rows"
)

// sheet prints entities as CSV.
type sheet struct {
	w       *bufio.Writer
	columns []string // names of the columns, if they are known
	typed   bool     // the format is csv, not csv-plain
	Excel   bool     // protect the user from texts that a spreadsheet would execute
	out     *csvfile.Writer
	text    []byte
	kept    []byte // entities that are stored until all columns are known
	seen    csvfile.Columns
}

// add prints an entity, or stores the entity until all columns are known.
func (s *sheet) add(e payload.Received) error {
	if s.columns != nil {
		if s.out == nil {
			s.out = csvfile.NewWriter(s.columns, s.typed, s.Excel)
			s.text = s.out.AppendHead(s.text[:0])
		}
		s.text = s.out.Append(s.text, &e)
		_, err := s.w.Write(s.text)
		s.text = s.text[:0]
		return err
	}
	s.kept = append(payload.AppendJSON(s.kept, e.PartitionKey, e.RowKey, e.Timestamp, e.Properties), '\n')
	s.seen.Note(&e)
	return nil
}

// end prints the entities that add has stored.
func (s *sheet) end() error {
	if s.columns == nil {
		s.columns = append([]string{rows.PartitionKey, rows.RowKey}, s.seen.Names...)
		var r payload.Reader
		for line := range strings.Lines(string(s.kept)) {
			e, err := r.Entity([]byte(line))
			if err != nil {
				return err
			}
			if err := s.add(e); err != nil {
				return err
			}
		}
	}
	if s.out == nil { // without entities, print only the names of the columns
		_, err := s.w.Write(csvfile.NewWriter(s.columns, s.typed, s.Excel).AppendHead(nil))
		return err
	}
	return nil
}
