package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"edgetable/core/accounts"
	"edgetable/testdata/must"
)

// TestAccessLog checks that the access log has a line for each request. The line must have the
// client's address that a trusted proxy reports.
func TestAccessLog(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "access")
	s := start(t, map[string]string{accounts.Variable: "acme:" + key1}, "--memory", "--log-format", "json", "--access-log", file, "--trust-proxy")
	c := s.client(t, key1)
	send := func(method, path, body string, status int, change ...string) {
		t.Helper()
		req := c.request(t, method, path, body)
		req.Header.Set("X-Forwarded-For", "198.51.100.9, 203.0.113.7")
		for i := 0; i < len(change); i += 2 {
			req.Header.Set(change[i], change[i+1])
		}
		answer(t, &c.Client, req, status)
	}
	c.fill(t)
	send("PUT", "/people(PartitionKey='b',RowKey='1')", `{"Name":"`+marked+`","Age":41}`, 204, "x-ms-client-request-id", "mine")
	send("GET", "/people()?$filter=Age%20gt%2040", "", 200)
	send("GET", "/people(PartitionKey='"+marked+"',RowKey='1')", "", 404)
	send("GET", "/people()", "", 403, "Authorization", "SharedKey acme:AAAA")
	send("FROB", "/people()", "", 405)
	s.ends(t)
	text, err := os.ReadFile(file)
	must.OK(t, err)
	keepFile(t, file)
	list := records(t, string(text))
	want := `127.0.0.1 POST 204 acme CreateTable people - - 22 0 0 0 -
127.0.0.1 PUT 204 acme InsertOrReplaceEntity people - - 14 0 0 0 -
203.0.113.7 PUT 204 acme InsertOrReplaceEntity people - - 26 0 0 0 mine
203.0.113.7 GET 200 acme QueryEntities people - - 0 N 2 1 -
203.0.113.7 GET 404 acme GetEntity people ResourceNotFound - 0 N 0 0 -
203.0.113.7 GET 403 acme - - AuthenticationFailed signature 0 N 0 0 -
203.0.113.7 ? 405 acme - - UnsupportedHttpVerb - 0 N 0 0 -
`
	for _, record := range list {
		if record["sent"] != 0.0 {
			record["sent"] = "N"
		}
		if took, ok := record["took_ms"].(float64); !ok || took <= 0 || record["request"] == nil {
			t.Errorf("%v", record)
		}
	}
	if got := show(list, "source", "method", "status", "account", "operation", "table", "code", "refused", "received", "sent", "scanned", "returned", "client_request"); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := show(records(t, s.logs.String()), "level", "msg", "source", "account", "refused"); !strings.Contains(got, "WARN sign-in failed 203.0.113.7 acme signature\n") {
		t.Errorf("the log:\n%s", got)
	}
}

// TestAccessLogText checks that a line in text has the same fields as a line in JSON.
func TestAccessLogText(t *testing.T) {
	t.Parallel()
	s := start(t, nil, "--memory", "--access-log", "-")
	c := s.client(t, "")
	req := c.request(t, "GET", "/Tables", "")
	req.Header.Set("x-ms-client-request-id", `a"b=c`)
	answer(t, &c.Client, req, 200)
	s.ends(t)
	for line := range strings.Lines(s.logs.String()) {
		if strings.Contains(line, ` level=INFO msg=request source=127.0.0.1 method=GET status=200 account=devstoreaccount1 operation=QueryTables received=0 `) &&
			strings.HasSuffix(line, ` client_request="a\"b=c"`+"\n") {
			return
		}
	}
	t.Errorf("the log:\n%s", s.logs)
}

// TestAccessLogReopens checks that the server continues its access log in a new file after SIGHUP.
func TestAccessLogReopens(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "access")
	p := startProcess(t, nil, "--memory", "--access-log", file)
	c := p.client(t, "")
	c.fill(t)
	must.OK(t, os.Rename(file, file+".1"))
	p.signal(t, syscall.SIGHUP)
	must.Eventually(t, "the access log is there again", p.logs, func() bool { _, err := os.Stat(file); return err == nil })
	c.filled(t)
	p.signal(t, syscall.SIGTERM)
	must.OK(t, p.Wait())
	for name, want := range map[string]string{file + ".1": "CreateTable InsertOrReplaceEntity", file: "GetEntity"} {
		keepFile(t, name)
		info, err := os.Stat(name)
		if err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
		text, err := os.ReadFile(name)
		must.OK(t, err)
		var got []string
		for line := range strings.Lines(string(text)) {
			_, operation, _ := strings.Cut(line, "operation=")
			got = append(got, strings.Fields(operation)[0])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s has %q, want %s", name, got, want)
		}
	}
}

// TestSlowQueries checks that the log has the plan and the shape of a slow query. The shape is the
// filter without its values.
func TestSlowQueries(t *testing.T) {
	t.Parallel()
	s := start(t, nil, "--memory", "--log-format", "json", "--slow-query", "1ns")
	c := s.client(t, "")
	c.fill(t)
	c.filled(t)
	c.do(t, "GET", "/people()?$filter=PartitionKey%20ge%20'"+marked+"'%20and%20Age%20gt%2040", "", 200)
	c.do(t, "GET", "/people()?$filter=PartitionKey%20eq%20'a'%20or%20Name%20eq%20'"+marked+"'", "", 200)
	s.ends(t)
	var slow []map[string]any
	for _, record := range records(t, s.logs.String()) {
		if record["msg"] == "slow query" {
			slow = append(slow, record)
		}
	}
	want := "people Range PartitionKey ge ? and Age gt ? 1 0\npeople Table PartitionKey eq ? or Name eq ? 1 1\n"
	if got := show(slow, "table", "plan", "filter", "scanned", "returned"); got != want {
		t.Errorf("got\n%s\n%s", got, s.logs)
	}
	fast := start(t, nil, "--memory", "--slow-query", "1h")
	fast.client(t, "").fill(t)
	fast.client(t, "").do(t, "GET", "/people()", "", 200)
	fast.ends(t)
	if strings.Contains(fast.logs.String(), "slow") {
		t.Errorf("the log:\n%s", fast.logs)
	}
}
