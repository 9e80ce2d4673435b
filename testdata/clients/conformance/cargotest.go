package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// readCargoTest reads the output of cargo test, which has a line for each test: "test tables::create ... ok". It
// copies all other lines, and those of failed tests, to log.
func readCargoTest(r io.Reader, log io.Writer) ([]Test, error) {
	outcomes := map[string]Outcome{"ok": Passed, "FAILED": Failed, "ignored": Skipped}
	var tests []Test
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		name, result, found := strings.Cut(strings.TrimPrefix(lines.Text(), "test "), " ... ")
		outcome, known := outcomes[result]
		if found && known {
			tests = append(tests, Test{Name: name, Outcome: outcome})
		}
		if !found || !known || outcome == Failed {
			fmt.Fprintln(log, lines.Text())
		}
	}
	return tests, lines.Err()
}
