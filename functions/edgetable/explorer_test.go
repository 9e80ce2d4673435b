package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"edgetable/functions/edgetable/cli"
	"edgetable/testdata/must"
)

func exploring(t *testing.T, args ...string) (link string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	args = append([]string{"explorer"}, args...)
	e := newBuffer(args)
	p := program{args: args, signals: quiet, Terminal: &cli.Terminal{Environment: lookup(nil), Out: w, Err: e}}
	done := make(chan int, 1)
	go func() {
		done <- p.run(ctx)
		w.Close()
	}()
	t.Cleanup(func() {
		cancel()
		if status := <-done; status != 0 {
			t.Errorf("the explorer ended with status %d: %s", status, e)
		}
	})
	lines := bufio.NewScanner(r)
	if !lines.Scan() {
		t.Fatal(e)
	}
	go func() { _, _ = io.Copy(io.Discard, r) }()
	return strings.TrimPrefix(lines.Text(), "explorer at ")
}

// TestExplorer checks that the explorer signs requests for the profiles, and that it does not write
// to the service of a read-only profile.
func TestExplorer(t *testing.T) {
	t.Parallel()
	s := start(t, nil, "--memory")
	s.client(t, "").fill(t)
	file := filepath.Join(t.TempDir(), "profiles.json")
	for _, args := range [][]string{{"dev"}, {"prod", "--read-only", "--color", "red"}} {
		if status, _, err := run(t, nil, append([]string{"profile", "add", "--profiles", file, args[0], s.greetingText(t, "connection string")}, args[1:]...)...); status != 0 {
			t.Fatal(err)
		}
	}
	console{t, nil}.says(0, "read-only, red", "profile", "list", "--profiles", file)
	link := exploring(t, "--profiles", file)
	home, token, _ := strings.Cut(link, "#token=")
	session := ""
	ask := func(method, path, token string, want int) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, home+path, nil)
		must.OK(t, err)
		req.Header.Set("X-Edgetable-Explorer", token)
		req.Header.Set("Accept", "application/json;odata=nometadata")
		req.Header.Set("If-Match", "*")
		return answer(t, http.DefaultClient, req, want)
	}
	var begun struct{ Token string }
	must.OK(t, json.Unmarshal([]byte(ask("GET", "session", token, 200)), &begun))
	session = begun.Token
	if text := ask("GET", "session", session, 200); !strings.Contains(text, `{"name":"dev","readOnly":false,"color":"","account":"devstoreaccount1"`) ||
		!strings.Contains(text, `{"name":"prod","readOnly":true,"color":"red"`) {
		t.Errorf("the profiles are %s", text)
	}
	if text := ask("GET", "p/prod"+ada, session, 200); !strings.Contains(text, `"Name":"Ada"`) {
		t.Errorf("the entity is %s", text)
	}
	ask("DELETE", "p/prod"+ada, session, 403)
	s.client(t, "").filled(t)
	ask("DELETE", "p/dev"+ada, session, 204)
	ask("GET", "p/dev"+ada, session, 404)
}

// TestReadOnlyProfile checks that commands read from the service of a read-only profile, and do not
// write to the service.
func TestReadOnlyProfile(t *testing.T) {
	t.Parallel()
	s := start(t, nil, "--memory")
	s.client(t, "").fill(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "profiles.json")
	if status, _, err := run(t, nil, "profile", "add", "--profiles", file, "--read-only", "prod", s.greetingText(t, "connection string")); status != 0 {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"put", "people", `{"PartitionKey":"a","RowKey":"2"}`, "--to", "prod"},
		{"delete", "people", "a", "1", "--in", "prod"},
		{"delete", "people", "--filter", "PartitionKey ge ''", "--yes", "--in", "prod"},
		{"copy", "people", "--from", "http://127.0.0.1:1/devstoreaccount1", "--to", "prod"},
		{"sync", "people", "--from", "http://127.0.0.1:1/devstoreaccount1", "--to", "prod"},
	} {
		status, _, err := runUntil(t.Context(), nil, append(args, "--profiles", file)...)
		if status == 0 || !strings.Contains(err, "the profile prod is read-only") {
			t.Errorf("%s: status %d: %s", args[0], status, err)
		}
	}
	s.client(t, "").filled(t)
	other := service(t)
	console{t, nil}.says(0, "nothing was changed", "copy", "People", "--from", other, "--to", "prod", "--profiles", file, "--dry-run")
	console{t, nil}.says(0, "Ada", "get", "people", "a", "1", "--from", "prod", "--profiles", file)
}

