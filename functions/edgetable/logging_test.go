package main

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"edgetable/core/accounts"
	"edgetable/testdata/must"
)

func records(t *testing.T, text string) (list []map[string]any) {
	t.Helper()
	for line := range strings.Lines(text) {
		var record map[string]any
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatalf("no JSON: %q: %v", line, err)
		}
		at, _ := record["time"].(string)
		if _, err := time.Parse(time.RFC3339Nano, at); err != nil || record["level"] == nil || record["msg"] == nil {
			t.Errorf("the line %q lacks something: %v", line, err)
		}
		list = append(list, record)
	}
	return list
}

// show returns the named fields of log records as text, with one record on each line.
func show(list []map[string]any, names ...string) string {
	var b strings.Builder
	for _, record := range list {
		for _, name := range names {
			if value, ok := record[name]; ok {
				fmt.Fprint(&b, value)
			} else {
				b.WriteString("-")
			}
			b.WriteString(" ")
		}
		b.WriteString("\n")
	}
	return strings.ReplaceAll(b.String(), " \n", "\n")
}

// TestEveryLineIsJSON checks that with --log-format json every line on standard error is JSON, even
// if the server does not start. Durations must be numbers of milliseconds.
func TestEveryLineIsJSON(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := filepath.Join(dir, "config")
	must.OK(t, os.WriteFile(config, []byte("memory = true\nlog-format = json\naccounts = "+dir+"/missing\n"), 0o600))
	for _, tt := range []struct {
		args   string
		env    map[string]string
		status int
		say    string
	}{
		{"serve --memory --log-format json --accounts " + dir + "/missing", nil, 1, "--accounts: "},
		{"serve --config " + config, nil, 1, "--accounts: "},
		{"serve --memory --listen 127.0.0.1", map[string]string{"EDGETABLE_LOG_FORMAT": "json"}, 2, "is not an address"},
		{"serve --memory --access-log " + dir + "/no/such --listen 127.0.0.1:0", map[string]string{"EDGETABLE_LOG_FORMAT": "json"}, 1, "--access-log: "},
		{"serve --nope --log-format json", nil, 2, "--nope"},
		{"serve --nope --log-format=json", nil, 2, "--nope"},
		{"serve --skew=1", map[string]string{"EDGETABLE_LOG_FORMAT": "json"}, 2, "--skew"},
		{"serve --log-format json --memory --data x", nil, 2, "--memory and --data"},
		{"serve --log-format json --memory --listen 127.0.0.1:0 --drain 20ms --grace 1.5s", nil, 0, "stopping"},
	} {
		status, _, said := run(t, tt.env, strings.Fields(tt.args)...)
		if list := records(t, said); status != tt.status || len(list) == 0 || !strings.Contains(said, tt.say) {
			t.Errorf("%s: status %d\n%s", tt.args, status, said)
		} else if got := show(list, "drain_ms", "grace_ms"); tt.status == 0 && got != "20 1500\n- -\n" {
			t.Errorf("durations: %s", got)
		}
	}
	if status, _, said := run(t, nil, "serve", "--log-format", "xml"); status != 2 || strings.HasPrefix(said, "{") {
		t.Errorf("status %d: %s", status, said)
	}
}

