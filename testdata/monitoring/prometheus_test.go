package monitoring_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"edgetable/testdata/proc"
)

// patience is the timeout for an operation that normally takes seconds.
const patience = 3 * time.Minute

// start starts a program, and returns when the program has printed a line. The program stops when
// the test ends.
func start(t *testing.T, line string, environment []string, name string, args ...string) *proc.Process {
	t.Helper()
	c := exec.Command(name, args...)
	c.Env = append(os.Environ(), environment...)
	return proc.Start(t, line, c)
}

// run runs a program until it ends, and returns its output.
func run(t *testing.T, input, name string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Stdin = strings.NewReader(input)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// build builds the program, unless a step of the Makefile has built it.
func build(t *testing.T) string {
	t.Helper()
	if program := os.Getenv("EDGETABLE_BINARY"); program != "" {
		return program
	}
	program := filepath.Join(t.TempDir(), "edgetable")
	run(t, "", "go", "build", "-o", program, "edgetable/functions/edgetable")
	return program
}

const token = "0123456789abcdef0123456789abcdef"

// server is a running server, with the Prometheus that scrapes it.
type server struct {
	program, endpoint, metrics string
	prometheus                 string // URL of Prometheus
	environment                []string
}

// serve starts a server whose metrics need a token, and a Prometheus that scrapes it each second
// and has the alert rules.
func serve(t *testing.T, environment []string, args ...string) *server {
	t.Helper()
	dir := t.TempDir()
	tokenFile := filepath.Join(dir, "token")
	if err := os.WriteFile(tokenFile, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &server{program: build(t), environment: environment}
	p := start(t, "ready", environment, s.program, append([]string{"serve", "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0", "--metrics-token", tokenFile}, args...)...)
	s.endpoint, s.metrics = p.Value(t, "endpoint"), p.Value(t, "metrics at")

	address := free(t)
	s.prometheus = "http://" + address
	absolute, err := filepath.Abs(rules)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(s.metrics)
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "prometheus.yml")
	text := fmt.Sprintf("global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [%q]\nscrape_configs:\n"+
		"- job_name: edgetable\n  authorization: {credentials_file: %q}\n  static_configs: [{targets: [%q]}]\n", absolute, tokenFile, u.Host)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "", "promtool", "check", "config", config)
	start(t, "", nil, "prometheus", "--config.file", config, "--storage.tsdb.path", filepath.Join(dir, "prometheus"), "--web.listen-address", address, "--log.level", "warn")
	return s
}

// free returns an unused address.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// bench loads the server until the test ends.
func (s *server) bench(t *testing.T, args ...string) {
	t.Helper()
	start(t, "", s.environment, s.program, append([]string{"bench", "--endpoint", s.endpoint, "--refused", "wait", "--duration", "1h"}, args...)...)
}

// scrape reads the metrics once.
func (s *server) scrape(t *testing.T) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", s.metrics, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%s: %s, %v", s.metrics, resp.Status, err)
	}
	return string(b)
}

// api sends a request to Prometheus's HTTP API and decodes the response.
func (s *server) api(t *testing.T, path string, query url.Values, to any) error {
	t.Helper()
	resp, err := http.Get(s.prometheus + "/api/v1/" + path + "?" + query.Encode())
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer := struct {
		Status, Error string
		Data          any
	}{Data: to}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return err
	}
	if answer.Status != "success" {
		return errors.New(answer.Error)
	}
	return nil
}

// values returns the current values of an expression, without those that are not numbers.
func (s *server) values(t *testing.T, expr string) (list []float64, err error) {
	t.Helper()
	var data struct{ Result []struct{ Value [2]any } }
	if err := s.api(t, "query", url.Values{"query": {expr}}, &data); err != nil {
		return nil, err
	}
	for _, r := range data.Result {
		text, _ := r.Value[1].(string)
		if v, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
			list = append(list, v)
		}
	}
	return list, nil
}

