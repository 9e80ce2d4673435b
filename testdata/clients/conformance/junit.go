package main

import (
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"strings"
)

// Outcome is the result of a test.
type Outcome int

const (
	Passed Outcome = iota
	Failed
	Skipped
)

// Test is a test that has no subtests. Its name begins with the names of the enclosing tests and classes, separated
// by slashes.
type Test struct {
	Name    string
	Outcome Outcome
	Missing string // program that this machine does not have, if the test was skipped for this reason
}

// ofMachine is a prefix. If the machine lacks a program, the tests that need the program are skipped for a reason
// with this prefix.
const ofMachine = "this machine "

// junitSuite is the form of JUnit files from pytest, Node.js and Maven: nested suites, or a list of suites. If a
// test case has the attribute classname, this attribute is a part of the test's name. Only Node.js writes the kind
// of the test there. The converter of Go's results writes no classname.
type junitSuite struct {
	XMLName xml.Name     `xml:""`
	Name    string       `xml:"name,attr,omitempty"`
	Suites  []junitSuite `xml:"testsuite"`
	Cases   []junitCase  `xml:"testcase"`
}

type junitCase struct {
	Name    string    `xml:"name,attr"`
	Class   string    `xml:"classname,attr,omitempty"`
	Failure *struct{} `xml:"failure"`
	Error   *struct{} `xml:"error"`
	Skipped *skip     `xml:"skipped"`
}

type skip struct {
	Message string `xml:"message,attr,omitempty"`
}

func readJUnitFile(path string) ([]Test, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	tests, err := readJUnit(file)
	if err == nil && len(tests) == 0 {
		err = fmt.Errorf("no tests")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return tests, nil
}

func readJUnit(r io.Reader) ([]Test, error) {
	var root junitSuite
	if err := xml.NewDecoder(r).Decode(&root); err != nil {
		return nil, err
	}
	if local := root.XMLName.Local; local != "testsuites" && local != "testsuite" {
		return nil, fmt.Errorf("<%s> is not JUnit", local)
	}
	return root.tests(nil), nil
}

// tests lists the test cases of a suite and of its nested suites. The argument path has the names of the suites
// around each test. It does not include the name of the root suite, because the test runner, not the test, chose
// that name.
func (s junitSuite) tests(path []string) []Test {
	var all []Test
	for _, c := range s.Cases {
		test := Test{Name: c.name(path)}
		switch {
		case c.Failure != nil || c.Error != nil:
			test.Outcome = Failed
		case c.Skipped != nil:
			test.Outcome = Skipped
			if strings.HasPrefix(c.Skipped.Message, ofMachine) {
				test.Missing = c.Skipped.Message
			}
		}
		all = append(all, test)
	}
	for _, inner := range s.Suites {
		all = append(all, inner.tests(append(path[:len(path):len(path)], inner.Name))...)
	}
	return all
}

// name returns the name of a test case if the name begins with an operation. Otherwise it returns the whole path,
// with the names of the suites or the class.
func (c junitCase) name(path []string) string {
	if _, ok := operationOf(c.Name); ok {
		return c.Name
	}
	if c.Class != "" && c.Class != "test" { // Node.js sets the class name of each test case to "test"
		path = []string{c.Class}
	}
	return strings.Join(append(path[:len(path):len(path)], c.Name), "/")
}

func writeJUnit(w io.Writer, tests []Test) error {
	suite := junitSuite{XMLName: xml.Name{Local: "testsuite"}}
	for _, t := range tests {
		c := junitCase{Name: t.Name}
		switch t.Outcome {
		case Failed:
			c.Failure = &struct{}{}
		case Skipped:
			c.Skipped = &skip{}
		}
		suite.Cases = append(suite.Cases, c)
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", " ")
	if err := encoder.Encode(suite); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
