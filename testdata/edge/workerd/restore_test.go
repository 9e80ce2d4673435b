package workerd_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/testdata/edge/workerd"
	waiting "edgetable/testdata/must"
)

// TestRestoreUnsupported checks that a restore is refused, because workerd keeps no earlier states. The restore
// must change nothing, and the table must be served as before. An error in the request must be reported first.
func TestRestoreUnsupported(t *testing.T) {
	options := workerd.Options{Data: t.TempDir(), Log: workerd.Log(t), Env: []string{
		acme, "EDGETABLE_BUCKETS=3", "EDGETABLE_MAX_SKEW=24h",
	}}
	s, err := workerd.Start(options)
	if err != nil {
		t.Fatal(err)
	}
	must(t, 201, s, "POST", "acme", "/Tables", "", `{"TableName":"people"}`)
	must(t, 201, s, "POST", "acme", "/people", "", `{"PartitionKey":"p","RowKey":"r"}`)
	ask := func(table, query string) (int, string) {
		resp, body, err := request{method: "POST", target: "/" + table + "?comp=restore" + query}.send(t.Context(), s, workerd.Client)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, body
	}
	at := func(d time.Duration) string { return "&time=" + time.Now().UTC().Add(d).Format("2006-01-02T15:04:05Z") }
	for _, row := range []struct {
		table, query string
		status       int
		want         string
	}{
		{"people", "", 400, "time must be a time such as"},
		{"people", "&time=yesterday", 400, "time must be a time such as"},
		{"people", at(time.Hour), 400, "at least a minute in the past"},
		{"people", at(-31 * 24 * time.Hour), 400, "the last 30 days"},
		{"people", at(-time.Hour), 400, "the table was made"},
		{"absent", at(-time.Hour), 404, "TableNotFound"},
		{"people", "&time=undo", 501, "no restore of this table to undo"},
	} {
		if status, body := ask(row.table, row.query); status != row.status || !strings.Contains(body, row.want) {
			t.Errorf("%s%s: %d %s", row.table, row.query, status, body)
		}
	}
	s.Stop()
	options.Env = append(options.Env, fmt.Sprintf("EDGETABLE_AHEAD=%d", 2*time.Hour/time.Millisecond))
	if s, err = workerd.Start(options); err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	if status, body := ask("people", at(time.Hour)); status != 501 || !strings.Contains(body, "Nothing was changed, because the platform does not restore an object: This Durable Object") {
		t.Errorf("%d %s", status, body)
	}
	must(t, 200, s, "GET", "acme", "/people(PartitionKey='p',RowKey='r')", "", "")
}

// TestRestore restores a table to an earlier time, on a clock that the test advances. If the objects keep no earlier
// states, the restore must return workerd's error. Otherwise all objects must restart with the earlier state.
func TestRestore(t *testing.T) {
	for _, past := range []bool{false, true} {
		clock := wallClock()
		now := func() edm.Ticks { return clock }
		place := server.NewPlace(now)
		if past {
			place.Remember()
		}
		s := openStore(t, place, now, 3)
		create(t, s)
		fill := func(value string) {
			for i := range 8 {
				m := table.Mutation{Key: key.Append(nil, fmt.Sprint("p", i), "r"), Nonce: uint64(i + 1), Properties: edm.AppendProperty(nil, "v", edm.String(value))}
				if _, err := s.Commit(t.Context(), people, []table.Mutation{m}); err != nil {
					t.Fatal(err)
				}
			}
		}
		values := func() (list []string) {
			page, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: []key.Range{{}}})
			if err != nil {
				t.Fatal(err)
			}
			for i := range page.Rows {
				v, _ := page.Rows[i].Properties.Lookup("v")
				list = append(list, v.String())
			}
			return list
		}
		clock += 3600 * edm.TicksPerSecond
		fill("first")
		to := clock + 60*edm.TicksPerSecond
		clock += 600 * edm.TicksPerSecond
		fill("second")
		restoring, ok := table.As[table.Restoring](s)
		if !ok {
			t.Fatal("the store does not restore")
		}
		want := strings.Repeat("first ", 8)
		for range 2 {
			did, err := restoring.Restore(t.Context(), people, to)
			switch {
			case past && (err != nil || string(did) != "0 restored\n1 restored\n2 restored\nended\n"):
				t.Errorf("%q, %v", did, err)
			case !past && (err == nil || !strings.Contains(err.Error(), "Nothing was changed, because the platform does not restore an object: This Durable Object's storage back-end does not implement point-in-time recovery")):
				t.Errorf("%q, %v", did, err)
			}
			if !past {
				want = strings.Repeat("second ", 8)
			}
			if got := strings.Join(values(), " ") + " "; got != want {
				t.Errorf("past %t: %s", past, got)
			}
			clock += 60 * edm.TicksPerSecond
		}
		fill("third")
	}
}

