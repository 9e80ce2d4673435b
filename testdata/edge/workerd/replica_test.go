package workerd_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"edgetable/core/sharedkey"
	"edgetable/testdata/edge/workerd"
)

// ask sends a request to an account, which may be acme or acme-secondary.
func ask(t *testing.T, s *workerd.Server, method, account, path, query, body string) (status int, answer string) {
	t.Helper()
	key, err := sharedkey.ParseKey("c2VjcmV0")
	if err != nil {
		t.Fatal(err)
	}
	target := "/" + account + path
	if query != "" {
		target += "?" + query
	}
	req, err := http.NewRequestWithContext(t.Context(), method, s.Worker+target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	date := sharedkey.FormatDate(time.Now())
	req.Header.Set("x-ms-date", date)
	req.Header.Set("x-ms-version", "2019-02-02")
	req.Header.Set("Accept", "application/json;odata=nometadata")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if method == http.MethodDelete {
		req.Header.Set("If-Match", "*")
	}
	req.Header.Set("Authorization", key.Authorization(sharedkey.SharedKeyLite, "acme", sharedkey.Request{
		Method: method, Path: "/" + account + path, RawQuery: query, XMSDate: date,
	}))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	out, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(out)
}

// must is ask where it is known how it ends.
func must(t *testing.T, want int, s *workerd.Server, method, account, path, query, body string) string {
	t.Helper()
	status, answer := ask(t, s, method, account, path, query, body)
	if status != want {
		t.Fatalf("%s %s%s: %d %s", method, account, path, status, answer)
	}
	return answer
}

// published waits until the replica has the record of a table, or has none: without
// one the objects answer at the secondary address.
func published(t *testing.T, s *workerd.Server, table string, want int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
		n, err := s.Names(t.Context(), "dtable/acme/"+table)
		if err != nil {
			t.Fatal(err)
		}
		if n == want {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the replica has %d records of %s", n, table)
		}
	}
}

// shows waits until the replica shows what the primary address does.
func shows(t *testing.T, s *workerd.Server, path, query string) {
	t.Helper()
	table, _, _ := strings.Cut(path[1:], "(")
	published(t, s, table, 1)
	want := must(t, 200, s, "GET", "acme", path, query, "")
	var got string
	for end := time.Now().Add(150 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if _, got = ask(t, s, "GET", "acme-secondary", path, query, ""); got == want {
			return
		}
	}
	t.Fatalf("%s of the secondary address is\n%.500s\nand of the primary\n%.500s", path, got, want)
}

// What is written at the primary address is to be read at the secondary, also
// when workerd is killed before it is published, and where there were tables
// before there was a replica.
func TestReplica(t *testing.T) {
	options := workerd.Options{Data: t.TempDir(), Env: []string{"EDGETABLE_ACCOUNTS=acme:c2VjcmV0"}}
	s := startReplica(t, options)
	must(t, 201, s, "POST", "acme", "/Tables", "", `{"TableName":"before"}`)
	for n := range 150 {
		must(t, 201, s, "POST", "acme", "/before", "", fmt.Sprintf(`{"PartitionKey":"p%d","RowKey":"%d","Value":%d}`, n%3, n, n))
	}
	s.Stop()

	var log bytes.Buffer
	options.Env = append(options.Env, "EDGETABLE_REPLICA=true")
	options.Log = &log
	s = startReplica(t, options)
	must(t, 201, s, "POST", "acme", "/Tables", "", `{"TableName":"people"}`)
	must(t, 200, s, "GET", "acme-secondary", "/before(PartitionKey='p0',RowKey='0')", "", "") // wherever it is
	shows(t, s, "/before()", "")
	long := strings.Repeat("k", 400)
	for n, name := range []string{"Ann", "Bob", long, strings.Repeat("€", 500)} {
		must(t, 201, s, "POST", "acme", "/people", "", fmt.Sprintf(`{"PartitionKey":"p","RowKey":"%s","Value":%d,"Text":"%s"}`, name, n, strings.Repeat("x", n*3000)))
	}
	shows(t, s, "/people()", "")
	shows(t, s, "/people()", "$filter=Value%20ge%201")
	shows(t, s, "/people(PartitionKey='p',RowKey='Bob')", "")
	shows(t, s, "/people(PartitionKey='p',RowKey='"+long+"')", "")

	must(t, 204, s, "DELETE", "acme", "/people(PartitionKey='p',RowKey='Ann')", "", "")
	must(t, 204, s, "PUT", "acme", "/people(PartitionKey='p',RowKey='Bob')", "", `{"Value":7}`)
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	s = startReplica(t, options)
	shows(t, s, "/people()", "")

	if synced := lastSync(t, s); synced.Year() != 1 {
		t.Errorf("all was published for the first time a moment ago, and the last sync was %s", synced)
	}
	must(t, 204, s, "DELETE", "acme", "/Tables('people')", "", "")
	published(t, s, "people", 0)
	must(t, 404, s, "GET", "acme-secondary", "/people()", "", "")
	s.Stop()
	if strings.Contains(log.String(), `"msg":"trap"`) || strings.Contains(log.String(), `"msg":"replica"`) {
		t.Errorf("%.2000s", log.String())
	}
}

func lastSync(t *testing.T, s *workerd.Server) time.Time {
	t.Helper()
	stats := must(t, 200, s, "GET", "acme-secondary", "/", "restype=service&comp=stats", "")
	_, stats, _ = strings.Cut(stats, "<LastSyncTime>")
	stats, _, _ = strings.Cut(stats, "</LastSyncTime>")
	synced, err := time.Parse(time.RFC1123, stats)
	if err != nil {
		t.Fatal(err)
	}
	return synced
}

// Where nothing lags behind, the last sync was three minutes ago.
func TestReplicaStats(t *testing.T) {
	s := startReplica(t, workerd.Options{Data: t.TempDir(), Env: []string{"EDGETABLE_ACCOUNTS=acme:c2VjcmV0", "EDGETABLE_REPLICA=true"}})
	must(t, 201, s, "POST", "acme", "/Tables", "", `{"TableName":"people"}`)
	must(t, 201, s, "POST", "acme", "/people", "", `{"PartitionKey":"p","RowKey":"r"}`)
	shows(t, s, "/people()", "")
	if age := time.Since(lastSync(t, s)); age < 179*time.Second || age > 15*time.Minute {
		t.Errorf("the last sync was %s ago", age)
	}
}

func startReplica(t *testing.T, o workerd.Options) *workerd.Server {
	t.Helper()
	s, err := workerd.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}
