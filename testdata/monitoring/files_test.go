// Package monitoring tests the dashboard, the alert rules and their runbook. Some tests only read
// the files. Others run a real Prometheus that scrapes a real server under load (see package
// needs).
package monitoring_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const (
	root      = "../../"
	dashboard = root + "infra/machines/grafana/edgetable.json"
	rules     = root + "infra/machines/prometheus/alerts.yml"
	ruleTests = root + "infra/machines/prometheus/alerts_test.yml"
	runbook   = root + "docs/runbook.md"
	table     = root + "docs/metrics.md"
)

// panel has those fields of a dashboard's panel that the tests check.
type panel struct {
	ID                       int
	Type, Title, Description string
	Datasource               struct{ Type, UID string }
	GridPos                  struct{ X, Y, W, H int }
	Targets                  []struct {
		RefID, Expr, LegendFormat string
		Datasource                struct{ Type, UID string }
	}
	FieldConfig struct{ Defaults struct{ Unit string } }
	row         string // title of the row that contains the panel
}

func panels(t *testing.T) (list []panel) {
	t.Helper()
	var d struct {
		UID, Title    string
		SchemaVersion int
		Templating    struct{ List []struct{ Name, Type string } }
		Panels        []panel
	}
	if err := json.Unmarshal([]byte(read(t, dashboard)), &d); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, v := range d.Templating.List {
		names = append(names, v.Name+" "+v.Type)
	}
	if d.UID == "" || d.Title == "" || d.SchemaVersion < 30 || !slices.Equal(names, []string{"datasource datasource", "instance query"}) {
		t.Errorf("the dashboard is %q %q, version %d, with variables %v", d.UID, d.Title, d.SchemaVersion, names)
	}
	row := ""
	for _, p := range d.Panels {
		if p.row = row; p.Type == "row" {
			row = p.Title
		}
		list = append(list, p)
	}
	return list
}

// rule is an alert rule.
type rule struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

// group is a group of alert rules.
type group struct {
	Name  string
	Rules []rule
}

func groups(t *testing.T) []group {
	t.Helper()
	var file struct{ Groups []group }
	decode(t, rules, &file)
	return file.Groups
}

func decode(t *testing.T, path string, to any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(read(t, path)), to); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var (
	metric  = regexp.MustCompile(`\b(edgetable|go|process)_[a-z0-9_]+`)
	listed  = regexp.MustCompile("(?m)^\\| `([a-z0-9_]+)` \\| (\\w+) ")
	heading = regexp.MustCompile(`(?m)^## (.+)$`)
)

// checkNames checks that the metrics of an expression are listed in docs/metrics.md.
func checkNames(t *testing.T, where, expr string) {
	t.Helper()
	known := map[string]bool{}
	for _, m := range listed.FindAllStringSubmatch(read(t, table), -1) {
		known[m[1]] = m[2] != "histogram"
		for _, part := range []string{"_bucket", "_sum", "_count"} {
			known[m[1]+part] = m[2] == "histogram"
		}
	}
	for _, name := range metric.FindAllString(expr, -1) {
		if strings.HasPrefix(name, "edgetable_") && !known[name] {
			t.Errorf("%s: docs/metrics.md lists no %s", where, name)
		}
	}
}

// TestDashboard checks that each panel has a description, uses only metrics that exist, and does
// not overlap another panel.
func TestDashboard(t *testing.T) {
	t.Parallel()
	list := panels(t)
	if len(list) < 40 {
		t.Fatalf("only %d panels", len(list))
	}
	ids, titles := map[int]bool{}, map[string]bool{}
	taken := map[[2]int]string{}
	for _, p := range list {
		if p.Title == "" || ids[p.ID] || titles[p.Title] {
			t.Errorf("panel %d %q: the id or the title is missing or not the only one", p.ID, p.Title)
		}
		ids[p.ID], titles[p.Title] = true, true
		g := p.GridPos
		if g.X < 0 || g.Y < 0 || g.W < 1 || g.H < 1 || g.X+g.W > 24 {
			t.Errorf("%s: its place is %+v", p.Title, g)
		}
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				if other, ok := taken[[2]int{x, y}]; ok {
					t.Fatalf("%s covers %s", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if p.Description == "" || p.FieldConfig.Defaults.Unit == "" || p.Datasource.UID != "${datasource}" || len(p.Targets) == 0 || p.row == "" {
			t.Errorf("%s: %+v", p.Title, p)
		}
		for i, target := range p.Targets {
			if target.RefID != string(rune('A'+i)) || target.Datasource.UID != "${datasource}" || !strings.Contains(target.Expr, `instance=~"$instance"`) {
				t.Errorf("%s: %+v", p.Title, target)
			}
			checkNames(t, p.Title, target.Expr)
		}
	}
}

// TestAlerts checks that each alert uses only metrics that exist, has a test, and has a section in
// the runbook, and that each section of the runbook is about an alert.
func TestAlerts(t *testing.T) {
	t.Parallel()
	var tests struct {
		Tests []struct {
			Name  string
			Rules []struct {
				Alert string `yaml:"alertname"`
				Fires []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	decode(t, ruleTests, &tests)
	tested := map[string]bool{}
	for _, test := range tests.Tests {
		for _, r := range test.Rules {
			tested[r.Alert] = len(r.Fires) == 1
		}
	}
	var names []string
	for _, g := range groups(t) {
		for _, r := range g.Rules {
			names = append(names, r.Alert)
			checkNames(t, r.Alert, r.Expr)
			if want := "docs/runbook.md#" + strings.ToLower(r.Alert); r.Annotations["runbook_url"] != want {
				t.Errorf("%s: the runbook is %q, not %q", r.Alert, r.Annotations["runbook_url"], want)
			}
			if s := r.Labels["severity"]; s != "warning" && s != "critical" || r.Annotations["summary"] == "" || !tested[r.Alert] {
				t.Errorf("%s: severity %q, summary %q, tested: %t", r.Alert, s, r.Annotations["summary"], tested[r.Alert])
			}
		}
	}
	var parts []string
	for _, m := range heading.FindAllStringSubmatch(read(t, runbook), -1) {
		parts = append(parts, m[1])
	}
	slices.Sort(names)
	slices.Sort(parts)
	if !slices.Equal(names, parts) {
		t.Errorf("alerts:\n%v\nparts of the runbook:\n%v", names, parts)
	}
}
