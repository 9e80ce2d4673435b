package suite_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"edgetable/functions/edgetable/load"
	"edgetable/testdata/bench/attack"
	"edgetable/testdata/bench/suite"
)

// meeting builds results with exactly the values that the targets require.
func meeting() *suite.Results {
	r := &suite.Results{Start: suite.Start{Bytes: 1e9, Clean: 100 * time.Millisecond, Crash: time.Second},
		Page:    suite.PageCost{SmallRows: 10, LargeRows: 1000, Small: 2 * time.Millisecond, Large: 3 * time.Millisecond},
		PeakRSS: 320 << 20, CacheBytes: 64 << 20, BinarySize: 40e6, BatchFor: time.Minute}
	add := func(server string, op load.Op, n int, rate float64, p99 time.Duration) {
		r.Add(suite.Cell{Server: server, Op: op, Connections: n}, suite.Sample{OpsPerSecond: rate, EntitiesPerSecond: rate, P99: p99})
	}
	for _, n := range suite.Connections {
		add(suite.CeilingWrite, load.Insert, n, 12000, time.Millisecond)
		add(suite.CeilingRead, load.Get, n, 20000, time.Millisecond)
		add(suite.Azurite, load.Get, n, 1000, 10*time.Millisecond)
		add(suite.Edgetable, load.Get, n, 15000, 2*time.Millisecond)
		for _, op := range []load.Op{load.Insert, load.Upsert, load.Merge, load.Delete} {
			add(suite.Azurite, op, n, 1000, 10*time.Millisecond)
			add(suite.Edgetable, op, n, 9000, 2*time.Millisecond)
			add(suite.Memory, op, n, 10000, 2*time.Millisecond)
		}
	}
	for op, times := range map[load.Op]float64{load.Query: 15, load.Scan: 15, load.Batch: 6} {
		add(suite.Azurite, op, 16, 1000, 10*time.Millisecond)
		add(suite.Edgetable, op, 16, 1000*times, 2*time.Millisecond)
	}
	how := func(server string, op load.Op, n int, how string, rate float64, p99, cpu time.Duration) {
		r.Add(suite.Cell{Server: server, Op: op, Connections: n, How: how}, suite.Sample{OpsPerSecond: rate, P99: p99, CPU: cpu})
	}
	for _, op := range []load.Op{load.Insert, load.Get, load.Query, load.Batch} {
		how(suite.Memory, op, 16, "JSON", 1000, 0, 10*time.Microsecond)
		how(suite.Memory, op, 16, "Atom", 500, 0, 20*time.Microsecond)
	}
	for _, op := range []load.Op{load.Insert, load.Get} {
		how(suite.Memory, op, 16, "key", 1000, 0, 10*time.Microsecond)
		for _, token := range []string{"token of a table", "token of a table and keys", "token of an account"} {
			how(suite.Memory, op, 16, token, 1000, 0, 11*time.Microsecond)
		}
	}
	for _, d := range []struct {
		op   load.Op
		how  string
		with float64
	}{
		{load.Insert, "a rule of expiry", 970}, {load.Get, "a rule of expiry", 980}, {load.Query, "a rule of expiry", 900},
		{load.Insert, "a feed of changes", 930}, {load.Batch, "a feed of changes", 970},
	} {
		how(suite.Edgetable, d.op, 16, "no options, beside "+d.how, 1000, 0, time.Duration(d.with)*time.Microsecond)
		how(suite.Edgetable, d.op, 16, d.how, d.with, 0, time.Millisecond)
	}
	how(suite.Edgetable, load.Insert, 64, "one account", 20_000, 0, 0)
	how(suite.Edgetable, load.Upsert, 64, "one partition", 2_000, 0, 0)
	for _, server := range []string{suite.Memory, suite.Edgetable} {
		how(server, load.Mixed, 32, "peak", 1000, time.Millisecond, 0)
		how(server, load.Mixed, 128, "retried at once", 800, 3*time.Millisecond, 0)
		how(server, load.Mixed, 128, "retried when told", 800, 3*time.Millisecond, 0)
		how(server, load.Mixed, 9, "alone", 2000, 0, 0)
		for _, k := range attack.Kinds {
			how(server, load.Get, 4, "before "+string(k), 1000, time.Millisecond, 0)
			how(server, load.Get, 4, "beside "+string(k), 400, 5*time.Millisecond, 0)
		}
		r.Overloads = append(r.Overloads, &suite.Overload{Server: server, Peak: 32, Each: 9, Shares: []suite.Share{{Total: 1000, Greedy: 360, Least: 160}}})
	}
	return r
}

