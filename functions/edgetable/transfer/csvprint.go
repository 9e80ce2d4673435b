package transfer

import (
	"strings"

	"edgetable/core/payload"
)

// printCSV prints an entity, or keeps it until all columns are known.
func (p *Printer) printCSV(e payload.Received) error {
	if p.names != nil {
		if p.sheet == nil {
			p.sheet = newCSVWriter(p.names, p.format == "csv", p.excel)
			p.line = p.sheet.appendHead(p.line[:0])
		}
		p.line = p.sheet.append(p.line, &e)
		_, err := p.w.Write(p.line)
		p.line = p.line[:0]
		return err
	}
	p.kept = append(payload.AppendJSON(p.kept, e.PartitionKey, e.RowKey, e.Timestamp, e.Properties), '\n')
	p.columns.note(&e)
	return nil
}

func (p *Printer) closeCSV() error {
	if p.format != "csv" && p.format != "csv-plain" {
		return nil
	}
	if p.names == nil {
		p.names = append([]string{partitionKey, rowKey}, p.columns.names...)
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
	if p.sheet == nil { // there is no entity
		_, err := p.w.Write(newCSVWriter(p.names, p.format == "csv", p.excel).appendHead(nil))
		return err
	}
	return nil
}

// columns collects the names of properties, in the order in which they appear.
type columns struct {
	names []string
	known map[string]bool
}

func (c *columns) note(e *payload.Received) {
	if e.Timestamp != 0 {
		c.add(timestamp)
	}
	for name := range e.Properties.All() {
		c.add(name)
	}
}

func (c *columns) add(name string) {
	if c.known == nil {
		c.known = map[string]bool{}
	}
	if !c.known[name] {
		name = strings.Clone(name)
		c.known[name] = true
		c.names = append(c.names, name)
	}
}
