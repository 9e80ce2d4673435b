package workerd_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"edgetable/testdata/edge/workerd"
	waiting "edgetable/testdata/must"
)

// ask sends a request to an account, which may be acme or acme-secondary. A header has the form "name:
// value".
func ask(t *testing.T, s *workerd.Server, method, account, path, query, body string, headers ...string) (status int, answer string) {
	t.Helper()
	r := request{method: method, account: account, target: path, body: body, header: headers}
	if query != "" {
		r.target += "?" + query
	}
	if body != "" {
		r.kind = "application/json"
	}
	resp, answer, err := r.send(t.Context(), s, workerd.Client)
	if err != nil {
		return 0, err.Error()
	}
	if got, want := resp.Header.Get("x-edgetable-consistency"), resp.Request.Header.Get("x-edgetable-consistency"); got != want {
		t.Errorf("%s %s: the answer is of the consistency %q, asked was for %q", method, path, got, want)
	}
	return resp.StatusCode, answer
}

// must sends a request and returns the body of the response. If the status of the response is not the
// expected one, the test fails.
func must(t *testing.T, want int, s *workerd.Server, method, account, path, query, body string, headers ...string) string {
	t.Helper()
	status, answer := ask(t, s, method, account, path, query, body, headers...)
	if status != want {
		t.Fatalf("%s %s%s: %d %s", method, account, path, status, answer)
	}
	return answer
}

// published waits until the replica in KV has the given number of records of a table. The number is 0 if the
// replica must not contain the table, and otherwise 1. While the replica has no record, the Durable Objects
// answer the requests to the replica's address.
func published(t *testing.T, s *workerd.Server, table string, want int) {
	t.Helper()
	waiting.Eventually(t, fmt.Sprintf("the replica has %d records of %s", want, table), new(strings.Builder), func() bool {
		n, err := s.Names(t.Context(), "dtable/acme/"+table)
		if err != nil {
			t.Fatal(err)
		}
		return n == want
	})
}

// shows waits until the secondary address (the replica) gives the same answer as the primary address. The wait may take
// minutes: on a busy machine, a write to the replica may be repeated several times.
func shows(t *testing.T, s *workerd.Server, path, query string) {
	t.Helper()
	table, _, _ := strings.Cut(path[1:], "(")
	published(t, s, table, 1)
	want := must(t, 200, s, "GET", "acme", path, query, "")
	shown := new(strings.Builder)
	waiting.Eventually(t, fmt.Sprintf("%s of the secondary address is as that of the primary\n%.500s", path, want), shown, func() bool {
		_, got := ask(t, s, "GET", "acme-secondary", path, query, "")
		shown.Reset()
		shown.WriteString(got)
		return got == want
	})
}

// TestReplica checks that writes at the primary address become visible at the secondary address. This must
// also hold if workerd is killed before the writes reach the replica, and for tables that were created before
// the replica.
func TestReplica(t *testing.T) {
	options := workerd.Options{Data: t.TempDir(), Env: []string{acme}}
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
	must(t, 200, s, "GET", "acme-secondary", "/before(PartitionKey='p0',RowKey='0')", "", "") // a response may come from the replica or from an object
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

	if stats := must(t, 200, s, "GET", "acme-secondary", "/", "restype=service&comp=stats", ""); !strings.Contains(stats, "<Status>bootstrap</Status><LastSyncTime></LastSyncTime>") {
		t.Errorf("all was published for the first time a moment ago: %s", stats)
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

// TestReplicaStats checks LastSyncTime after all changes have reached the replica. LastSyncTime must then be
// about three minutes ago.
func TestReplicaStats(t *testing.T) {
	s := startReplica(t, workerd.Options{Data: t.TempDir(), Env: []string{acme, "EDGETABLE_REPLICA=true"}})
	must(t, 201, s, "POST", "acme", "/Tables", "", `{"TableName":"people"}`)
	must(t, 201, s, "POST", "acme", "/people", "", `{"PartitionKey":"p","RowKey":"r"}`)
	shows(t, s, "/people()", "")
	if age := time.Since(lastSync(t, s)); age < 179*time.Second || age > 15*time.Minute {
		t.Errorf("the last sync was %s ago", age)
	}
}

// TestReplicaAsked checks that the replica answers a request at the primary address if a header of the
// request permits old data. Such a response may lack the latest writes. A request without the header must get
// the latest writes.
func TestReplicaAsked(t *testing.T) {
	s := startReplica(t, workerd.Options{Data: t.TempDir(), Env: []string{acme, "EDGETABLE_REPLICA=true"}})
	const path, all = "/people(PartitionKey='p',RowKey='r')", "/people()"
	must(t, 201, s, "POST", "acme", "/Tables", "", `{"TableName":"people"}`)
	must(t, 204, s, "PUT", "acme", path, "", `{"Value":0}`)
	shows(t, s, path, "")
	older := map[string]bool{} // paths for which a response did not have the latest write
	for n := 1; len(older) < 2; n++ {
		value := fmt.Sprintf(`"Value":%d}`, n)
		must(t, 204, s, "PUT", "acme", path, "", "{"+value)
		for _, path := range []string{path, all} {
			if _, got := ask(t, s, "GET", "acme", path, "", "", "x-edgetable-consistency: eventual"); !strings.Contains(got, value) {
				older[path] = true
			}
			for _, answer := range []string{
				must(t, 200, s, "GET", "acme", path, "", ""),
				must(t, 200, s, "GET", "acme", path, "", "", "x-edgetable-consistency: strong"),
				must(t, 200, s, "GET", "acme-secondary", path, "", "", "x-edgetable-consistency: strong"),
			} {
				if !strings.Contains(answer, value) {
					t.Fatalf("%s is %s, want %s", path, answer, value)
				}
			}
		}
		if n == 100 {
			t.Fatalf("a replica that is behind by a second showed a hundred times what was just written: %v", older)
		}
	}
}

func startReplica(t *testing.T, o workerd.Options) *workerd.Server {
	t.Helper()
	if o.Log == nil {
		o.Log = workerd.Log(t)
	}
	s, err := workerd.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}