func TestChecks(t *testing.T) {
	t.Parallel()
	worse := func(server string, op load.Op, n int, change func(*suite.Sample)) func(*suite.Results) {
		return func(r *suite.Results) { change(&r.Find(server, op, n).Median) }
	}
	slow := func(rate float64) func(*suite.Sample) {
		return func(s *suite.Sample) { s.OpsPerSecond, s.EntitiesPerSecond = rate, rate }
	}
	// also is for a measurement outside the part Matrix. It returns a function that changes this measurement. If the
	// argument change is nil, the returned function adds an error to the median.
	also := func(server string, op load.Op, n int, how string, change func(*suite.Sample)) func(*suite.Results) {
		return func(r *suite.Results) {
			for _, m := range r.Cells {
				if m.Cell == (suite.Cell{Server: server, Op: op, Connections: n, How: how}) {
					if change == nil {
						m.Median.Errors++
						return
					}
					change(&m.Median)
					change(&m.Rounds[0])
					return
				}
			}
			t.Errorf("there is no cell %s of %s", how, server)
		}
	}
	late := func(s *suite.Sample) { s.P99 = 2001 * time.Microsecond }
	for _, tt := range []struct {
		name   string
		change func(*suite.Results)
		missed []string // beginnings of Check.What, one for each check that must fail
	}{
		{"everything at its limit", func(*suite.Results) {}, nil},
		{"below the write ceiling and below Azurite times nine", worse(suite.Edgetable, load.Upsert, 64, slow(8999)),
			[]string{"edgetable, upsert, 64 connections, against ceiling write", "edgetable, upsert, 64 connections, against azurite"}},
		{"merge needs only five times Azurite at 16", worse(suite.Edgetable, load.Merge, 16, slow(5000)),
			[]string{"edgetable, merge, 16 connections, against ceiling write"}},
		{"insert needs six", worse(suite.Edgetable, load.Insert, 16, slow(5999)),
			[]string{"edgetable, insert, 16 connections, against ceiling write", "edgetable, insert, 16 connections, against azurite"}},
		{"memory needs ten", worse(suite.Memory, load.Delete, 64, slow(9999)), []string{"edgetable --memory, delete, 64"}},
		{"get", worse(suite.Edgetable, load.Get, 16, slow(14999)), []string{"edgetable, get, 16 connections, against ceiling read", "edgetable, get, 16 connections, against azurite"}},
		{"scan", worse(suite.Edgetable, load.Scan, 16, slow(14999)), []string{"edgetable, scan, 16"}},
		{"batch", worse(suite.Edgetable, load.Batch, 16, slow(5999)), []string{"edgetable, batch, 16"}},
		{"tail", worse(suite.Edgetable, load.Get, 64, late), []string{"edgetable, get, 64 connections, p99"}},
		{"fast but with errors", worse(suite.Edgetable, load.Scan, 16, func(s *suite.Sample) { s.Errors = 1 }),
			[]string{"edgetable, scan, 16 connections, against azurite", "edgetable, scan, 16 connections, p99"}},
		{"Atom takes the server's time", also(suite.Memory, load.Query, 16, "Atom", func(s *suite.Sample) { s.CPU++ }),
			[]string{"edgetable --memory, query, Atom against JSON, processor time"}},
		{"Atom is slow", also(suite.Memory, load.Batch, 16, "Atom", slow(499)), []string{"edgetable --memory, batch, Atom against JSON, rate"}},
		{"a token takes the server's time", also(suite.Memory, load.Get, 16, "token of an account", func(s *suite.Sample) { s.CPU++ }),
			[]string{"edgetable --memory, get, token of an account against key, processor time"}},
		{"a rule of expiry makes pages slow", also(suite.Edgetable, load.Query, 16, "a rule of expiry", slow(899)),
			[]string{"edgetable, query, a table with a rule of expiry"}},
		{"a feed takes the server's time", also(suite.Edgetable, load.Batch, 16, "a feed of changes", func(s *suite.Sample) { s.CPU++ }),
			[]string{"edgetable, batch, a table with a feed of changes against one without options, processor time"}},
		{"a feed makes inserts slow", also(suite.Edgetable, load.Insert, 16, "a feed of changes", slow(929)),
			[]string{"edgetable, insert, a table with a feed of changes"}},
		{"little is served under overload", also(suite.Edgetable, load.Mixed, 128, "retried at once", slow(799)),
			[]string{"edgetable, mixed, 4x connections, refusals retried at once: served"}},
		{"what is served is late", also(suite.Memory, load.Mixed, 128, "retried when told", func(s *suite.Sample) { s.P99++ }),
			[]string{"edgetable --memory, mixed, 4x connections, refusals retried when told: p99"}},
		{"errors under overload", also(suite.Edgetable, load.Mixed, 128, "retried at once", nil),
			[]string{"edgetable, mixed, 4x connections, refusals retried at once: served", "edgetable, mixed, 4x connections, refusals retried at once: p99"}},
		{"an account that scans takes more than its share", also(suite.Edgetable, load.Get, 4, "beside scans", slow(399)),
			[]string{"edgetable, get, 4 connections beside 64 of another account with scans: rate"}},
		{"an account that cannot sign in makes others late", also(suite.Edgetable, load.Get, 4, "beside signins", func(s *suite.Sample) { s.P99++ }),
			[]string{"edgetable, get, 4 connections beside 64 of another account with signins: p99"}},
		{"less than the service promises for an account", also(suite.Edgetable, load.Insert, 64, "one account", slow(19_999)),
			[]string{"edgetable, insert, 64 connections, one account"}},
		{"less than it promises for a partition", also(suite.Edgetable, load.Upsert, 64, "one partition", slow(1_999)),
			[]string{"edgetable, upsert, 64 connections, one partition"}},
		{"an account starves", func(r *suite.Results) { r.Overloads[0].Shares[0].Least = 159 }, []string{"edgetable --memory, mixed, 5 accounts"}},
		{"an account gets little and asks for no more", func(r *suite.Results) {
			r.Overloads[0].Shares[0].Least = 100
			also(suite.Memory, load.Mixed, 9, "alone", slow(125))(r)
		}, nil},
		{"clean start", func(r *suite.Results) { r.Start.Clean++ }, []string{"start to first answer after a clean stop"}},
		{"crash start", func(r *suite.Results) { r.Start.Crash++ }, []string{"start to first answer after SIGKILL"}},
		{"page", func(r *suite.Results) { r.Page.Large++ }, []string{"p50 of a page"}},
		{"memory", func(r *suite.Results) { r.PeakRSS++ }, []string{"peak resident memory"}},
		{"binary", func(r *suite.Results) { r.BinarySize++ }, []string{"size of the binary"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := meeting()
			tt.change(r)
			var missed []string
			for _, c := range suite.Checks(r) {
				if c.Status != suite.OK {
					missed = append(missed, c.What)
				}
			}
			if !slices.EqualFunc(missed, tt.missed, strings.HasPrefix) {
				t.Errorf("not met:\n%s\nwant:\n%s", strings.Join(missed, "\n"), strings.Join(tt.missed, "\n"))
			}
		})
	}
}