var laterTime = regexp.MustCompile(`or to (\S+) or later`)

// TestRestoreRanges restores a table to a time before the table was split. Then it undoes the restore, so that
// the table has its latest ranges again.
func TestRestoreRanges(t *testing.T) {
	ago := edm.Ticks(2 * 3600 * edm.TicksPerSecond) // alarms fire at once, because the objects' clock is behind the machine's clock
	now := func() edm.Ticks { return wallClock() - ago }
	small := start(t, splitting...)
	place := small.NewPlace(now)
	place.Remember()
	s := openStore(t, place, now, 1)
	create(t, s)
	fill := func(from, to int, value string) {
		for i := from; i < to; i++ {
			m := table.Mutation{Key: key.Append(nil, fmt.Sprintf("p%02d", i), "r"), Nonce: uint64(i + 1), Properties: edm.AppendProperty(nil, "v", edm.String(value+strings.Repeat(" ", 1000)))}
			_, err := s.Commit(t.Context(), people, []table.Mutation{m})
			for errors.Is(err, table.ErrBusy) { // repeat the write, because entities are being moved to another object
				_, err = s.Commit(t.Context(), people, []table.Mutation{m})
			}
			if err != nil && !errors.Is(err, table.ErrUnknown) {
				t.Fatal(err)
			}
		}
	}
	has := func(what string, first, second, third int) {
		t.Helper()
		page, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: []key.Range{{}}})
		waiting.Eventually(t, what+": a scan, while keys move", new(strings.Builder), func() bool {
			if errors.Is(err, table.ErrBusy) {
				page, err = s.Scan(t.Context(), people, table.ScanRequest{Ranges: []key.Range{{}}})
			}
			return !errors.Is(err, table.ErrBusy)
		})
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		var got [3]int
		for i := range page.Rows {
			v, _ := page.Rows[i].Properties.Lookup("v")
			got[slices.Index([]string{"first", "second", "third"}, strings.TrimSpace(v.Text()))]++
		}
		if got != [3]int{first, second, third} {
			t.Errorf("%s: %v, want %v", what, got, []int{first, second, third})
		}
	}
	ranges := func(least int) (n int) {
		counting, _ := table.As[table.Counting](s)
		waiting.Eventually(t, fmt.Sprintf("there are %d ranges", least), new(strings.Builder), func() bool {
			if report, err := counting.Traffic(t.Context(), people); err == nil { // the call fails while entities are being moved to other objects
				n = len(report.Ranges)
			}
			return n >= least
		})
		return n
	}
	restore := func(to edm.Ticks) string {
		t.Helper()
		restoring, _ := table.As[table.Restoring](s)
		var did string
		var err error
		waiting.Eventually(t, "a restore, while keys move", new(strings.Builder), func() bool {
			said, failed := restoring.Restore(t.Context(), people, to)
			if did, err = string(said), failed; err == nil {
				return true
			}
			// If entities were being moved between objects at the given time, the table cannot be restored to that time.
			// The error then names the next time that is possible. A restore also fails if entities are being moved now.
			if named := laterTime.FindStringSubmatch(err.Error()); named != nil {
				to, _ = edm.ParseDateTime(named[1])
				return false
			}
			return !strings.Contains(err.Error(), "run the same command again")
		})
		if err != nil || !strings.HasSuffix(did, "ended\n") {
			t.Fatalf("%q, %v", did, err)
		}
		return did
	}
	const minute = 60 * edm.TicksPerSecond
	fill(0, 8, "first")
	ago -= 10 * minute
	whole := now()
	ago -= 10 * minute
	fill(0, 60, "second")
	if n := ranges(3); n < 3 {
		t.Fatalf("%d ranges", n)
	}
	ago -= 10 * minute
	split := now()
	ago -= 10 * minute
	fill(0, 20, "third")
	ago -= 10 * minute
	restore(split)
	has("when it had split", 0, 60, 0)
	ago -= 10 * minute
	if did := restore(whole); !strings.HasPrefix(did, "0 restored\n0/") || !strings.Contains(did, " removed\n") {
		t.Errorf("%q", did)
	}
	has("before it split", 8, 0, 0)
	restore(table.UndoRestore)
	if has("undone", 0, 60, 0); ranges(3) < 3 {
		t.Error("it has not split")
	}
	fill(0, 60, "third")
	has("after all", 0, 0, 60)
}
