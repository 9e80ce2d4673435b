package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const events = `{"Action":"run","Test":"TestA"}
{"Action":"run","Test":"TestA/one/two"}
{"Action":"output","Test":"TestA/one/two","Output":"a_test.go:1: wrong\n"}
{"Action":"fail","Test":"TestA/one/two"}
{"Action":"fail","Test":"TestA"}
{"Action":"run","Test":"TestB"}
{"Action":"output","Test":"TestB","Output":"never seen\n"}
{"Action":"pass","Test":"TestB"}
{"Action":"run","Test":"GetEntity: missing"}
{"Action":"skip","Test":"GetEntity: missing"}
{"Action":"output","Output":"FAIL\tpackage\n"}
{"Action":"fail"}
`

func TestGoTest(t *testing.T) {
	t.Parallel()
	var log, junit bytes.Buffer
	if err := run([]string{"junit"}, strings.NewReader(events), &junit, &log); err != nil {
		t.Fatal(err)
	}
	if got, want := log.String(), "a_test.go:1: wrong\nFAIL\tpackage\n"; got != want {
		t.Errorf("log: got %q, want %q", got, want)
	}
	tests, err := readJUnit(&junit)
	if err != nil {
		t.Fatal(err)
	}
	want := []Test{{Name: "TestA/one/two", Outcome: Failed}, {Name: "TestB"}, {Name: "GetEntity: missing", Outcome: Skipped}}
	if len(tests) != len(want) {
		t.Fatalf("got %v, want %v", tests, want)
	}
	for i := range want {
		if tests[i] != want[i] {
			t.Errorf("test %d: got %v, want %v", i, tests[i], want[i])
		}
	}
}

func TestCargoTest(t *testing.T) {
	t.Parallel()
	const output = "\nrunning 3 tests\ntest tables::create ... ok\ntest a::b ... FAILED\ntest c ... ignored\n\nfailures:\nwrong\n"
	var log, junit bytes.Buffer
	if err := run([]string{"junit-cargo"}, strings.NewReader(output), &junit, &log); err != nil {
		t.Fatal(err)
	}
	if got, want := log.String(), "\nrunning 3 tests\ntest a::b ... FAILED\n\nfailures:\nwrong\n"; got != want {
		t.Errorf("log: got %q, want %q", got, want)
	}
	tests, err := readJUnit(&junit)
	if want := []Test{{Name: "tables::create"}, {Name: "a::b", Outcome: Failed}, {Name: "c", Outcome: Skipped}}; err != nil || !slices.Equal(tests, want) {
		t.Errorf("got %v, %v; want %v", tests, err, want)
	}
}

func TestNamesOfJUnit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ why, document, name string }{
		{"pytest: the class stands for the file", `<testsuites name="pytest tests"><testsuite name="pytest"><testcase classname="test_a" name="test_b[x]"/></testsuite></testsuites>`, "test_a/test_b[x]"},
		{"Node: what it stands in", `<testsuites><testsuite name="types"><testcase classname="test" name="round trip"/></testsuite></testsuites>`, "types/round trip"},
		{"Node: at the root", `<testsuites><testcase classname="test" name="mixed"/></testsuites>`, "mixed"},
		{"an operation of its own", `<testsuite name="x"><testcase classname="com.example" name="SAS: expired"/></testsuite>`, "SAS: expired"},
		{"no operation", `<testsuite name="x"><testcase classname="com.example" name="Sas: expired"/></testsuite>`, "com.example/Sas: expired"},
	} {
		tests, err := readJUnit(strings.NewReader(test.document))
		if err != nil || len(tests) != 1 || tests[0].Name != test.name {
			t.Errorf("%s: got %v, %v, want %q", test.why, tests, err, test.name)
		}
	}
}

// tree writes a folder with two suites, their clients and their results.
func tree(t *testing.T, operations string) (folder string, results []string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "clients")
	for name, text := range map[string]string{
		"conformance/clients.txt":    "one | First client | one/go.mod | example.com/one\ntwo | Second\n",
		"conformance/operations.txt": operations,
		"conformance/notes.md":       "A note.\n",
		"one/go.mod":                 "require example.com/one v1.2.3\n",
		"one.xml":                    `<testsuite><testcase name="TestQuery"/><testcase name="TestQuery2"><failure>no</failure></testcase></testsuite>`,
		"../wire/recordings.txt":     "# operation, status, …\nDeleteEntity 404 ResourceNotFound 2022-04-13 2019-02-02 - Go\nQueryEntities 200 - 2024 - 1-2 -\n",
		"two.xml":                    `<testsuite><testcase name="SAS: used"/><testcase name="SAS: late"><skipped/></testcase></testsuite>`,
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return folder, []string{filepath.Join(folder, "one.xml"), filepath.Join(folder, "two.xml")}
}