// expression is a PromQL expression of a panel or of an alert.
type expression struct {
	where, text string
	zero        bool // whether the test accepts the value 0
}

// comparison matches the operator of a comparison in the expression of an alert. Without a problem, the
// comparison is false, and the expression returns no data. So the test replaces comparisons to see whether
// there is data.
var comparison = regexp.MustCompile(`\s(==|[<>]=?)\s`)

// expressions returns the expressions of the dashboard, with values for its variables, and the expressions of
// the alerts. It removes comparisons and offsets into the past from the alerts, because the test only checks
// that there is data, and a new server has no past.
func expressions(t *testing.T, row func(panel) bool, alerts func(group) bool) (list []expression) {
	t.Helper()
	variables := strings.NewReplacer("$instance", ".*", "$__rate_interval", "10s")
	for _, p := range panels(t) {
		for _, target := range p.Targets {
			if row(p) {
				list = append(list, expression{where: p.Title + " " + target.LegendFormat, text: variables.Replace(target.Expr)})
			}
		}
	}
	for _, g := range groups(t) {
		for _, r := range g.Rules {
			if alerts(g) {
				text := strings.ReplaceAll(comparison.ReplaceAllString(r.Expr, " + "), " offset 10m", "")
				list = append(list, expression{where: r.Alert, text: text, zero: true})
			}
		}
	}
	return list
}

// This map has expressions that return no data, or 0, while nothing is wrong. The values of the map describe the faults
// for which an expression returns data.
type healthy map[string]string

// checkExpressions checks that each expression returns data under load. A panel's expression must have a
// value other than 0. The parameter well lists exceptions, which need a fault to return such data.
func (s *server) checkExpressions(t *testing.T, list []expression, well healthy) {
	t.Helper()
	seen, nothing := map[string]bool{}, map[string]string{}
	for end := time.Now().Add(patience); ; time.Sleep(time.Second) {
		clear(nothing)
		for _, e := range list {
			if seen[e.where] {
				continue
			}
			values, err := s.values(t, e.text)
			for _, v := range values {
				seen[e.where] = seen[e.where] || e.zero || v != 0
			}
			if !seen[e.where] {
				nothing[e.where] = fmt.Sprintf("%s: %v, %v", e.text, values, err)
			}
		}
		waits := false
		for where := range nothing {
			_, declared := well[where]
			waits = waits || !declared
		}
		if !waits || time.Now().After(end) {
			break
		}
	}
	for where, text := range nothing {
		if _, declared := well[where]; !declared {
			t.Errorf("%s has no data under load: %s", where, text)
		}
	}
	for where := range well {
		known := false
		for _, e := range list {
			known = known || e.where == where
		}
		if !known {
			t.Errorf("%q is declared as empty and does not exist", where)
		}
	}
	t.Logf("%d expressions have data, %d show nothing in health", len(seen), len(nothing))
}

// checkAlerts waits until these alerts fire, and checks that no other alerts fire.
func (s *server) checkAlerts(t *testing.T, want ...string) {
	t.Helper()
	firing := map[string]bool{}
	for end := time.Now().Add(patience); len(firing) < len(want); time.Sleep(time.Second) {
		if time.Now().After(end) {
			t.Fatalf("these alerts fire: %v, want %v", firing, want)
		}
		var data struct {
			Alerts []struct {
				State       string
				Labels      map[string]string
				Annotations map[string]string
			}
		}
		if err := s.api(t, "alerts", nil, &data); err != nil {
			t.Log(err)
			continue
		}
		for _, a := range data.Alerts {
			if a.State == "firing" {
				firing[a.Labels["alertname"]] = true
				if a.Annotations["runbook_url"] == "" {
					t.Errorf("%v has no runbook", a)
				}
			}
		}
	}
	for _, name := range want {
		if !firing[name] {
			t.Errorf("these alerts fire: %v, not %s", firing, name)
		}
	}
}