// TestFailedSignIns checks that the server logs failed sign-ins. Each line must have the client's
// address and the account in the request. The number of these lines must be limited, so that
// clients cannot fill the disk.
func TestFailedSignIns(t *testing.T) {
	t.Parallel()
	s := start(t, map[string]string{accounts.Variable: "acme:" + key1}, "--memory", "--log-format", "json", "--trust-proxy", "--limits", "failures=0")
	c := s.client(t, key2)
	from := func(address, path string, header ...string) {
		t.Helper()
		req := c.request(t, "GET", path, "")
		req.Header.Set("X-Forwarded-For", address)
		if len(header) > 0 {
			req.Header.Set("Authorization", header[0])
		}
		resp, err := c.Do(req)
		must.OK(t, err)
		resp.Body.Close()
	}
	for range 100 {
		from("192.0.2.1", "/Tables")
	}
	from("192.0.2.2", "/people?sv=2019-02-02&tn=people&sp=r&se=2030-01-01&sig="+url.QueryEscape(key2), "")
	c.endpoint = strings.TrimSuffix(c.endpoint, "acme") + "other"
	from("192.0.2.3", "/Tables")
	c.endpoint = strings.TrimSuffix(c.endpoint, "other") + url.PathEscape(key2)
	from("192.0.2.4", "/Tables")
	for i := range 1000 {
		from(fmt.Sprintf("10.0.%d.%d", i>>8, i&255), "/Tables")
	}
	s.ends(t)
	lines, all := map[string]int{}, 0
	var left float64
	for _, record := range records(t, s.logs.String()) {
		if record["msg"] != "sign-in failed" {
			continue
		}
		all++
		lines[show([]map[string]any{record}, "source", "account", "refused")]++
		if n, ok := record["left_out"].(float64); ok {
			left += n
		}
	}
	for who, want := range map[string]int{
		"192.0.2.1 acme signature\n": 5, "192.0.2.2 acme sas\n": 1, "192.0.2.3 - account\n": 1, "192.0.2.4 - account\n": 1,
	} {
		if lines[who] != want {
			t.Errorf("%s is there %d times, not %d", strings.TrimSpace(who), lines[who], want)
		}
	}
	// The server limits the number of log lines about failed sign-ins per minute. A slow machine may
	// need several minutes for this test, so permit more lines.
	if all < 20 || all > 500 || left < 95 {
		t.Errorf("%d lines, %v left out:\n%s", all, left, s.logs)
	}
}

// TestCauses checks that the log has the cause of every response with status 5xx, even if DynamoDB
// cannot be reached or does not respond.
func TestCauses(t *testing.T) {
	t.Parallel()
	silent := make(chan struct{})
	dynamo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-silent:
			<-r.Context().Done()
		default:
			w.Header().Set("Content-Type", "application/x-amz-json-1.0")
			const none = `{"Items":[],"Count":0,"ScannedCount":0}`
			w.Header().Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(none))), 10))
			fmt.Fprint(w, none)
		}
	}))
	t.Cleanup(dynamo.CloseClientConnections)
	s := start(t, map[string]string{accounts.Variable: "acme:" + key1}, "--log-format", "json", "--access-log", "-", "--store", "dynamodb",
		"--dynamodb-table", "t", "--dynamodb-region", "us-east-1", "--dynamodb-endpoint", dynamo.URL)
	c := s.client(t, key1)
	c.do(t, "GET", "/Tables", "", 200)
	close(silent)
	c.do(t, "GET", "/people()?timeout=1", "", 500)
	dynamo.CloseClientConnections()
	dynamo.Listener.Close()
	c.do(t, "GET", "/people()", "", 503)
	s.ends(t)
	list := records(t, s.logs.String())
	causes := func(msg string, status float64, want ...string) {
		t.Helper()
		for _, record := range list {
			if record["msg"] == msg && record["status"] == status {
				cause, _ := record["cause"].(string)
				for _, text := range want {
					if !strings.Contains(cause, text) {
						t.Errorf("%s %v: the cause %q lacks %q", msg, status, cause, text)
					}
				}
				return
			}
		}
		t.Errorf("no %s %v in the log:\n%s", msg, status, s.logs)
	}
	for _, msg := range []string{"request failed", "request"} {
		causes(msg, 500, "deadline exceeded", "operation error DynamoDB")
		causes(msg, 503, "operation error DynamoDB", "connection refused")
	}
}

