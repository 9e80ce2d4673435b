package cli

import (
	"fmt"
	"io"
	"strings"

	"edgetable/functions/edgetable/wide"
)

// Table is a table of text whose columns can be cut to fit the terminal.
type Table struct {
	// Heads are the column headings. A > before a heading right-aligns the column, which is for numbers. A =
	// means that the column is never cut. If all headings are empty, no heading line is printed.
	Heads []string
	Rows  [][]string
}

// narrowest is the minimum width of a column on a narrow terminal.
const narrowest = 8

// PrintTable prints a table. On a terminal, it cuts the widest text columns if a row would not fit.
func (p *Terminal) PrintTable(t *Table) {
	heads, numbers, whole := make([]string, len(t.Heads)), make([]bool, len(t.Heads)), make([]bool, len(t.Heads))
	for i, head := range t.Heads {
		heads[i], numbers[i] = strings.CutPrefix(head, ">")
		heads[i], whole[i] = strings.CutPrefix(heads[i], "=")
	}
	rows := t.Rows
	if strings.Join(heads, "") != "" {
		rows = append([][]string{heads}, rows...)
	}
	widths := make([]int, len(heads))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], wide.Of(cell))
		}
	}
	for over := p.over(widths); over > 0; over = p.over(widths) {
		widest := -1
		for i, width := range widths {
			if !numbers[i] && !whole[i] && width > narrowest && (widest < 0 || width > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			cell = wide.Cut(cell, widths[i])
			if numbers[i] {
				cell = strings.Repeat(" ", widths[i]-wide.Of(cell)) + cell
			}
			cell = wide.Pad(cell, widths[i])
			line.WriteString(cell + "  ")
		}
		fmt.Fprintln(p.Out, strings.TrimRight(line.String(), " "))
	}
}

// over returns how many columns a row of the table is wider than the terminal.
func (p *Terminal) over(widths []int) int {
	if p.Columns == 0 {
		return 0
	}
	sum := 2 * (len(widths) - 1)
	for _, width := range widths {
		sum += width
	}
	return sum - p.Columns
}

// Clip returns a writer that cuts lines to the width of the terminal. If the output is not a terminal, the writer
// cuts nothing.
func (p *Terminal) Clip() *Clipped { return &Clipped{out: p.Out, columns: p.Columns} }

// Clipped is the writer that Clip returns.
type Clipped struct {
	out     io.Writer
	columns int
	rest    string // the last line, if its end was not written yet
	Some    bool   // at least one line was cut
}

// Write prints complete lines. It buffers an incomplete line until the rest is written.
func (c *Clipped) Write(b []byte) (int, error) {
	if c.columns == 0 {
		return c.out.Write(b)
	}
	lines := strings.SplitAfter(c.rest+string(b), "\n")
	c.rest = lines[len(lines)-1]
	var text strings.Builder
	for _, line := range lines[:len(lines)-1] {
		line = strings.TrimSuffix(line, "\n")
		short := wide.Cut(line, c.columns)
		c.Some = c.Some || short != line
		text.WriteString(short + "\n")
	}
	if _, err := io.WriteString(c.out, text.String()); err != nil {
		return 0, err
	}
	return len(b), nil
}
