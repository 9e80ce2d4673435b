package printer

import (
	"strings"

	"edgetable/core/payload"
	"edgetable/functions/edgetable/transfer/csvfile"
	"edgetable/functions/edgetable/transfer/rows"
)

// printCSV prints an entity, or stores the entity until all columns are known.
func (p *Printer) printCSV(e payload.Received) error {
	if p.names != nil {
		if p.sheet == nil {
			p.sheet = csvfile.NewWriter(p.names, p.format == "csv", p.Excel)
			p.line = p.sheet.AppendHead(p.line[:0])
		}
		p.line = p.sheet.Append(p.line, &e)
		_, err := p.w.Write(p.line)
		p.line = p.line[:0]
		return err
	}
	p.kept = append(payload.AppendJSON(p.kept, e.PartitionKey, e.RowKey, e.Timestamp, e.Properties), '\n')
	p.columns.Note(&e)
	return nil
}

func (p *Printer) closeCSV() error {
	if p.format != "csv" && p.format != "csv-plain" {
		return nil
	}
	if p.names == nil {
		p.names = append([]string{rows.PartitionKey, rows.RowKey}, p.columns.Names...)
		var r payload.Reader
		for line := range strings.Lines(string(p.kept)) {
			e, err := r.Entity([]byte(line))
			if err != nil {
				return err
			}
			if err := p.printCSV(e); err != nil {
				return err
			}
		}
	}
	if p.sheet == nil { // without entities, print only the names of the columns
		_, err := p.w.Write(csvfile.NewWriter(p.names, p.format == "csv", p.Excel).AppendHead(nil))
		return err
	}
	return nil
}
