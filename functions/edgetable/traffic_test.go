package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgetable/core/accounts"
	"edgetable/core/key"
	"edgetable/core/payload"
	"edgetable/core/protocol"
	"edgetable/core/table"
	"edgetable/core/traffic"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/server"
	"edgetable/functions/edgetable/stores"
	"edgetable/testdata/must"
)

// reportOf requests the traffic statistics of a table as JSON.
func reportOf(t *testing.T, data, table string) *traffic.Report {
	t.Helper()
	status, out, said := runUntil(t.Context(), nil, "traffic", table, "--data", data, "--json")
	if status != 0 {
		t.Fatalf("status %d: %s", status, said)
	}
	r := new(traffic.Report)
	must.OK(t, json.Unmarshal([]byte(out), r))
	return r
}

// TestStatistics checks that a server counts its requests, and that it continues the counts after a
// restart.
func TestStatistics(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := start(t, nil, "--data", data)
	c := s.client(t, "")
	c.do(t, "POST", "/Tables", `{"TableName":"People"}`, 204)
	console{t, nil}.says(0, "no request", "traffic", "--data", data)
	for i := range 30 {
		c.do(t, "POST", "/People", fmt.Sprintf(`{"PartitionKey":"p%d","RowKey":"%02d","Name":"x"}`, i%3, i), 204)
	}
	for range 5 {
		c.do(t, "GET", "/people(PartitionKey='p1',RowKey='01')", "", 200)
	}
	c.do(t, "GET", "/People(PartitionKey='none',RowKey='')", "", 404)
	c.do(t, "GET", "/Absent(PartitionKey='none',RowKey='')", "", 404)
	c.do(t, "GET", "/People()?$filter=Name%20eq%20'x'&$top=1", "", 200)
	c.do(t, "GET", "/People()?$filter=PartitionKey%20eq%20'p2'%20and%20Name%20eq%20'y'", "", 200)
	at := s.greetingText(t, "connection string")
	console{t, nil}.run(0, "query", "People", "--filter", "PartitionKey eq 'p2' and Name eq 'z'", "--from", at)
	console{t, nil}.run(0, "count", "People", "--from", at)
	check := func() {
		t.Helper()
		r := reportOf(t, data, "people")
		// While a Tick changes the counts of a table, requests to it are only counted as missed.
		n := &r.Totals
		near := func(got, want uint64) bool { return got <= want && want <= got+n.Missed }
		if r.Table != "People" || n.Reads+n.Writes+n.Queries+n.Missed != 6+30+2 || !near(n.Reads, 6) || !near(n.Writes, 30) || !near(n.Queries, 2) || !near(n.Returned, 1) {
			t.Errorf("%+v", r)
		}
		p := r.Partitions["reads"].Entries[0]
		if p.Partition != "p1" || !near(p.Count, 5) || p.Error != 0 {
			t.Errorf("%+v", p)
		}
		if n.Missed > 0 {
			return
		}
		if p := r.Partitions["scanned"]; len(p.Entries) != 1 || p.Entries[0].Partition != "p2" || p.Entries[0].Count != 10 {
			t.Errorf("%+v", p)
		}
		found := false
		for _, s := range r.Shapes {
			found = found || s.Plan == "Partition" && s.Queries == 1 && s.Example == "PartitionKey eq 'p2' and Name eq 'y'" && s.Scanned == 10 && s.Returned == 0
		}
		if !found || len(r.Shapes) != 2 {
			t.Errorf("%+v", r.Shapes)
		}
	}
	check()
	status, out, _ := runUntil(t.Context(), nil, "traffic", "People", "--data", data)
	if status != 0 || !strings.Contains(out, "\np1 ") || !strings.Contains(out, "PartitionKey eq 'p2' and Name eq 'y'") {
		t.Error(out)
	}
	status, out, _ = runUntil(t.Context(), nil, "traffic", "--data", data)
	if status != 0 || strings.Count(out, "\n") != 2 || !strings.Contains(out, "People") {
		t.Error(out)
	}
	s.ends(t)
	console{t, nil}.says(1, "no server answers", "traffic", "--data", data)
	s = start(t, nil, "--data", data)
	check()
	s.ends(t)

	file := filepath.Join(data, server.TrafficFile)
	text, err := os.ReadFile(file)
	must.OK(t, err)
	must.OK(t, os.WriteFile(file, text[:len(text)-10], 0o600))
	s = start(t, nil, "--data", data)
	if !strings.Contains(s.logs.String(), "are reset") {
		t.Errorf("nothing is said of the damaged file: %s", s.logs)
	}
	console{t, nil}.says(1, "no traffic of this table", "traffic", "People", "--data", data)
	s.ends(t)
}

