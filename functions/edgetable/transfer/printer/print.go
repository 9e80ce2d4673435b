package printer

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"edgetable/core/edm"
	"edgetable/core/payload"
	"edgetable/functions/edgetable/transfer/rows"
	"edgetable/functions/edgetable/wide"
)

// Printer writes entities in one of several formats.
type Printer struct {
	sheet  // output of the formats csv and csv-plain
	w      *bufio.Writer
	format string
	names  []string // columns known so far; nil before the first entity if the caller selected none
	chosen bool     // true if the caller selected the properties
	line   []byte
	rows   [][]string // rows of the current block of the format table, until the column widths are known
	shown  []string   // header that was printed last
	some   bool       // true after the first entity of the format json was printed
}

// New returns a Printer for one of the formats table, json, jsonl, csv and csv-plain. It prints the properties with the
// given names, or all properties if the list is nil.
func New(w io.Writer, format string, names []string) *Printer {
	out, columns := bufio.NewWriterSize(w, 64<<10), rows.WithKeys(names)
	return &Printer{sheet: sheet{w: out, columns: columns, typed: format == "csv"}, w: out, format: format, names: columns, chosen: names != nil}
}

// Print prints an entity. For some formats, it defers the output to a later call of Print or Close.
func (p *Printer) Print(e payload.Received) error {
	switch p.format {
	case "jsonl":
		p.line = append(payload.AppendJSON(p.line[:0], e.PartitionKey, e.RowKey, e.Timestamp, e.Properties), '\n')
		_, err := p.w.Write(p.line)
		return err
	case "json":
		p.line = append(p.line[:0], ",\n"...)
		if !p.some {
			p.line, p.some = append(p.line[:0], "[\n"...), true
		}
		p.line = payload.AppendJSON(p.line, e.PartitionKey, e.RowKey, e.Timestamp, e.Properties)
		_, err := p.w.Write(p.line)
		return err
	case "csv", "csv-plain":
		return p.sheet.add(e)
	}
	return p.printRow(e)
}

// Flush writes the buffered output.
func (p *Printer) Flush() error { return p.w.Flush() }

// Close prints the deferred entities and flushes the output. It does not close the underlying writer.
func (p *Printer) Close() error {
	switch {
	case p.format == "table":
		p.printBlock()
	case p.format == "json" && p.some:
		p.w.WriteString("\n]\n")
	case p.format == "json":
		p.w.WriteString("[]\n")
	case p.format == "csv", p.format == "csv-plain":
		if err := p.sheet.end(); err != nil {
			return err
		}
	}
	return p.w.Flush()
}

// blockRows is the number of rows of the format table for which the column widths are computed together.
const blockRows = 1000

func (p *Printer) printRow(e payload.Received) error {
	if p.names == nil {
		p.names = []string{rows.PartitionKey, rows.RowKey, rows.Timestamp}
	}
	cells := make([]string, len(p.names), len(p.names)+8)
	set := func(name, text string) {
		i := slices.Index(p.names, name)
		if i < 0 {
			p.names, i = append(p.names, name), len(p.names)
		}
		for len(cells) <= i {
			cells = append(cells, "")
		}
		cells[i] = rows.Cut(rows.Printable(text))
	}
	set(rows.PartitionKey, e.PartitionKey)
	set(rows.RowKey, e.RowKey)
	if e.Timestamp != 0 {
		set(rows.Timestamp, e.Timestamp.String())
	}
	for name, v := range e.Properties.All() {
		set(strings.Clone(name), v.String())
	}
	if p.rows = append(p.rows, cells); len(p.rows) == blockRows {
		p.printBlock()
	}
	return nil
}

func (p *Printer) printBlock() {
	if len(p.rows) == 0 {
		return
	}
	widths := make([]int, len(p.names))
	for i, name := range p.names {
		widths[i] = wide.Of(name)
	}
	for _, cells := range p.rows {
		for i, cell := range cells {
			widths[i] = max(widths[i], wide.Of(cell))
		}
	}
	order := p.order()
	line := func(cells []string) {
		var b strings.Builder
		for _, i := range order {
			cell := ""
			if i < len(cells) {
				cell = cells[i]
			}
			b.WriteString(wide.Pad(cell, widths[i]) + "  ")
		}
		p.w.WriteString(strings.TrimRight(b.String(), " ") + "\n")
	}
	if !slices.Equal(p.shown, p.names) {
		line(p.names)
		p.shown = slices.Clone(p.names)
	}
	for _, cells := range p.rows {
		line(cells)
	}
	p.rows = p.rows[:0]
	_ = p.w.Flush() // if this fails, the next write returns the error
}

// order returns the column indexes in printing order. Timestamp is wide and rarely needed, so it comes last, unless the
// caller selected the columns.
func (p *Printer) order() []int {
	list := make([]int, 0, len(p.names)+1)
	last := -1
	for i, name := range p.names {
		if name == rows.Timestamp && !p.chosen {
			last = i
			continue
		}
		list = append(list, i)
	}
	if last >= 0 {
		list = append(list, last)
	}
	return list
}

// Describe formats an entity with one property on each line: name, type and value.
func Describe(e payload.Received) string {
	var b strings.Builder
	width := len(rows.PartitionKey)
	for name := range e.Properties.All() {
		width = max(width, wide.Of(name))
	}
	line := func(name string, t edm.Type, text string) {
		fmt.Fprintf(&b, "%s  %-8s  %s\n", wide.Pad(rows.Printable(name), width), strings.TrimPrefix(t.String(), "Edm."), rows.Printable(text))
	}
	line(rows.PartitionKey, edm.TypeString, e.PartitionKey)
	line(rows.RowKey, edm.TypeString, e.RowKey)
	if e.Timestamp != 0 {
		line(rows.Timestamp, edm.TypeDateTime, e.Timestamp.String())
	}
	for name, v := range e.Properties.All() {
		line(name, v.Type(), v.String())
	}
	return b.String()
}
