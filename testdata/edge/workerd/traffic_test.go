package workerd_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"edgetable/core/traffic"
	"edgetable/testdata/edge/workerd"
)

// statistics returns the traffic statistics that a client with the account's key gets for a table.
func statistics(t testing.TB, s *workerd.Server, table string) *traffic.Report {
	t.Helper()
	r := request{method: http.MethodGet, target: "/" + table + "?comp=traffic"}
	resp, answer, err := r.send(t.Context(), s, workerd.Client)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%v: %s", err, answer)
	}
	report := new(traffic.Report)
	if err := json.Unmarshal([]byte(answer), report); err != nil {
		t.Fatal(err)
	}
	return report
}

// TestTraffic checks that the Durable Objects of a table count its requests, and that most counts survive
// when workerd is killed.
func TestTraffic(t *testing.T) {
	options := workerd.Options{Data: t.TempDir(), Log: workerd.Log(t), Env: []string{acme, "EDGETABLE_BUCKETS=40"}}
	s, err := workerd.Start(options)
	if err != nil {
		t.Fatal(err)
	}
	must(t, 201, s, "POST", "acme", "/Tables", "", `{"TableName":"people"}`)
	for n := range 30 {
		must(t, 201, s, "POST", "acme", "/people", "", fmt.Sprintf(`{"PartitionKey":"p%d","RowKey":"%d","Value":%d}`, n%3, n, n))
	}
	for range 40 {
		must(t, 200, s, "GET", "acme", "/people(PartitionKey='p1',RowKey='1')", "", "")
	}
	must(t, 404, s, "GET", "acme", "/people(PartitionKey='none',RowKey='1')", "", "")
	for range 4 {
		must(t, 200, s, "GET", "acme", "/people()", "$filter=PartitionKey%20eq%20'p2'%20and%20Value%20eq%205", "")
	}
	r := statistics(t, s, "people")
	if got := r.Totals; got.Reads != 41 || got.Writes != 30 || got.Queries != 4 || got.Scanned != 40 || got.Returned != 4 {
		t.Errorf("%+v", got)
	}
	if h := r.Partitions["reads"].Entries; len(h) != 3 || h[0].Partition != "p1" || h[0].Count != 40 {
		t.Errorf("%+v", h)
	}
	if len(r.Shapes) != 1 || r.Shapes[0].Plan != "Partition" || r.Shapes[0].Filter != "Value eq ?" || r.Shapes[0].Scanned != 40 {
		t.Errorf("%+v", r.Shapes)
	}
	must(t, 404, s, "GET", "acme", "/absent", "comp=traffic", "")
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	if s, err = workerd.Start(options); err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	if got := statistics(t, s, "people").Totals; got.Reads < 38 || got.Reads > 41 || got.Writes < 28 || got.Writes > 30 {
		t.Errorf("after the kill: %+v", got)
	}
}
