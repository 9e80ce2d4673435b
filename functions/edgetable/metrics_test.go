package main

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"edgetable/adapters/observe"
	"edgetable/adapters/store/dynamodb"
	"edgetable/adapters/store/postgres"
	"edgetable/core/buckets"
	"edgetable/functions/edgetable/stores"
	"edgetable/testdata/must"
	"edgetable/testdata/proc"
)

// scrape reads the metrics of a server in the format for Prometheus. The server answers 503 if a busy machine needs more
// than 10 seconds to gather them; scrape then asks again, like Prometheus.
func (s *testServer) scrape(t *testing.T, token string) map[string]*dto.MetricFamily {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", s.greetingText(t, "metrics at"), nil)
	must.OK(t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	for {
		resp, err := http.DefaultClient.Do(req)
		must.OK(t, err)
		text, err := io.ReadAll(resp.Body)
		must.OK(t, errors.Join(err, resp.Body.Close()))
		switch resp.StatusCode {
		case 200:
			return parseMetrics(t, string(text))
		case 503:
			t.Logf("status 503: %s", text)
		default:
			t.Fatalf("status %d: %s", resp.StatusCode, text)
		}
	}
}

func parseMetrics(t *testing.T, text string) map[string]*dto.MetricFamily {
	t.Helper()
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	must.OK(t, err)
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	must.OK(t, err)
	return families
}

// sumOf returns the sum of all series of a metric that have these labels. A label has the form
// name=value. For a histogram, sumOf adds the counts.
func sumOf(t *testing.T, families map[string]*dto.MetricFamily, name string, labels ...string) (sum float64) {
	t.Helper()
	f, ok := families[observe.Namespace+"_"+name]
	if !ok {
		t.Fatalf("there is no %s", name)
	}
series:
	for _, m := range f.Metric {
		for _, want := range labels {
			if !slices.ContainsFunc(m.Label, func(l *dto.LabelPair) bool { return l.GetName()+"="+l.GetValue() == want }) {
				continue series
			}
		}
		sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
	}
	return sum
}

// TestMetrics checks how requests change the metrics. It also checks that docs/metrics.md lists
// each metric of a server.
func TestMetrics(t *testing.T) {
	t.Parallel()
	cert, key, roots := proc.Certificate(t, time.Now().Add(time.Hour))
	s := start(t, nil, "--data", t.TempDir(), "--backup-to", t.TempDir(), "--backup-log", "1s", "--metrics-listen", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key, "--chaos", "operation=DeleteTable fault=reset")
	c := s.client(t, "")
	trust(c, roots)
	c.fill(t)
	c.filled(t)
	c.filled(t)
	c.do(t, "GET", "/people()?$filter=Name%20eq%20'Bob'", "", 200)
	c.do(t, "GET", "/nobody", "", 404)
	preflight := c.request(t, "OPTIONS", "/people", "")
	preflight.Header.Set("Origin", "http://example.com")
	preflight.Header.Set("Access-Control-Request-Method", "GET")
	answer(t, &c.Client, preflight, 403) // the account has no CORS rules
	if resp, err := c.Do(c.request(t, "DELETE", "/Tables('people')", "")); err == nil {
		t.Errorf("the simulated fault: status %d", resp.StatusCode)
	}
	stranger := newClient(t, c.endpoint, c.account, key1)
	trust(stranger, roots)
	stranger.do(t, "GET", ada, "", 403)

	m := s.scrape(t, "")
	for _, tt := range []struct {
		name   string
		labels string
		want   float64
	}{
		{"request_duration_seconds", "operation=CreateTable result=success", 1},
		{"request_duration_seconds", "operation=GetEntity result=success", 2},
		{"request_duration_seconds", "operation=QueryEntities result=success", 1},
		{"request_duration_seconds", "operation=QueryEntities result=client_error", 1},
		{"request_duration_seconds", "operation=DeleteTable result=cut", 1},
		{"request_duration_seconds", "operation=Preflight result=client_error", 1},
		{"request_duration_seconds", "operation=none result=client_error", 1},
		{"errors_total", "code=TableNotFound", 1},
		{"errors_total", "code=AuthenticationFailed", 1},
		{"failed_sign_ins_total", "reason=signature", 1},
		{"failed_sign_ins_total", "", 1},
		{"refused_requests_total", "reason=permission", 1},
		{"refused_requests_total", "", 1},
		{"entities_scanned_total", "", 3},
		{"entities_returned_total", "", 2},
		{"simulated_faults_total", "rule=1", 1},
		{"store_commit_duration_seconds", "", 1},
		{"request_body_bytes_total", "", float64(len(`{"TableName":"people"}` + `{"Name":"Ada"}`))},
		{"requests_in_flight", "", 0},
		{"build_info", "goversion=" + runtime.Version(), 1},
		{"store_damage_total", "", 0},
		{"expired_entities_total", "", 0},
		{"expire_sweep_seconds", "", 0},
		{"changes_waiting", "", 0},
		{"changes_behind_ratio", "", 0},
	} {
		if got := sumOf(t, m, tt.name, strings.Fields(tt.labels)...); got != tt.want {
			t.Errorf("%s{%s} is %v, want %v", tt.name, tt.labels, got, tt.want)
		}
	}
	for _, name := range []string{
		"response_body_bytes_total", "connections_open", "connections_accepted_total", "requests_limit", "clock_seconds", "expire_behind_seconds", "certificate_expiry_timestamp_seconds",
		"store_fsync_duration_seconds", "store_group_commit_size", "store_log_written_bytes_total", "store_log_size_bytes", "store_size_bytes", "store_disk_free_bytes",
		"store_disk_size_bytes", "store_memtable_size_bytes",
	} {
		if sumOf(t, m, name) <= 0 {
			t.Errorf("%s is 0", name)
		}
	}
	if until := sumOf(t, m, "certificate_expiry_timestamp_seconds") - sumOf(t, m, "clock_seconds"); until < 3000 || until > 3600 {
		t.Errorf("the certificate ends in %v s", until)
	}
	if m["go_goroutines"] == nil || runtime.GOOS == "linux" && m["process_resident_memory_bytes"] == nil {
		t.Error("there are no metrics of Go or of the process")
	}
	s.ends(t)
	maps.Copy(m, metricsOfRemote(t))
	maps.Copy(m, metricsOfSecondary(t))
	compareMetricsPage(t, m)
}

// trust makes a client accept certificates of these roots.
func trust(c *signingClient, roots *x509.CertPool) {
	c.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
}

// TestMetricsToken checks that a request for the metrics needs the token. When the file with the
// token changes, the server must read it again.
func TestMetricsToken(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	write := func(token string) {
		t.Helper()
		must.OK(t, os.WriteFile(file, []byte(token+"\n"), 0o600))
	}
	first, second := strings.Repeat("1", 32), strings.Repeat("2", 32)
	write(first)
	s := start(t, nil, "--memory", "--metrics-listen", "127.0.0.1:0", "--metrics-token", file)
	status := func(authorization string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), "GET", s.greetingText(t, "metrics at"), nil)
		must.OK(t, err)
		req.Header.Set("Authorization", authorization)
		resp, err := http.DefaultClient.Do(req)
		must.OK(t, err)
		resp.Body.Close()
		return resp.StatusCode
	}
	for authorization, want := range map[string]int{
		"": 401, "Bearer": 401, "Bearer " + second: 401, "Basic " + first: 401, first: 401, "Bearer " + first[1:]: 401,
		"Bearer " + first: 200, "bearer " + first: 200,
	} {
		if got := status(authorization); got != want {
			t.Errorf("%q: status %d, want %d", authorization, got, want)
		}
	}
	write(second)
	s.look()
	if got := status("Bearer " + second); got != 200 {
		t.Fatalf("the new token: status %d\n%s", got, s.logs)
	}
	if got := status("Bearer " + first); got != 401 {
		t.Errorf("the old token: status %d", got)
	}
	s.ends(t)
	if logs := s.logs.String(); strings.Contains(logs, first) || strings.Contains(logs, second) {
		t.Errorf("the log shows a token:\n%s", logs)
	}
}

