package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

const head = `# Conformance

Written by ` + "`make conformance`" + ` from the results of the client suites in testdata/clients; do not edit. Each cell is the number
of tests of an operation that passed with a client. An empty cell means that the client lacks the operation, or that no test uses it.

`

// writeDocument writes the table, the notes and the recordings. Operations without any test are omitted. A suite
// without results keeps its previous cells.
func writeDocument(w io.Writer, clients []Client, results map[string]Counts, kept map[string]Cells, recordings []Recording, notes string) error {
	out := bufio.NewWriter(w)
	out.WriteString(head)

	out.WriteString("| Suite | Client | Version |\n|---|---|---|\n")
	for _, c := range clients {
		fmt.Fprintf(out, "| %s | %s | %s |\n", c.Suite, c.Title, c.Version)
	}

	out.WriteString("\n| Operation |")
	for _, c := range clients {
		fmt.Fprintf(out, " %s |", c.Suite)
	}
	out.WriteString("\n|---|" + strings.Repeat("--:|", len(clients)) + "\n")
	columns := make([]Cells, len(clients))
	for i, c := range clients {
		if counts, ok := results[c.Suite]; ok {
			columns[i] = counts.cells()
		} else {
			columns[i] = kept[c.Suite]
		}
	}
	for _, operation := range append(Operations[:len(Operations):len(Operations)], all) {
		row, any := "", false
		for _, column := range columns {
			row += " " + column[operation] + " |"
			any = any || column[operation] != ""
		}
		if any {
			fmt.Fprintf(out, "| %s |%s\n", operation, row)
		}
	}
	out.WriteString("\n" + strings.TrimSpace(notes) + "\n")
	writeRecordings(out, recordings)
	return out.Flush()
}

// Cells maps each operation to the text in one column of the table.
type Cells map[string]string

const all = "all" // name of the row with the sums of all operations

func (counts Counts) cells() Cells {
	cells, total := Cells{}, [3]int{}
	for operation, outcomes := range counts {
		cells[operation] = cell(outcomes)
		for outcome, n := range outcomes {
			total[outcome] += n
		}
	}
	cells[all] = cell(total)
	return cells
}

// readCells reads the columns of an existing document, by suite. It returns none if the document does not exist.
func readCells(path string) (map[string]Cells, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var suites []string
	columns := map[string]Cells{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		switch {
		case fields[0] == "Operation":
			suites = fields[1:]
			for _, suite := range suites {
				columns[suite] = Cells{}
			}
		case len(suites) > 0 && len(fields) == len(suites)+1:
			for i, suite := range suites {
				columns[suite][fields[0]] = fields[i+1]
			}
		}
	}
	return columns, nil
}

// cell formats the number of passed tests, and other numbers only if they are not zero.
func cell(counts [3]int) string {
	if counts == [3]int{} {
		return ""
	}
	text := fmt.Sprint(counts[Passed])
	if counts[Failed] > 0 {
		text += fmt.Sprintf(", %d failed", counts[Failed])
	}
	if counts[Skipped] > 0 {
		text += fmt.Sprintf(", %d skipped", counts[Skipped])
	}
	return text
}
