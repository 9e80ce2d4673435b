package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgetable/core/traffic"
	"edgetable/functions/edgetable/account"
	"edgetable/functions/edgetable/admin"
	"edgetable/functions/edgetable/advise"
	"edgetable/functions/explorer"
	"edgetable/testdata/must"
)

// gatewayOf starts 'edgetable explorer'. It returns a function that sends requests to the explorer
// within a session.
func gatewayOf(t *testing.T, args ...string) (ask func(path string, want int) string) {
	t.Helper()
	home, token, _ := strings.Cut(exploring(t, args...), "#token=")
	ask = func(path string, want int) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), "GET", home+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Edgetable-Explorer", token)
		req.Header.Set("Accept", "application/json")
		return answer(t, http.DefaultClient, req, want)
	}
	token = read[struct{ Token string }](t, ask("session", 200)).Token
	return ask
}

func read[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// TestExplorerLocal checks that the explorer shows statistics of the server on this machine. The
// explorer must also show when the account keys of this server were last used. For profiles of other
// servers, the explorer must show neither.
func TestExplorerLocal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, file := filepath.Join(dir, "data"), filepath.Join(dir, "profiles.json")
	s := start(t, nil, "--data", data)
	c := s.client(t, "")
	c.do(t, "POST", "/Tables", `{"TableName":"people"}`, 204)
	for i := range 300 {
		c.do(t, "PUT", fmt.Sprintf("/people(PartitionKey='hot',RowKey='%04d')", i*7919%1000), `{"Name":"Ada"}`, 204)
	}
	here := s.greetingText(t, "connection string")
	elsewhere := start(t, nil, "--memory").greetingText(t, "connection string")
	ok(t, "profile", "add", "--profiles", file, "here", here)
	ok(t, "profile", "add", "--profiles", file, "named", strings.Replace(here, "127.0.0.1", "localhost", 1))
	ok(t, "profile", "add", "--profiles", file, "elsewhere", elsewhere)
	ask := gatewayOf(t, "--profiles", file, "--data", data)
	session := read[struct {
		Profiles []struct {
			Name  string
			Local bool
		}
	}](t, ask("session", 200))
	if got := fmt.Sprint(session.Profiles); got != "[{elsewhere false} {here true} {named true}]" {
		t.Errorf("the profiles are %s", got)
	}
	// The report of the last hour must count the 300 requests above, which may have taken minutes.
	hours := read[traffic.Hours](t, ask("traffic/here", 200))
	counted := 0
	for _, n := range hours.Tables[0].Minutes {
		counted += int(n)
	}
	if len(hours.Tables) != 1 || hours.Tables[0].Table != "people" || counted != 300 || hours.Others.Since.IsZero() {
		t.Errorf("the last hour is %+v", hours)
	}
	if r := read[traffic.Report](t, ask("traffic/named/people", 200)); r.Partitions["writes"].Entries[0].Partition != "hot" {
		t.Errorf("the traffic is %+v", r)
	}
	if text := ask("traffic/here/absent", 502); !strings.Contains(text, "no traffic of this table was counted") {
		t.Errorf("a table without traffic: %s", text)
	}
	a := read[advise.Advice](t, ask("advise/here/people", 200))
	if len(a.Findings) == 0 || a.Findings[0].Rule != "hot-partition" || a.Findings[0].Example != "hot" || a.Stored != nil {
		t.Errorf("the advice is %+v", a)
	}
	if a := read[advise.Advice](t, ask("advise/here/people?scan=true", 200)); len(a.Findings) == 0 || a.Stored == nil || a.Stored.Rows != 300 || a.Stored.Sizes[8] != 1 {
		t.Errorf("with a scan it is %+v", a)
	}
	ask("advise/elsewhere/people?scan=true", 502) // the service of that profile has no such table
	ask("advise/elsewhere/people", 502)
	ask("traffic/elsewhere/people", 502)
	for _, path := range []string{"traffic/elsewhere", "accounts/elsewhere"} {
		ask(path, 404)
	}
	keys := read[admin.Account](t, ask("accounts/here", 200))
	if keys.Name != c.account || keys.Disabled || len(keys.Keys) != 1 || keys.Keys[0].Key != 1 || keys.Keys[0].LastUsed == nil || keys.File != "" {
		t.Errorf("the keys are %+v", keys)
	}
	s.ends(t)
	if text := ask("session", 200); strings.Contains(text, `"local":true`) {
		t.Errorf("the server ended, and a profile is on it: %s", text)
	}
}

// TestExplorerKeys checks that the explorer shows the same last use of an account's keys as
// 'account list'. No response may contain a key.
func TestExplorerKeys(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	made, _ := ok(t, "account", "new", "acme", "--data", data)
	ok(t, "account", "new", "beta", "--data", data)
	_, key, _ := connection(t, made)
	s := start(t, nil, "--data", data)
	c := newClient(t, "http://127.0.0.1"+s.listening(t)+"/acme", "acme", key)
	file := filepath.Join(data, "profiles.json")
	ok(t, "profile", "add", "--profiles", file, "acme", account.ConnectionString("acme", key, c.endpoint))
	ask := gatewayOf(t, "--profiles", file, "--data", data)
	if keys := read[admin.Account](t, ask("accounts/acme", 200)); keys.Keys[0].LastUsed != nil || !strings.HasPrefix(keys.File, data) {
		t.Errorf("before its use: %+v", keys)
	}
	c.do(t, "GET", "/Tables", "", 200)
	text := ask("accounts/acme", 200)
	keys := read[admin.Account](t, text)
	if keys.Keys[0].LastUsed == nil || strings.Contains(text, key) {
		t.Errorf("after its use: %s", text)
	}
	// Without --profile, the explorer opens every account of the server, each with the key of the
	// account.
	profiles := func(ask func(string, int) string) string {
		var names []string
		for _, p := range read[struct{ Profiles []explorer.Profile }](t, ask("session", 200)).Profiles {
			names = append(names, fmt.Sprint(p.Name, " ", p.Local, " ", p.ReadOnly))
		}
		return strings.Join(names, ", ")
	}
	none := filepath.Join(data, "none.json")
	must.OK(t, os.WriteFile(none, []byte("{}"), 0o600))
	without := gatewayOf(t, "--profiles", none, "--data", data, "--read-only")
	if got := profiles(without); got != "acme true true, beta true true" {
		t.Errorf("without profiles there are %s", got)
	}
	if got := without("p/acme/Tables", 200); !strings.Contains(got, "odata.metadata") {
		t.Errorf("the tables are %s", got)
	}
	if got := profiles(gatewayOf(t, "--profiles", file, "--profile", "acme", "--data", data)); got != "acme true false" {
		t.Errorf("with a name there are %s", got)
	}
	if list, _ := ok(t, "account", "list", "--data", data); !strings.Contains(list, "key 1 last used") {
		t.Errorf("the list is\n%s", list)
	}
	s.ends(t)
}