// TestFailed checks that a run fails if one account gets more than its share, and that a run does not fail because
// of other missed targets.
func TestFailed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		change func(*suite.Results)
		want   int
	}{
		{func(*suite.Results) {}, 0},
		{func(r *suite.Results) { r.BinarySize++ }, 0},
		{func(r *suite.Results) {
			for _, m := range r.Cells {
				if m.How == "beside scans" {
					m.Rounds[0].OpsPerSecond--
				}
			}
		}, 1},
	} {
		r := meeting()
		tt.change(r)
		if got := suite.NewReport(r, "", "short").Failed(); got != tt.want {
			t.Errorf("%d, want %d", got, tt.want)
		}
	}
}

// TestNothingMeasured checks that a target without a measurement is not met.
func TestNothingMeasured(t *testing.T) {
	t.Parallel()
	for _, c := range suite.Checks(&suite.Results{}) {
		if c.Status != suite.Unmeasured {
			t.Errorf("%s: %s", c.What, c.Status)
		}
	}
}

func TestMedianOfRounds(t *testing.T) {
	t.Parallel()
	var r suite.Results
	cell := suite.Cell{Server: suite.Azurite, Op: load.Get, Connections: 16}
	for i, rate := range []float64{300, 100, 200} {
		r.Add(cell, suite.Sample{OpsPerSecond: rate, P99: time.Duration(rate), Errors: uint64(i)})
	}
	m := r.Find(suite.Azurite, load.Get, 16)
	if m.Median.OpsPerSecond != 200 || m.Median.P99 != 200 || m.Median.Errors != 3 {
		t.Errorf("median of 300, 100, 200 with 0+1+2 errors: %+v", m.Median)
	}
	r.Add(cell, suite.Sample{OpsPerSecond: 400})
	if m.Median.OpsPerSecond != 250 {
		t.Errorf("median of four rounds: %v, want the mean of the middle two", m.Median.OpsPerSecond)
	}
	r.Add(cell, suite.Sample{OpsPerSecond: 1, Foreign: 0.5, Errors: 1})
	if m.Median.OpsPerSecond != 250 || m.Median.Errors != 4 {
		t.Errorf("a round beside a busy neighbour: median %v and %d errors, want it ignored but for its errors", m.Median.OpsPerSecond, m.Median.Errors)
	}
	cell.Op = load.Scan
	r.Add(cell, suite.Sample{OpsPerSecond: 7, Foreign: 0.5})
	if got := r.Find(cell.Server, cell.Op, cell.Connections).Median.OpsPerSecond; got != 7 {
		t.Errorf("only noisy rounds: median %v, want 7", got)
	}
}

