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
	columns []string // columns of the output; nil until all columns are known
	typed   bool     // true for the format csv, false for csv-plain
	Excel   bool     // true if texts are changed so that a spreadsheet does not execute them as formulas
	out     *csvfile.Writer
	text    []byte
	kept    []byte // entities as JSON lines until all columns are known
	seen    csvfile.Columns
}

// add prints an entity, or stores it until all columns are known.
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

// end prints the stored entities.
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
	if s.out == nil { // there are no entities, so print only the header
		_, err := s.w.Write(csvfile.NewWriter(s.columns, s.typed, s.Excel).AppendHead(nil))
		return err
	}
	return nil
}
