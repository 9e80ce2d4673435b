package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgetable/core/accounts"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/explorer"
	"edgetable/testdata/must"
)

// ok runs a command that must succeed, and returns its output.
func ok(t *testing.T, args ...string) (out, said string) {
	t.Helper()
	return console{t, nil}.run(0, args...)
}

// connection returns the account, the key and the endpoint in a connection string.
func connection(t *testing.T, text string) (name, key, endpoint string) {
	t.Helper()
	for part := range strings.SplitSeq(strings.TrimSpace(text), ";") {
		field, value, _ := strings.Cut(part, "=")
		switch field {
		case "AccountName":
			name = value
		case "AccountKey":
			key = value
		case "TableEndpoint":
			endpoint = value
		}
	}
	if name == "" || key == "" || endpoint == "" {
		t.Fatalf("%q is no connection string", text)
	}
	return name, key, endpoint
}

func (c *signingClient) gets(t *testing.T, want int) {
	t.Helper()
	if got := c.status(t, "GET", "/Tables"); got != want {
		t.Errorf("status %d, want %d", got, want)
	}
}

// TestAccountLife creates, changes and deletes an account while a server uses the same file of
// accounts.
func TestAccountLife(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	file := filepath.Join(dir, cli.AccountsInData)
	data := func(args ...string) []string { return append(append([]string{"account"}, args...), "--data", dir) }
	if out, said := ok(t, data("list")...); out != "" || !strings.Contains(said, file+" has no accounts") {
		t.Errorf("list without a file: %s%s", out, said)
	}
	out, said := ok(t, data("new", "acme", "--endpoint", "https://tables.example.com/acme")...)
	name, first, endpoint := connection(t, out)
	if name != "acme" || endpoint != "https://tables.example.com/acme" || !strings.Contains(said, "made "+file) {
		t.Errorf("new: %s%s", out, said)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info.Mode(), err)
	}

	s := start(t, nil, "--data", dir)
	if got := s.greetingText(t, "endpoint"); got != endpoint {
		t.Errorf("the greeting says that acme is at %s", got)
	}
	if got := s.greetingText(t, "connection string"); !strings.HasPrefix(got, "printed once by 'edgetable account new acme'") {
		t.Errorf("the greeting says of the connection string: %s", got)
	}
	at := strings.TrimSuffix(s.greetingText(t, "explorer at"), strings.TrimPrefix(explorer.Prefix, "/"))
	c := newClient(t, at+"acme", "acme", first)
	c.fill(t)
	out, _ = ok(t, data("new", "beta")...)
	_, key, endpoint := connection(t, out)
	if endpoint != at+"beta" {
		t.Errorf("the server is at %s, the account at %s", at, endpoint)
	}
	s.look()
	newClient(t, at+"beta", "beta", key).gets(t, 200)

	out, _ = ok(t, data("rotate", "acme")...)
	_, second, endpoint := connection(t, out)
	if endpoint != "https://tables.example.com/acme" {
		t.Errorf("the account is at %s with its second key", endpoint)
	}
	console{t, nil}.says(1, "key 2 was never used", data("rotate", "acme", "--finish")...)
	next := newClient(t, c.endpoint, "acme", second)
	s.look()
	next.gets(t, 200)
	c.filled(t)
	console{t, nil}.says(1, "--finish removes key 1", data("rotate", "acme")...)
	console{t, nil}.says(1, "less than 10 minutes ago", data("rotate", "acme", "--finish")...)
	c.filled(t)
	ok(t, data("rotate", "acme", "--finish", "--force")...)
	s.look()
	c.gets(t, 403)
	next.filled(t)

	ok(t, data("change", "acme", "--disable")...)
	s.look()
	next.gets(t, 403)
	ok(t, data("change", "acme", "--enable")...)
	s.look()
	next.gets(t, 200)
	console{t, nil}.says(1, "beta was not removed: key 1 was last used", data("change", "beta", "--drop", "--yes")...)
	console{t, nil}.says(1, "nothing is changed: the answer was not beta", data("change", "beta", "--drop", "--force")...)
	newClient(t, at+"beta", "beta", key).gets(t, 200)
	ok(t, data("change", "beta", "--drop", "--yes", "--force")...)
	s.look()
	newClient(t, at+"beta", "beta", key).gets(t, 404)

	// If the file of accounts becomes invalid, the server keeps its accounts. The log must name the
	// invalid line.
	good, err := os.ReadFile(file)
	must.OK(t, err)
	must.OK(t, os.WriteFile(file, []byte("gamma:"+key3+"\nacme:broken\n"), 0o600))
	s.look()
	if !strings.Contains(s.logs.String(), file+": line 2: key 1 of acme is not base64") {
		t.Errorf("the log:\n%s", s.logs)
	}
	next.filled(t)
	newClient(t, at+"gamma", "gamma", key3).gets(t, 404)
	// If the file of accounts is removed, the server also keeps its accounts.
	must.OK(t, os.Remove(file))
	s.look()
	if !strings.Contains(s.logs.String(), file+": no such file") {
		t.Errorf("the log:\n%s", s.logs)
	}
	next.filled(t)
	must.OK(t, os.WriteFile(file, good, 0o600))
	s.ends(t)

	out, _ = ok(t, data("list")...)
	if !strings.HasPrefix(out, "acme ") || !strings.Contains(out, "key 1 last used 20") || strings.Contains(out, second) {
		t.Errorf("list: %s", out)
	}
	out, _ = ok(t, data("list", "acme")...)
	if !strings.Contains(out, "256 bits, last used 20") || strings.Contains(out, second) {
		t.Errorf("show: %s", out)
	}
	console{t, nil}.says(1, "disable the last account", data("change", "acme", "--drop", "--yes", "--force")...)
	for _, secret := range []string{first, second, key} {
		if strings.Contains(s.logs.String()+s.greeting, secret) {
			t.Error("a key is shown")
		}
	}
}

