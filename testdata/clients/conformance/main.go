// Command conformance turns the results of the client suites into docs/conformance.md: what each client tested, by
// operation, and how often the response was that of Azure.
//
//	conformance junit <EVENTS >RESULTS          from go test -json to JUnit XML; failures are printed on standard error
//	conformance junit-cargo <OUTPUT >RESULTS    from the output of cargo test
//	conformance report RESULTS...               from JUnit XML files, named after their suites, to the document
//
// The name of a test begins with its operation ("TableACL: five policies"). For suites that are older than this
// convention, rules in operations.txt assign the operations. A test without an operation is an error, and so is an
// unused rule, so no test can be missing in the table by mistake. clients.txt names the suites. notes.md is the rest of
// the document. testdata/wire/recordings.txt lists the recordings with which responses were compared. A suite that was
// left out (-without) keeps its column from an earlier document (-kept). With -lacking, a test whose skip reason
// begins with "this machine" is listed and counts as passed.
//
// The document is sorted and does not contain the time of the run, so the same tests with the same results give the
// same bytes.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out, log io.Writer) error {
	if len(args) == 0 {
		return fmt.Errorf("which of junit, junit-cargo and report?")
	}
	switch args[0] {
	case "junit", "junit-cargo":
		read := readGoTest
		if args[0] == "junit-cargo" {
			read = readCargoTest
		}
		tests, err := read(in, log)
		if err != nil {
			return err
		}
		return writeJUnit(out, tests)
	case "report":
		return report(args[1:], out, log)
	}
	return fmt.Errorf("no command %q: junit, junit-cargo or report", args[0])
}

func report(args []string, out, log io.Writer) error {
	flags := flag.NewFlagSet("report", flag.ContinueOnError)
	folder := flags.String("clients", "testdata/clients", "the `folder` of the suites")
	without := flags.String("without", "", "`suites` that were left out, separated by blanks")
	document := flags.String("kept", "", "the `document` from which these keep what they had")
	lacking := flags.Bool("lacking", false, "count tests as passed that the machine cannot run, and name them")
	if err := flags.Parse(args); err != nil {
		return err
	}
	clients, err := readClients(*folder)
	if err != nil {
		return err
	}
	rules, err := readRules(filepath.Join(*folder, "conformance", "operations.txt"))
	if err != nil {
		return err
	}
	notes, err := os.ReadFile(filepath.Join(*folder, "conformance", "notes.md"))
	if err != nil {
		return err
	}

	results := map[string]Counts{}
	for _, path := range flags.Args() {
		tests, err := readJUnitFile(path)
		if err != nil {
			return err
		}
		suite := strings.TrimSuffix(filepath.Base(path), ".xml")
		for i := range tests {
			if t := &tests[i]; *lacking && t.Missing != "" {
				t.Outcome = Passed
				fmt.Fprintf(log, "%s: %s did not run, since %s; docs/conformance.md is compared as if it had passed\n", suite, t.Name, t.Missing)
			}
		}
		if results[suite], err = rules.Count(suite, tests); err != nil {
			return err
		}
	}
	left := strings.Fields(*without)
	if err := complete(clients, results, left); err != nil {
		return err
	}
	if err := rules.Unused(left); err != nil {
		return err
	}
	kept, err := readCells(*document)
	if err != nil {
		return err
	}
	recordings, err := readRecordings(filepath.Join(*folder, "..", "wire", "recordings.txt"))
	if err != nil {
		return err
	}
	return writeDocument(out, clients, results, kept, recordings, string(notes))
}