func TestReport(t *testing.T) {
	t.Parallel()
	folder, results := tree(t, "one QueryEntities TestQuery\n")
	var out bytes.Buffer
	if err := run(append([]string{"report", "-clients", folder}, results...), nil, &out, nil); err != nil {
		t.Fatal(err)
	}
	want := head + `| Suite | Client | Version |
|---|---|---|
| one | First client | 1.2.3 |
| two | Second |  |

| Operation | one | two |
|---|--:|--:|
| QueryEntities | 1, 1 failed |  |
| SAS |  | 1, 1 skipped |
| all | 1, 1 failed | 1, 1 skipped |

A note.
` + recordingsHead + `| QueryEntities | 200 | 2024 |  | 1-2 |  |
| DeleteEntity | 404 ResourceNotFound | 2022-04-13 | 2019-02-02 |  | Go |
`
	if out.String() != want {
		t.Errorf("got %s\nwant %s", out.String(), want)
	}
}

// TestReportLacking checks that, with -lacking, a test that the machine cannot run is listed and counts as passed. A
// test that was skipped for another reason still counts as skipped.
func TestReportLacking(t *testing.T) {
	t.Parallel()
	folder, results := tree(t, "one QueryEntities TestQuery\n")
	const text = `<testsuite><testcase name="SAS: used"><skipped message="this machine has no network"/></testcase><testcase name="SAS: late"><skipped/></testcase></testsuite>`
	if err := os.WriteFile(results[1], []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ flag, row, named string }{
		{"-lacking=false", "| SAS |  | 0, 2 skipped |", ""},
		{"-lacking", "| SAS |  | 1, 1 skipped |", "two: SAS: used did not run, since this machine has no network"},
	} {
		var out, log bytes.Buffer
		if err := run(append([]string{"report", "-clients", folder, c.flag}, results...), nil, &out, &log); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), c.row) || !strings.HasPrefix(log.String(), c.named) || (c.named == "") != (log.Len() == 0) {
			t.Errorf("%s: %s\n%s", c.flag, log.String(), out.String())
		}
	}
}

// TestReportKeeps checks a suite that was left out. The document must keep the column of this suite from the earlier
// document, including rows that no other suite has.
func TestReportKeeps(t *testing.T) {
	t.Parallel()
	folder, results := tree(t, "one QueryEntities TestQuery\n")
	before := filepath.Join(folder, "before.md")
	const earlier = "| Suite | Client | Version |\n|---|---|---|\n| two | Second | 2 |\n\n" +
		"| Operation | two | one |\n|---|--:|--:|\n| GetEntity |  | 8 |\n| Bearer | 5, 1 skipped |  |\n| all | 5, 1 skipped | 8 |\n"
	if err := os.WriteFile(before, []byte(earlier), 0o666); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run([]string{"report", "-clients", folder, "-without", "two", "-kept", before, results[0]}, nil, &out, nil); err != nil {
		t.Fatal(err)
	}
	const want = "| QueryEntities | 1, 1 failed |  |\n| Bearer |  | 5, 1 skipped |\n| all | 1, 1 failed | 5, 1 skipped |\n"
	if !strings.Contains(out.String(), want) || strings.Contains(out.String(), "GetEntity") {
		t.Errorf("got %s\nwant it with %s", out.String(), want)
	}
}

func TestReportRefuses(t *testing.T) {
	t.Parallel()
	const rule = "one QueryEntities TestQuery\n"
	for _, test := range []struct {
		why, operations string
		arguments       int // number of results files that are passed after the extra arguments
		extra           []string
		want            string // text in the error; empty if there is no error
	}{
		{"a test without operation", "", 2, nil, `test "TestQuery"`},
		{"a rule without test", rule + "two SAS test_x\n", 2, nil, "operations.txt:2"},
		{"an unknown operation", "one Query TestQuery\n", 2, nil, `no operation "Query"`},
		{"a suite without results", rule, 1, nil, "suite two left no results"},
		{"a suite left out", rule + "two SAS test_x\n", 1, []string{"-without", "two"}, ""},
	} {
		folder, results := tree(t, test.operations)
		arguments := append([]string{"report", "-clients", folder}, test.extra...)
		err := run(append(arguments, results[:test.arguments]...), nil, &bytes.Buffer{}, nil)
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", test.why, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: got %v, want an error with %q", test.why, err, test.want)
		}
	}
}

func TestVersionIn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pins")
	for _, test := range []struct{ text, name, want string }{
		{"\tgithub.com/x/sdk/data/aztables v1.4.1\n", "sdk/data/aztables", "1.4.1"},
		{"azure-core==1.41.0\nazure-data-tables==12.7.0\n", "azure-data-tables", "12.7.0"},
		{`"@azure/data-tables": "13.3.2"`, "@azure/data-tables", "13.3.2"},
		{"<artifactId>azure-data-tables</artifactId>\n  <version>12.5.6</version>", "azure-data-tables", "12.5.6"},
		{"azure-data-tables-extra==1.0\n", "azure-data-tables", ""},
		{`azure_data_tables = { version = "=0.21.0", features = [] }`, "azure_data_tables", "0.21.0"},
	} {
		if err := os.WriteFile(path, []byte(test.text), 0o666); err != nil {
			t.Fatal(err)
		}
		got, err := versionIn(path, test.name)
		if got != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%q: got %q, %v, want %q", test.text, got, err, test.want)
		}
	}
}