// TestAccountFileStays checks that commands do not change the comments, the order of the lines and
// the options of an account.
func TestAccountFileStays(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "accounts")
	text := "\ufeff# ours\r\n\n  acme : " + key1 + " allow=10.0.0.0/8\n# theirs; not ours\nbeta:" + key2 + ";gamma:" + key3
	must.OK(t, os.WriteFile(file, []byte(text), 0o640))
	ok(t, "account", "change", "acme", "--disable", "--accounts", file)
	ok(t, "account", "new", "delta", "--accounts", file)
	got, err := os.ReadFile(file)
	want := strings.Replace(strings.TrimPrefix(text, "\ufeff"), "  acme : "+key1+" allow=10.0.0.0/8", "acme:"+key1+" allow=10.0.0.0/8 disabled", 1) + "\ndelta:"
	if err != nil || !strings.HasPrefix(string(got), want) {
		t.Errorf("%q, %v\nwant %q", got, err, want)
	}
	if list, err := accounts.Parse(string(got)); err != nil || len(list) != 4 || !list["acme"].Disabled {
		t.Errorf("%v, %v", list, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is now %v, %v", info.Mode(), err)
	}
	for args, say := range map[string]string{
		"change beta --disable": "beta on a line with other accounts",
		"change nobody --drop":  "has no account nobody",
		"new acme":              "already has an account acme",
		"rotate acme finish":    "unexpected argument",
	} {
		if status, _, said := run(t, nil, append(strings.Fields("account "+args), "--accounts", file)...); status == 0 || !strings.Contains(said, say) {
			t.Errorf("%s: status %d: %s", args, status, said)
		}
	}
	console{t, nil}.says(2, "3 to 24", "account", "new", "Acme", "--accounts", file)
}

// TestAccountFileOfOthers checks that commands refuse a file of accounts that other users can read.
// The error must say what to do.
func TestAccountFileOfOthers(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "accounts")
	must.OK(t, os.WriteFile(file, []byte("acme:"+key1+"\n"), 0o600))
	for mode, fine := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o640: true, 0o644: false, 0o604: false, 0o620: false, 0o602: false} {
		must.OK(t, os.Chmod(file, mode))
		for _, args := range [][]string{{"account", "list"}, {"sign", "GET", "http://h/acme/Tables"}, {"serve", "--memory", "--listen", "127.0.0.1:0"}} {
			status, _, said := run(t, nil, append(args, "--accounts", file)...)
			if fine && status != 0 || !fine && (status != 1 || !strings.Contains(said, "chmod 600 "+file)) {
				t.Errorf("%v, %v: status %d: %s", args, mode, status, said)
			}
		}
	}
}