// TestPaired checks the comparison of two kinds of measurement that were made in alternation. The two results of each
// pair must be compared with each other.
func TestPaired(t *testing.T) {
	t.Parallel()
	r := meeting()
	cell := suite.Cell{Server: suite.Memory, Op: load.Get, Connections: 16, How: "Atom"}
	plain := cell
	plain.How = "JSON"
	for _, disturbed := range []float64{1, 10, 2} { // in each round, the machine slows down both measurements by this factor
		r.Add(plain, suite.Sample{OpsPerSecond: 1000 / disturbed, CPU: 10 * time.Microsecond})
		r.Add(cell, suite.Sample{OpsPerSecond: 600 / disturbed, CPU: 20 * time.Microsecond})
	}
	r.Add(plain, suite.Sample{OpsPerSecond: 1e9}) // in this round, the run ended after one of the two measurements, so the round must be ignored
	checks := suite.Checks(r)
	i := slices.IndexFunc(checks, func(c suite.Check) bool { return c.What == "edgetable --memory, get, Atom against JSON, rate" })
	if i < 0 || checks[i].Ratio != 0.6 {
		t.Errorf("the ratio of 500:1000 and thrice 600:1000 is not 0.6: check %d of %+v", i, checks)
	}
}

// TestReport checks that the report can be written as JSON, Markdown and text, and that the Markdown page
// contains what a reader needs.
func TestReport(t *testing.T) {
	t.Parallel()
	r := meeting()
	r.BinarySize++
	r.Problems = []string{"something\nfailed"}
	rep := suite.NewReport(r, "go run ./testdata/bench -full", "full")
	if missed, unmeasured := rep.Missed(); missed != 1 || unmeasured != 0 {
		t.Errorf("missed %d, unmeasured %d; want 1, 0", missed, unmeasured)
	}
	var md, text, js bytes.Buffer
	if err := rep.Markdown(&md); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"    go run ./testdata/bench -full\n", "| size of the binary | 40.0 MB | – | – | ≤40 MB | MISS |", "- something failed\n",
		"| get | 16 | edgetable | 15000 | 15000 |", "sustained for 1m0s"} {
		if !strings.Contains(md.String(), want) {
			t.Errorf("the markdown lacks %q:\n%s", want, md.String())
		}
	}
	if err := rep.Text(&text); err != nil || !strings.Contains(text.String(), "1 missed, 0 not measured; 1 problems") {
		t.Errorf("%v:\n%s", err, text.String())
	}
	if err := rep.JSON(&js); err != nil || !json.Valid(js.Bytes()) {
		t.Errorf("%v:\n%s", err, js.String())
	}
}