// TestFullIsNotThrottled checks the statistics for a write that is refused because the disk is
// full. The statistics must not count this write as throttled.
func TestFullIsNotThrottled(t *testing.T) {
	t.Parallel()
	s := server.OpenStatistics("", slog.New(slog.DiscardHandler))
	for i, cause := range []error{nil, fmt.Errorf("the disk: %w", table.ErrFull), table.ErrBusy} {
		resp := &protocol.Response{
			Status: []int{204, 503, 503}[i], Summary: protocol.Summary{Account: "a", Table: "People", Err: cause},
			Visit: &protocol.Visit{InPartition: true, PartitionKey: "p", Write: true, Entities: 1},
		}
		s.Observe(resp)
	}
	saved := s.Save()
	if got := saved.Overviews()[0].Totals; got.Throttled != 1 || got.Writes != 1 {
		t.Errorf("%+v", got)
	}
}

// TestStatisticsOfAWorker checks that 'traffic' and 'advise' read the counts of a Cloudflare Worker
// with the account's key. For other services they must say that the service counts nothing.
func TestStatisticsOfAWorker(t *testing.T) {
	t.Parallel()
	tally := traffic.NewTally(stores.Now())
	for i := range 2000 {
		v := traffic.Visit{PartitionKey: "hot", RowKey: fmt.Sprint(i), From: key.Append(nil, "hot", fmt.Sprint(i)), InPartition: true, Entities: 1, Write: true, Bytes: 10}
		if i%10 == 0 {
			v.PartitionKey = fmt.Sprint("p", i%70)
		}
		tally.Add(&v)
	}
	for i := range 20 { // more different query filters than the statistics can hold
		tally.Add(&traffic.Visit{From: []byte{}, Plan: "Table", Shape: fmt.Sprintf("P%d eq ?", i)})
	}
	merger := traffic.NewMerger()
	for _, one := range []traffic.Range{{To: "m", Bytes: 3 << 30}, {From: "m", Bytes: 3 << 30}} {
		merger.Add(&traffic.Bucket{Tallies: []*traffic.Tally{tally}, Range: one})
	}
	report := payload.AppendReport(nil, merger.Report())
	worker := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "comp=traffic" || !strings.HasPrefix(r.Header.Get("Authorization"), "SharedKeyLite devstoreaccount1:") {
			w.WriteHeader(http.StatusForbidden)
		}
		_, _ = w.Write(report)
	}))
	defer worker.Close()
	connection := "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=" + accounts.DevelopmentKey + ";TableEndpoint=" + worker.URL + "/devstoreaccount1;"
	status, out, said := runUntil(t.Context(), nil, "traffic", "People", "--from", connection)
	if status != 0 || !strings.Contains(out, "written        4,000 entities") || !strings.Contains(out, "\nhot ") || !strings.Contains(out, "(all other filters)") {
		t.Errorf("%d %s%s", status, out, said)
	}
	for _, line := range []string{"(first key) to before m", "from m on"} {
		if i := strings.Index(out, line); i < 0 || !strings.Contains(strings.SplitN(out[i:], "\n", 2)[0], "3.0 GiB") {
			t.Errorf("the range %s and its size are not in\n%s", line, out)
		}
	}
	status, out, _ = runUntil(t.Context(), nil, "advise", "People", "--from", connection)
	if status != cli.StatusDamage || !strings.Contains(out, "hot-partition") || !strings.Contains(out, "EDGETABLE_SPLIT_RATE=0, they do not split") {
		t.Errorf("%d %s", status, out)
	}
	if status, _, said = runUntil(t.Context(), nil, "traffic", "--from", connection); status == 0 || !strings.Contains(said, "name a table") {
		t.Errorf("%d %s", status, said)
	}
	s := start(t, nil, "--memory")
	defer s.ends(t)
	azurite := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json;odata=minimalmetadata")
		_, _ = w.Write([]byte(`{"value":[]}`)) // Azurite ignores the parameter comp
	}))
	defer azurite.Close()
	for _, command := range []string{"traffic", "advise"} {
		status, _, said = runUntil(t.Context(), nil, command, "People", "--from", strings.Replace(connection, worker.URL, azurite.URL, 1))
		if status != 1 || !strings.Contains(said, "Workers with Durable Objects count traffic") || !strings.Contains(said, "Contributor Insights") {
			t.Errorf("%s: %d %s", command, status, said)
		}
	}
	// A server also reports the traffic of a table to a client with the account key. If the table does
	// not exist, the server must return an error.
	at := s.greetingText(t, "connection string")
	if status, _, said = runUntil(t.Context(), nil, "traffic", "People", "--from", at); status != 1 || !strings.Contains(said, "TableNotFound") {
		t.Errorf("%d %s", status, said)
	}
	ok(t, "tables", "create", "People", "--to", at)
	s.client(t, "").do(t, "POST", "/People", `{"PartitionKey":"a","RowKey":"b"}`, 204)
	ok(t, "put", "People", `{"PartitionKey":"a","RowKey":"c"}`, "--to", at) // the report does not count writes of edgetable's own commands
	if status, out, said = runUntil(t.Context(), nil, "traffic", "People", "--from", at); status != 0 || !strings.Contains(out, "written        1 entity") {
		t.Errorf("%d %s%s", status, out, said)
	}
}
