package cli

import (
	"fmt"
	"io"
	"strings"

	"edgetable/functions/edgetable/wide"
)

// Table is a text table whose columns are truncated to fit the terminal.
type Table struct {
	// Heads are the column headings. The prefix > marks a right-aligned column of numbers. The prefix = marks a column
	// that is never truncated. If all headings are empty, the table has no heading line.
	Heads []string
	Rows  [][]string
}

// narrowest is the minimum width of a truncated column.
const narrowest = 8

// PrintTable prints a table. On a terminal, it truncates the widest text columns until the rows fit.
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
	for over := p.excessWidth(widths); over > 0; over = p.excessWidth(widths) {
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

// excessWidth returns the number of characters by which the table is wider than the terminal.
func (p *Terminal) excessWidth(widths []int) int {
	if p.Columns == 0 {
		return 0
	}
	sum := 2 * (len(widths) - 1)
	for _, width := range widths {
		sum += width
	}
	return sum - p.Columns
}

// Clip returns a writer that truncates lines to the width of the terminal. If the output is not a terminal, lines are
// not truncated.
func (p *Terminal) Clip() *Clipped { return &Clipped{out: p.Out, columns: p.Columns} }

// Clipped is a writer that truncates lines.
type Clipped struct {
	out     io.Writer
	columns int
	rest    string // incomplete last line, which is not written yet
	Some    bool   // true if a line was truncated
}

// Write writes complete lines. It buffers an incomplete last line.
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
