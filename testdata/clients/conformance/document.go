package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

const head = `# Conformance

Written by ` + "`make conformance`" + ` from the results of the client suites in testdata/clients; do not edit. Each cell is the number
of tests of that operation that passed with that client; an empty one, that the client does not do it, or has no test.

`

// writeDocument writes the table and the notes. Operations without any test are left out.
func writeDocument(w io.Writer, clients []Client, results map[string]Counts, notes string) error {
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
	totals := make([][3]int, len(clients))
	for _, operation := range Operations {
		cells, any := "", false
		for i, c := range clients {
			counts := results[c.Suite][operation]
			for outcome, n := range counts {
				totals[i][outcome] += n
				any = any || n > 0
			}
			cells += " " + cell(counts) + " |"
		}
		if any {
			fmt.Fprintf(out, "| %s |%s\n", operation, cells)
		}
	}
	out.WriteString("| all |")
	for _, total := range totals {
		fmt.Fprintf(out, " %s |", cell(total))
	}
	out.WriteString("\n\n" + strings.TrimSpace(notes) + "\n")
	return out.Flush()
}

// cell shows what passed, and what else there is only if there is any.
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