// metricsOfRemote returns the metrics of servers with stores on DynamoDB and PostgreSQL. It leaves
// out metrics that exist only with a connection.
func metricsOfRemote(t *testing.T) map[string]*dto.MetricFamily {
	t.Helper()
	m := observe.NewMetrics("")
	observer, scanned := stores.DynamoDBMetrics(m)
	observer.Call(dynamodb.Observation{Action: "PutItem", Result: "unknown", Took: time.Second, WriteUnits: 2})
	observer.Call(dynamodb.Observation{Action: "Query", Result: "success", Took: time.Second, ReadUnits: 0.5})
	observer.Retry()
	scanned(buckets.Cost{Reads: 3, Rows: 20, Bytes: 4096})
	stores.PostgresMetrics(m, func() postgres.Metrics {
		return postgres.Metrics{Writes: 7, Retries: map[string]int64{"lost": 1}, Pools: []postgres.Pool{{Name: "primary", Open: 2}}}
	})
	w := httptest.NewRecorder()
	promhttp.HandlerFor(m, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	families := parseMetrics(t, w.Body.String())
	for _, tt := range []struct {
		name, labels string
		want         float64
	}{
		{"dynamodb_call_duration_seconds", "action=PutItem result=unknown", 1},
		{"dynamodb_consumed_units_total", "kind=read", 0.5},
		{"dynamodb_consumed_units_total", "kind=write", 2},
		{"dynamodb_retries_total", "", 1},
		{"dynamodb_pages_total", "", 1},
		{"dynamodb_page_calls_total", "", 3},
		{"dynamodb_page_items_total", "", 20},
		{"dynamodb_page_bytes_total", "", 4096},
		{"postgres_grouped_writes_total", "", 7},
		{"postgres_connections", "to=primary", 2},
		{"postgres_retries_total", "reason=lost", 1},
	} {
		if got := sumOf(t, families, tt.name, strings.Fields(tt.labels)...); got != tt.want {
			t.Errorf("%s{%s} is %v, want %v", tt.name, tt.labels, got, tt.want)
		}
	}
	return families
}

// metricsOfSecondary returns the metrics that only a secondary has.
func metricsOfSecondary(t *testing.T) map[string]*dto.MetricFamily {
	t.Helper()
	_, two := newPair(t).start(t, "Lady Ada")
	eventually(t, "the secondary has counted what it followed", two, func() bool {
		m := two.scrape(t, "")
		return sumOf(t, m, "secondary_last_sync_timestamp_seconds") > 0 && sumOf(t, m, "secondary_commits_total") > 0
	})
	m := two.scrape(t, "")
	if sumOf(t, m, "secondary") != 1 || sumOf(t, m, "secondary_commits_total") == 0 {
		t.Error("the metrics do not show a secondary that follows")
	}
	maps.DeleteFunc(m, func(name string, _ *dto.MetricFamily) bool {
		return !strings.HasPrefix(name, observe.Namespace+"_secondary")
	})
	return m
}

// compareMetricsPage compares the table in docs/metrics.md with the metrics of a server. With
// -update it writes the table.
func compareMetricsPage(t *testing.T, families map[string]*dto.MetricFamily) {
	t.Helper()
	const page, begin, end = "../../docs/metrics.md", "-update' -->\n\n", "\n<!-- end of metrics"
	b, err := os.ReadFile(page)
	must.OK(t, err)
	head, rest, ok := bytes.Cut(b, []byte(begin))
	was, tail, ok2 := bytes.Cut(rest, []byte(end))
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", page)
	}
	var table bytes.Buffer
	table.WriteString("| Metric | Type | Labels | Meaning |\n|---|---|---|---|\n")
	for _, f := range slices.SortedFunc(maps.Values(families), func(a, b *dto.MetricFamily) int { return cmp.Compare(a.GetName(), b.GetName()) }) {
		if !strings.HasPrefix(f.GetName(), observe.Namespace+"_") {
			continue
		}
		var labels []string
		for _, l := range f.Metric[0].Label {
			labels = append(labels, "`"+l.GetName()+"`")
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", f.GetName(), strings.ToLower(f.GetType().String()), strings.Join(labels, ", "), f.GetHelp())
	}
	if *update {
		text := bytes.Join([][]byte{head, []byte(begin), table.Bytes(), []byte(end), tail}, nil)
		must.OK(t, os.WriteFile(page, text, 0o644))
		return
	}
	if got, want := strings.Split(table.String(), "\n"), strings.Split(string(was), "\n"); !slices.Equal(got, want) {
		for _, line := range got {
			if !slices.Contains(want, line) {
				t.Errorf("docs/metrics.md lacks, or has otherwise: %s", line)
			}
		}
		for _, line := range want {
			if !slices.Contains(got, line) {
				t.Errorf("docs/metrics.md has, but no server serves: %s", line)
			}
		}
	}
}