// TestLogKeepsData checks that no log contains data, keys or signatures of clients, at any log
// level. The clients send all kinds of wrong requests.
func TestLogKeepsData(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "access")
	s := start(t, map[string]string{accounts.Variable: "acme:" + key1}, "--memory", "--log-level", "debug", "--access-log", file, "--slow-query", "1ns", "--limits", "account=1000,partition=1000")
	c := s.client(t, key1)
	c.fill(t)
	q := func(filter string) string { return "/people()?$filter=" + url.PathEscape(filter) }
	batch := "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\n\r\nPUT /acme/people(PartitionKey='" + marked +
		"',RowKey='" + marked + "') HTTP/1.1\r\nContent-Type: application/json\r\nIf-Match: W/\"datetime'" + marked + "'\"\r\n\r\n{\"A\":\"" + marked + "\"}\r\n--c--\r\n--b--\r\n"
	requests := 0
	for _, r := range []struct{ method, path, body, header, value string }{
		{"POST", "/people", `{"PartitionKey":"` + marked + `","RowKey":"` + marked + `","A":"` + marked + `"}`, "", ""},
		{"POST", "/people", `{"PartitionKey":"` + marked + `","RowKey":"` + marked + `"}`, "", ""},
		{"POST", "/people", `{"PartitionKey":"` + marked, "", ""},
		{"POST", "/people", `{"A@odata.type":"Edm.Int64","A":"` + marked + `"}`, "", ""},
		{"POST", "/Tables", `{"TableName":"` + marked + `%"}`, "", ""},
		{"GET", "/people(PartitionKey='" + marked + "',RowKey='" + marked + "')", "", "", ""},
		{"GET", "/people(PartitionKey='" + marked + "'", "", "", ""},
		{"GET", "/people('" + marked + "')", "", "", ""},
		{"GET", "/'" + marked + "'()", "", "", ""},
		{"GET", q("A eq '" + marked + "'"), "", "", ""},
		{"GET", q("A eq '" + marked), "", "", ""},
		{"GET", q("substringof('" + marked + "',A)"), "", "", ""},
		{"GET", q("A eq datetime'" + marked + "'"), "", "", ""},
		{"GET", "/people()?$top=" + marked, "", "", ""},
		{"GET", "/people()?$orderby=" + marked, "", "", ""},
		{"GET", "/people()?timeout=" + marked, "", "", ""},
		{"GET", "/people()?NextPartitionKey=" + marked + "&NextRowKey=" + marked, "", "", ""},
		{"GET", "/people()?comp=" + marked, "", "", ""},
		{"MERGE", ada, `{"A":"` + marked + `"}`, "If-Match", `W/"datetime'` + marked + `'"`},
		{"MERGE", ada, `{"A":"` + marked + `"}`, "Content-Type", marked},
		{"GET", ada, "", "Accept", marked},
		{"GET", ada, "", "X-Ms-Version", marked},
		{"GET", ada, "", "X-Ms-Date", marked},
		{"GET", ada, "", "Authorization", "SharedKey " + marked + ":" + key1},
		{"GET", ada, "", "Authorization", marked + " " + key1},
		{"GET", ada, "", "Authorization", "Bearer " + key1},
		{"GET", ada, "", "Origin", marked},
		{"GET", ada, "", "Cookie", marked + key1},
		{strings.ToUpper(marked), ada, "", "", ""},
		{"GET", "/people()?sv=2019-02-02&tn=" + marked + "&sp=r&se=2030-01-01&sig=" + url.QueryEscape(key1), "", "Authorization", ""},
		{"GET", "/people()?sig=" + url.QueryEscape(key1) + "&se=" + marked, "", "Authorization", ""},
		{"POST", "/$batch", batch, "Content-Type", "multipart/mixed; boundary=b"},
		{"POST", "/$batch", batch, "Content-Type", "multipart/mixed; boundary=" + marked},
	} {
		req := c.request(t, r.method, r.path, r.body)
		if r.header != "" {
			req.Header.Set(r.header, r.value)
			if r.value == "" {
				req.Header.Del(r.header)
			}
		}
		resp, err := c.Do(req)
		must.OK(t, err)
		resp.Body.Close()
		requests++
	}
	c.endpoint = strings.TrimSuffix(c.endpoint, "acme") + strings.ToUpper(marked)
	resp, err := c.Do(c.request(t, "GET", "/Tables", ""))
	must.OK(t, err)
	resp.Body.Close()
	s.ends(t)
	text, err := os.ReadFile(file)
	must.OK(t, err)
	if n := strings.Count(string(text), "\n"); n != requests+3 {
		t.Errorf("%d lines for %d requests", n, requests+3)
	}
	for _, log := range []string{string(text), s.logs.String()} {
		if found := secret.FindString(log); found != "" {
			t.Errorf("the log shows %q:\n%s", found, log)
		}
	}
}
