package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"edgetable/functions/edgetable/load"
)

// runBench runs the command bench with few entities.
func runBench(t *testing.T, want int, args ...string) (out, errors string) {
	t.Helper()
	args = append([]string{"bench", "--connections", "2", "--entities", "200"}, args...)
	status, out, errors := runMeasured(t, args...)
	if status != want {
		t.Fatalf("%q: status %d, want %d\n%s%s", args, status, want, out, errors)
	}
	return out, errors
}

// runMeasured runs the command bench with longer and longer durations. It stops when the machine completes
// at least one request within the duration.
func runMeasured(t *testing.T, args ...string) (status int, out, errors string) {
	t.Helper()
	for d := 100 * time.Millisecond; ; d *= 4 {
		status, out, errors = runUntil(t.Context(), nil, append(args, "--warmup", "0s", "--duration", d.String())...)
		if !strings.Contains(out+errors, load.ErrTooShort.Error()) || d > time.Minute {
			return status, out, errors
		}
		if slices.Contains(args, "--keep") { // the run was too short for a measurement, so keep its table for the next run
			args = append(args, "--existing")
		}
	}
}

// TestBench checks that bench refuses an existing table, and that it deletes the table that it creates.
func TestBench(t *testing.T) {
	t.Parallel()
	s := start(t, nil, "--memory")
	c := s.client(t, "")
	c.fill(t)
	tables := func() string { return c.do(t, "GET", "/Tables", "", 200) }
	before := tables()
	bench := func(want int, args ...string) (out, errors string) {
		t.Helper()
		return runBench(t, want, append([]string{"--endpoint", c.endpoint}, args...)...)
	}

	for _, op := range []string{"insert", "batch", "get"} {
		if out, _ := bench(0, "--op", op); !strings.Contains(out, "\n"+op+" ") || !strings.HasSuffix(out, "       0        0\n") {
			t.Errorf("%s printed %q", op, out)
		}
		if _, text := bench(1, "--op", op, "--table", "people"); !strings.Contains(text, "the table exists already; write another name with --table") {
			t.Errorf("%s into a table that exists: %s", op, text)
		}
		if after := tables(); after != before {
			t.Errorf("the tables after %s are %s", op, after)
		}
	}
	c.filled(t)

	bench(0, "--op", "get", "--table", "mine", "--keep")
	for _, op := range []string{"get", "insert"} {
		bench(0, "--op", op, "--table", "mine", "--existing")
		if !strings.Contains(tables(), `"mine"`) {
			t.Fatalf("%s --existing deleted the table", op)
		}
	}
	if out, text := bench(1, "--op", "get", "--table", "people", "--existing"); !strings.Contains(text, " failed; the first error: the service answers 404") {
		t.Errorf("get from a table without its entities: %s%s", out, text)
	}
	if people := c.do(t, "GET", "/people", "", 200); strings.Count(people, `"PartitionKey":`) != 1 {
		t.Errorf("the table has more than its entity: %s", people)
	}
}

// TestBenchToken runs bench with a token that permits only reads. Reads must succeed, and writes must get
// status 403.
func TestBenchToken(t *testing.T) {
	t.Parallel()
	s := start(t, nil, "--memory")
	endpoint := s.client(t, "").endpoint
	status, token, text := runUntil(t.Context(), nil, "sas", "-q", "--endpoint", endpoint, "--table", "measured", "--permissions", "read")
	if status != 0 {
		t.Fatal(text)
	}
	for op, want := range map[string]int{"get": 0, "upsert": 1} {
		if _, text := runBench(t, want, "--endpoint", endpoint, "--table", "measured", "--token", strings.TrimSpace(token), "--op", op); want == 1 && !strings.Contains(text, "answers 403") {
			t.Errorf("%s: %s", op, text)
		}
	}
}

func TestBenchRefusals(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--op swim":              "write insert, upsert, merge",
		"--connections 0":        "write a whole number from 1 to 10000",
		"--connections many":     "write a whole number",
		"--duration 0s":          "write a duration with its unit",
		"--entities 0":           "write a whole number from 1",
		"--op query --rows 2000": "at most 1000 for query",
		"--format xml":           "json or atom",
		"--refused never":        "fail, wait or repeat",
		"--endpoint ftp://h/acme --account devstoreaccount1": "--endpoint must be a URL such as",
		"insert": `unexpected argument "insert"`,
	} {
		if status, out, text := run(t, nil, append([]string{"bench"}, strings.Fields(args)...)...); status != 2 || !strings.Contains(text, want) || out != "" {
			t.Errorf("%s: status %d, want 2 and %q\n%s%s", args, status, want, out, text)
		}
	}
}
