package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// readGoTest reads the events of go test -json. It returns the tests without subtests, in the order in which they
// ended. It writes to log what go test prints without -json: the output of failed tests, and a line for each
// package.
func readGoTest(r io.Reader, log io.Writer) ([]Test, error) {
	var ended []Test
	output := map[string][]string{} // output by test; output with the key "" belongs to no test
	parents := map[string]bool{}
	for decoder := json.NewDecoder(r); ; {
		var event struct{ Action, Test, Output string }
		if err := decoder.Decode(&event); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		switch event.Action {
		case "build-output":
			fmt.Fprint(log, event.Output)
		case "output":
			output[event.Test] = append(output[event.Test], event.Output)
		case "run":
			for i, c := range event.Test {
				if c == '/' { // the name of a subtest may contain slashes, too
					parents[event.Test[:i]] = true
				}
			}
		case "pass", "fail", "skip":
			outcome := map[string]Outcome{"pass": Passed, "fail": Failed, "skip": Skipped}[event.Action]
			if event.Test != "" {
				ended = append(ended, Test{Name: event.Test, Outcome: outcome})
			}
			if event.Test == "" || outcome == Failed {
				fmt.Fprint(log, strings.Join(output[event.Test], ""))
			}
			delete(output, event.Test)
		}
	}

	leaves := ended[:0]
	for _, test := range ended {
		if !parents[test.Name] {
			leaves = append(leaves, test)
		}
	}
	return leaves, nil
}