// TestAccountEndpoint checks that a connection string has the endpoint that follows from the
// settings of a server. If the endpoint is unknown, the string has a placeholder, which clients
// refuse.
func TestAccountEndpoint(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, tt := range []struct{ config, want string }{
		{"listen = 127.0.0.1:21070\n", "http://127.0.0.1:21070/"},
		{"listen = 0.0.0.0:21070\n", "http://127.0.0.1:21070/"},
		{"listen = tables.example.com:443\ntls-cert = c\ntls-key = k\n", "https://tables.example.com:443/"},
		{"listen = :443\nacme-domain = t.example.com\nacme-domain = u.example.com\n", "https://t.example.com/"},
		{"listen = 127.0.0.1:1\npublic-url = https://tables.example.com/\n", "https://tables.example.com/"},
		{"listen = 127.0.0.1:0\n", ""},
		{"log-level = debug\n", ""},
	} {
		name := fmt.Sprintf("acme%d", i)
		config := filepath.Join(dir, "config")
		must.OK(t, os.WriteFile(config, []byte(tt.config), 0o600))
		out, said := ok(t, "account", "new", name, "--config", config, "--accounts", filepath.Join(dir, "accounts"))
		_, _, endpoint := connection(t, out)
		if known := tt.want != ""; known && endpoint != tt.want+name || !known && (strings.Contains(endpoint, "://") || !strings.Contains(said, "The endpoint is unknown")) {
			t.Errorf("%q: %s, %s", tt.config, endpoint, said)
		}
	}
	// The environment has precedence over the configuration file, and the flag --endpoint over
	// both.
	environment := map[string]string{"EDGETABLE_LISTEN": "127.0.0.1:21071"}
	for want, more := range map[string][]string{"http://127.0.0.1:21071/other": {"other"}, "https://e/x": {"more", "--endpoint", "https://e/x"}} {
		status, out, said := run(t, environment, append([]string{"account", "new", "--config", filepath.Join(dir, "config"), "--accounts", filepath.Join(dir, "accounts")}, more...)...)
		if status != 0 || !strings.Contains(out, "TableEndpoint="+want+";") {
			t.Errorf("status %d: %s%s", status, out, said)
		}
	}
}

// TestAccountOfAnotherServer checks commands for a file of accounts while a server with another
// file of accounts runs in the data directory. The commands must not treat this server as the
// server of their file.
func TestAccountOfAnotherServer(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := start(t, nil, "--data", data)
	out, said := ok(t, "account", "new", "acme", "--data", data, "--accounts", filepath.Join(t.TempDir(), "accounts"))
	if !strings.Contains(out, "URL-OF-THE-ACCOUNT") || !strings.Contains(said, "no server is running with these accounts") {
		t.Errorf("%s%s", out, said)
	}
	if out, said = ok(t, "account", "new", "acme", "--data", data); !strings.Contains(out, "TableEndpoint=http://127.0.0.1"+s.listening(t)+"/acme;") {
		t.Errorf("%s%s", out, said)
	}
}

// TestAccountServerSilent runs commands while a server runs but does not respond. The commands must
// not treat this server as stopped. So the command rotate must keep an old key, because clients of
// the server may use the key. The endpoint of the server must not be taken from settings.
func TestAccountServerSilent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, cli.AccountsInData)
	must.OK(t, os.WriteFile(file, []byte("acme:"+key1+":"+key2+"\nbeta:"+key3+"\n"), 0o600))
	l, err := net.Listen("unix", filepath.Join(dir, cli.AdminSocket))
	must.OK(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			c.Close()
		}
	}()
	console{t, nil}.says(1, "their last use is unknown", "account", "rotate", "acme", "--finish", "--data", dir)
	environment := map[string]string{"EDGETABLE_LISTEN": "127.0.0.1:21070"}
	out, said := console{t, environment}.run(0, "account", "rotate", "beta", "--data", dir)
	if !strings.Contains(out, "URL-OF-THE-ACCOUNT") || !strings.Contains(said, "does not say where it listens") {
		t.Errorf("%s%s", out, said)
	}
}