// TestExplorerPage checks that a server serves the explorer's page on loopback addresses. On other
// addresses, it must serve the page only if a flag requests this. The page has the same address as
// the health checks.
func TestExplorerPage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args []string
		want int
	}{
		{nil, 200},
		{[]string{"--explorer=false"}, 404},
		{[]string{"--trust-proxy"}, 404},
		{[]string{"--public-url", "https://tables.example.com"}, 404},
		{[]string{"--listen", "0.0.0.0:0", "--allow-development-account"}, 404},
		{[]string{"--listen", "0.0.0.0:0", "--allow-development-account", "--explorer"}, 200},
	} {
		s := start(t, nil, append([]string{"--memory"}, tt.args...)...)
		home := "http://127.0.0.1" + s.listening(t)
		ask := func(path, host string, want int) string {
			t.Helper()
			req, err := http.NewRequestWithContext(t.Context(), "GET", home+path, nil)
			must.OK(t, err)
			if host != "" {
				req.Host = host
			}
			return answer(t, http.DefaultClient, req, want)
		}
		if text := ask("/_/", "", tt.want); tt.want == 200 != strings.Contains(text, "<html") {
			t.Errorf("%v: %s", tt.args, text)
		}
		if said := strings.Contains(s.greeting, "/_/"); said != (tt.want == 200) {
			t.Errorf("%v: the greeting is\n%s", tt.args, s.greeting)
		}
		ask("/_/live", "evil.example", 200)
		ask("/_/ready", "evil.example", 200)
		ask("/_/accounts/dev", "", 404) // a path that only 'edgetable explorer' serves
		if tt.want == 200 {
			ask("/_/", "evil.example", 421)
		}
		s.ends(t)
	}
}

func (s *testServer) listening(t *testing.T) string {
	t.Helper()
	address, _, _ := strings.Cut(s.greetingText(t, "listens on "), " ")
	return address[strings.LastIndexByte(address, ':'):]
}

// TestExplorerLink opens the explorer's page with a link. The command 'edgetable explorer --link'
// gets the link from the server's Unix socket. The page must have access to the server's accounts.
// The keys of the accounts must stay in the server.
func TestExplorerLink(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := start(t, nil, "--data", data)
	s.client(t, "").fill(t)
	status, out, said := runUntil(t.Context(), nil, "explorer", "--link", "--data", data)
	if status != 0 || strings.Count(out, "\n") != 1 || !strings.Contains(said, "within 5m") {
		t.Fatalf("status %d: %s%s", status, out, said)
	}
	home, token, _ := strings.Cut(strings.TrimSpace(out), "#token=")
	ask := func(method, path, token, body string, want int) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, home+path, strings.NewReader(body))
		must.OK(t, err)
		req.Header.Set("X-Edgetable-Explorer", token)
		return answer(t, http.DefaultClient, req, want)
	}
	var begun struct {
		Accounts []string
		Token    string
	}
	must.OK(t, json.Unmarshal([]byte(ask("GET", "session", token, "", 200)), &begun))
	if len(begun.Accounts) != 1 || begun.Accounts[0] != "devstoreaccount1" {
		t.Errorf("the accounts are %q", begun.Accounts)
	}
	ask("GET", "session", token, "", 401)
	date := time.Now().UTC().Format(http.TimeFormat)
	var signed struct{ Signature string }
	must.OK(t, json.Unmarshal([]byte(ask("POST", "sign/devstoreaccount1", begun.Token, date+"\n/devstoreaccount1/devstoreaccount1"+ada, 200)), &signed))
	req, err := http.NewRequestWithContext(t.Context(), "GET", s.greetingText(t, "endpoint")+ada, nil)
	must.OK(t, err)
	req.Header.Set("X-Ms-Date", date)
	req.Header.Set("Accept", "application/json;odata=nometadata")
	req.Header.Set("Authorization", "SharedKeyLite devstoreaccount1:"+signed.Signature)
	if text := answer(t, http.DefaultClient, req, 200); !strings.Contains(text, `"Name":"Ada"`) {
		t.Errorf("the entity is %s", text)
	}

	for _, one := range []struct {
		want string
		args []string
	}{
		{"is one running with --data", []string{"--data", t.TempDir()}},
		{"remove the flags --profile and --read-only", []string{"--data", data, "--read-only"}},
		{"remove the flags --profile and --read-only", []string{"--data", data, "--profile", "prod"}},
	} {
		if status, _, said := runUntil(t.Context(), nil, append([]string{"explorer", "--link"}, one.args...)...); status == 0 || !strings.Contains(said, one.want) {
			t.Errorf("%q: status %d: %s", one.args, status, said)
		}
	}
	without := t.TempDir()
	start(t, nil, "--data", without, "--explorer=false")
	if status, _, said := runUntil(t.Context(), nil, "explorer", "--link", "--data", without); status == 0 || !strings.Contains(said, "serve --explorer") {
		t.Errorf("without the page: status %d: %s", status, said)
	}
}
