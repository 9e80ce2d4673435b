package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgetable/core/accounts"
	"edgetable/testdata/must"
)

// TestSASWorks checks that a printed shared access signature permits what the command says, and
// nothing more.
func TestSASWorks(t *testing.T) {
	t.Parallel()
	env := map[string]string{accounts.Variable: "acme:" + key1}
	s := start(t, env, "--memory")
	c := s.client(t, key1)
	c.do(t, "POST", "/Tables", `{"TableName":"people"}`, 204)
	c.do(t, "POST", "/people", `{"PartitionKey":"a","RowKey":"1"}`, 204)
	c.do(t, "POST", "/people", `{"PartitionKey":"b","RowKey":"1"}`, 204)
	for _, tt := range []struct {
		args, path string
		status     int
		entities   int
	}{
		{"--table people --permissions read", "/people()", 200, 2},
		{"--table PEOPLE --permissions r --expires 7d", "/people()", 200, 2},
		{"--table people --permissions all --to-partition a", "/people()", 200, 1},
		{"--table people --permissions read --from-partition b --from-row 1", "/people()", 200, 1},
		{"--table people --permissions add,update", "/people()", 403, 0},
		{"--table people --permissions read --start 2099-01-01 --expires 2099-02-01", "/people()", 403, 0},
		{"--table people --permissions read --https-only", "/people()", 403, 0},
		{"--table people --permissions read --ip 127.0.0.1", "/people()", 200, 2},
		{"--table people --permissions read --ip 192.0.2.1-192.0.2.9", "/people()", 403, 0},
		{"--table others --permissions read", "/people()", 403, 0},
		{"--permissions read,list", "/people()", 200, 2},
		{"--permissions list --resources tables", "/Tables", 200, 0},
		{"--permissions read --resources tables", "/people()", 403, 0},
	} {
		status, out, said := run(t, env, append([]string{"sas", "-q"}, strings.Fields(tt.args)...)...)
		if status != 0 {
			t.Errorf("%s: status %d: %s", tt.args, status, said)
			continue
		}
		resp, err := http.Get(c.endpoint + tt.path + "?" + strings.TrimSpace(out) + "&$format=application/json;odata=nometadata")
		if err != nil {
			t.Fatal(err)
		}
		var body strings.Builder
		_ = resp.Write(&body)
		resp.Body.Close()
		if n := strings.Count(body.String(), `"RowKey"`); resp.StatusCode != tt.status || n != tt.entities {
			t.Errorf("%s: %d entities of\n%s", tt.args, n, body.String())
		}
	}
}

func TestSASSays(t *testing.T) {
	t.Parallel()
	env := map[string]string{accounts.Variable: "acme:" + key1 + ";beta:" + key2}
	status, out, said := run(t, env, "sas", "--account", "acme", "--table", "people", "--permissions", "upsert", "--expires", "2030-01-01", "--policy", "p1", "--endpoint", "https://tables.example/acme/")
	if status != 0 || !strings.HasPrefix(out, "https://tables.example/acme/people?") || strings.Contains(out+said, key1) {
		t.Errorf("status %d: %s%s", status, out, said)
	}
	for _, want := range []string{`table: "people"`, "operations: add, update", "until: 2030-01-01", `"p1"`} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %s:\n%s", want, said)
		}
	}
	for _, tt := range []struct{ args, say string }{
		{"--table people --permissions r", "--account"},
		{"--account gamma --permissions r", "gamma"},
		{"--account acme --table people", "--permissions"},
		{"--account acme", "--permissions"},
		{"--account acme --table people --permissions write", "read, update, upsert nor one of the letters raud"},
		{"--account acme --table my-people --permissions r", "not a table name"},
		{"--account acme --table people --permissions r --endpoint tables.example", "--endpoint must be a URL"},
		{"--account acme --table people --permissions r --expires 2020-01-01", "is in the past"},
		{"--account acme --table people --permissions r --start 2h", "not after --start"},
		{"--account acme --table people --permissions r --from-partition m --to-partition a", "--to-partition is before"},
		{"--account acme --permissions fly", "rwdlacu"},
		{"--account acme --permissions r --resources sky", "sco"},
		{"--account acme --permissions r --policy p", "--table"},
		{"--account acme --table people --permissions r --resources all", "--resources"},
		{"--account acme --permissions r --expires soon", "--expires"},
		{"--account acme --permissions r --expires -5m", "--expires"},
		{"--account acme --permissions r --expires 450000d", "--expires"},
		{"--account acme --table people --permissions r --from-row 1", "--from-row requires --from-partition"},
		{"--account acme --table people --permissions r --ip here", "every server would refuse this token: --ip must be an IP address"},
	} {
		if status, out, said := run(t, env, append([]string{"sas"}, strings.Fields(tt.args)...)...); status == 0 || !strings.Contains(said, tt.say) || out != "" {
			t.Errorf("%s: status %d: %s%s", tt.args, status, out, said)
		}
	}
}

// TestSASEndpoint checks the URL that 'sas' prints. If a server runs with these accounts, it must
// be the URL of this server. Otherwise it must be the URL that follows from the settings. If both
// are unknown, the URL has a placeholder, which clients refuse.
func TestSASEndpoint(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "accounts")
	must.OK(t, os.WriteFile(file, []byte("acme:"+key1+"\n"), 0o600))
	config := filepath.Join(t.TempDir(), "config")
	must.OK(t, os.WriteFile(config, []byte("public-url = https://tables.example.com\n"), 0o600))
	check := func(want, note string, args ...string) {
		t.Helper()
		out, said := console{t, nil}.run(0, append(strings.Fields("sas --permissions read --data "+dir), args...)...)
		if !strings.HasPrefix(out, want+"?") || strings.Contains(said, "endpoint is unknown") != (note == "unknown") || strings.Contains(said, "valid only over https") != (note == "https") {
			t.Errorf("%v: %s%s", args, out, said)
		}
	}
	check("URL-OF-THE-ACCOUNT", "unknown")
	check("https://tables.example.com/acme", "", "--config", config)
	s := start(t, nil, "--data", dir)
	at := s.client(t, key1).endpoint
	check(at, "")
	check(at, "", "--accounts", file, "--config", config)
	check("URL-OF-THE-ACCOUNT", "https", "--https-only")
	check("https://e/acme", "", "--https-only", "--endpoint", "https://e/acme/")
}
