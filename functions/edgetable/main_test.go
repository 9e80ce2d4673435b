package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgetable/functions/edgetable/cli"
	"edgetable/testdata/must"
)

// TestRefusals checks that a wrong command line has exit status 2, and that any other failure has status 1.
// The message must say what to do.
func TestRefusals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		must.OK(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must.OK(t, err)
	defer taken.Close()
	azurite := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Server", "Azurite-Table/3.37.0") }))
	defer azurite.Close()
	used := filepath.Join(dir, "used")
	defer start(t, nil, "--data", used).stop()
	plain := write("plain", "no PEM, no accounts")
	open := write("open", strings.Repeat("t", 32))
	must.OK(t, os.Chmod(open, 0o644))

	for _, tt := range []struct {
		status int
		args   []string
		say    string
	}{
		{2, nil, "Usage: edgetable COMMAND"},
		{2, []string{"serv"}, `edgetable: unknown command "serv"; do you mean serve?`},
		{2, []string{"serv", "--help"}, `edgetable: unknown command "serv"; do you mean serve?`},
		{2, []string{"tables", "lst", "--help"}, `edgetable tables: unknown command "lst"; do you mean list?`},
		{2, []string{"help", "bogus"}, `edgetable: unknown command "bogus"`},
		{2, []string{"help", "dynamodb", "bogus"}, `unknown command "dynamodb bogus"`},
		{2, []string{"completion", "bogus"}, `edgetable completion: unknown command "bogus"`},
		{2, []string{"serve", "-memory"}, "write --memory"},
		{2, []string{"serve", "-data=here"}, "write --data"},
		{2, []string{"serve", "--nope"}, "--nope\n'edgetable serve --help' lists"},
		{2, []string{"serve", "--inMemoryPersistence"}, "--inMemoryPersistence of Azurite is --memory here; 'edgetable azurite' accepts"},
		{2, []string{"serve", "-l", "/data"}, "--location of Azurite is --data DIRECTORY here"},
		{2, []string{"--tablePort", "10002"}, "--tablePort of Azurite is --listen HOST:PORT here"},
		{2, []string{"serve", "--silent"}, "--silent of Azurite is not needed here: requests are not logged"},
		{2, []string{"sync", "People", "--from", "", "--to", "prod"}, "the name is empty; name a service, or leave the flag out to use the default"},
		{2, []string{"delete", "People", "--filter", " ", "--yes"}, "the filter for the whole table is"},
		{2, []string{"query", "People", "--location", "x"}, "; write edgetable query"},
		{2, []string{"serve", "data"}, `unexpected argument "data"`},
		{2, []string{"serve", "--memory", "--data", dir}, "--memory and --data"},
		{2, []string{"serve", "--data", ""}, "--data names no directory"},
		{2, []string{"serve", "--cache-size", "0"}, "--cache-size"},
		{2, []string{"backup", "restore", "place", "--to", "prod"}, "--to is for one table"},
		{2, []string{"backup", "restore", "place", "dir", "--account", "acme", "--table", "People", "--to", "prod"}, "unexpected argument \"dir\""},
		{2, []string{"serve", "--cache-size", "99999999999999GiB"}, "--cache-size"},
		{2, []string{"serve", "--cache-size", "512"}, "--cache-size \"512\": write a size with its unit, such as 512MiB or 2GiB, from 1MiB to 16TiB"},
		{2, []string{"verify", "People", "--limit", "100001"}, "--limit \"100001\": write a whole number from 0 to 100000"},
		{2, []string{"serve", "--memory=yes"}, "--memory \"yes\": write true or false"},
		{2, []string{"serve", "--limits", "failures=-1 -1"}, "failures=N: write a number"},
		{2, []string{"serve", "--memory", "--limits", "failures=NaN"}, "failures=N: write a number"},
		{2, []string{"serve", "--memory", "--limits", "failures=1,fast"}, "account=20000"},
		{2, []string{"serve", "--max-skew", "15"}, "--max-skew \"15\": write a duration with its unit, such as 500ms, 10s, 15m or 30d, from 0s to 366d"},
		{2, []string{"serve", "--max-skew", "-1s"}, "--max-skew"},
		{2, []string{"serve", "--grace", "-1s"}, "--grace"},
		{2, []string{"serve", "--tls-cert", plain}, "--tls-cert and --tls-key go together"},
		{2, []string{"serve", "--tls-key", plain}, "--tls-cert and --tls-key go together"},
		{2, []string{"serve", "--acme-domain", "*.example.com"}, "--acme-domain must be a name such as"},
		{2, []string{"serve", "--acme-domain", "https://example.com"}, "--acme-domain must be a name such as"},
		{2, []string{"serve", "--acme-domain", "a.example.com,localhost"}, "--acme-domain must be a name such as tables.example.com, without * or port, not \"localhost\""},
		{2, []string{"serve", "--acme-domain", "a.example.com", "--tls-cert", plain, "--tls-key", plain}, "exclude each other"},
		{2, []string{"serve", "--acme-domain", "a.example.com", "--memory"}, "$EDGETABLE_ACME_CACHE"},
		{2, []string{"serve", "--log-level", "loud"}, "--log-level \"loud\": write debug, info, warn or error"},
		{2, []string{"serve", "--log-format", "xml"}, "--log-format"},
		{2, []string{"serve", "--memory", "--metrics-token", plain}, "--metrics-token is for --metrics-listen"},
		{1, []string{"serve", "--memory", "--listen", "127.0.0.1:0", "--metrics-listen", taken.Addr().String()}, "--metrics-listen: "},
		{1, []string{"serve", "--memory", "--metrics-listen", "127.0.0.1:0", "--metrics-token", filepath.Join(dir, "missing")}, "--metrics-token: "},
		{1, []string{"serve", "--memory", "--metrics-listen", "127.0.0.1:0", "--metrics-token", write("guess", "secret")}, "a token of 6 bytes, but needs at least 16"},
		{1, []string{"serve", "--memory", "--metrics-listen", "127.0.0.1:0", "--metrics-token", open}, open},
		{1, []string{"serve", "--memory", "--listen", taken.Addr().String()}, "--listen"},
		{1, []string{"serve", "--memory", "--listen", azurite.Listener.Addr().String()}, "Azurite uses this address: stop Azurite"},
		{2, []string{"serve", "--memory", "--listen", "127.0.0.1"}, "is not an address"},
		{1, []string{"serve", "--memory", "--listen", "127.0.0.1:0", "--admin", plain}, "--admin: " + plain + " exists and is not a socket"},
		{1, []string{"serve", "--memory", "--listen", "127.0.0.1:0", "--admin", filepath.Join(used, cli.AdminSocket)}, "is the socket of another server"},
		{1, []string{"serve", "--memory", "--listen", "127.0.0.1:0", "--admin", filepath.Join(dir, strings.Repeat("long", 40))}, "set a shorter path with --admin"},
		{1, []string{"serve", "--memory", "--listen", "127.0.0.1:0", "--admin", filepath.Join(dir, "no", "such")}, "--admin: " + filepath.Join(dir, "no") + ": no such file"},
		{1, []string{"serve", "--memory", "--listen", "0.0.0.0:0"}, "--allow-development-account"},
		{1, []string{"serve", "--listen", "127.0.0.1:0", "--data", used}, used + ": data directory is in use"},
		{1, []string{"serve", "--listen", "127.0.0.1:0", "--data", plain}, "--data: " + plain + " is not a directory: name one"},
		{2, []string{"serve", "--memory", "--listen", taken.Addr().String(), "--chaos", "fault=fire"}, "fire"}, // the command fails before it opens the port
		{2, []string{"serve", "--memory", "--public-url", "tables.example.com"}, "--public-url must be a URL"},
		{1, []string{"serve", "--memory", "--tls-cert", plain, "--tls-key", plain}, plain},
		{1, []string{"serve", "--memory", "--accounts", filepath.Join(dir, "missing")}, "--accounts: "},
		{1, []string{"serve", "--memory", "--accounts", write("empty", "")}, "names no account"},
		{1, []string{"serve", "--memory", "--accounts", write("comment", "# acme:AAAA; none:AAAA\n\n;\n")}, "names no account"},
		{1, []string{"serve", "--memory", "--accounts", write("short", "# ours\nacme:c2hvcnQ=\n")}, "short: line 2: key 1 of acme has 5 bytes, but needs at least 32"},
		{1, []string{"serve", "--memory", "--accounts", plain}, plain + ": line 1: write name:key"},
		{2, []string{"explorer", "--listen", "0.0.0.0:0"}, "it serves only this machine"},
		{1, []string{"explorer", "--listen", taken.Addr().String()}, "choose another address with --listen"},
		{2, []string{"explorer", "--profile", "nope"}, "there is no profile 'nope'"},
		{2, []string{"explorer", "--profiles", "nowhere.json"}, "--profiles: there is no file 'nowhere.json'; 'edgetable profile add' creates one"},
		{2, []string{"profile", "add", "prod", "--color", "pink"}, "--color \"pink\": write none, red"},
		{2, []string{"sign", "GET"}, "URL is missing"},
		{2, []string{"sign", "GET", "http://h/", "x"}, `unexpected argument "x"`},
		{2, []string{"sign", "GET;", "http://h/"}, "is not a method"},
		{2, []string{"sign", "GET", "h/devstoreaccount1"}, "not a URL"},
		{2, []string{"sign", "GET", "ftp://h/devstoreaccount1"}, "not a URL"},
		{2, []string{"sign", "GET", "http://:1/devstoreaccount1"}, "not a URL"},
		{2, []string{"sign", "GET", "http://h/devstoreaccount1/t(PartitionKey='50%',RowKey='')"}, "escape"},
		{1, []string{"sign", "GET", "http://h/acme/Tables"}, "'acme' is not known"},
		{2, []string{"dynamodb"}, "edgetable dynamodb: a command is missing: create, heartbeat or rebucket\n'edgetable dynamodb --help' lists the commands"},
		{2, []string{"dynamodb", "rebucket"}, "edgetable dynamodb rebucket: TABLE is missing: write edgetable dynamodb rebucket TABLE\n'edgetable dynamodb rebucket --help' lists the flags"},
		{2, []string{"backup"}, "a command is missing: create, list, prune, restore or verify"},
		{2, []string{"backup", "create"}, "PLACE is missing"},
		{2, []string{"profile", "add"}, "NAME is missing"},
		{2, []string{"profile", "add", "prod", "x", "y"}, `unexpected argument "y"`},
		{2, []string{"query", "People", "Born gt 1900", "x"}, `unexpected argument "x"`},
		{2, []string{"traffic", "People", "x"}, `unexpected argument "x"`},
		{1, []string{"backup", "create", filepath.Join(dir, "copy"), "--data", filepath.Join(dir, "missing")}, "no data"},
		{1, []string{"backup", "create", filepath.Join(dir, "copy"), "--data", t.TempDir()}, "no data"},
		{1, []string{"backup", "create", filepath.Join(dir, "copy"), "--data", used, "--encrypt-to", "age1wrong"}, "age-keygen"},
		{1, []string{"backup", "create", filepath.Join(used, "copy"), "--data", used}, "is inside the data directory"},
		{1, []string{"backup", "list", filepath.Join(dir, "copy")}, "there is no directory " + filepath.Join(dir, "copy")},
		{1, []string{"backup", "restore", filepath.Join(dir, "copy"), filepath.Join(dir, "new")}, "there are no backups"},
		{2, []string{"backup", "list", "gs://bucket"}, "s3://BUCKET/PREFIX"},
		{2, []string{"backup", "list", "s3://bucket/x?endpont=y"}, "the parameters are endpoint and region"},
		{2, []string{"backup", "list", "s3://bucket/x?endpoint=host"}, "is not a URL such as https://HOST"},
		{2, []string{"backup", "restore", "x", "y", "--table", "people"}, "--account and --table go together"},
		{2, []string{"backup", "prune", "x"}, "--keep-last"},
		{2, []string{"serve", "--memory", "--backup-to", dir}, "--backup-to is for a data directory"},
		{2, []string{"serve", "--backup-keep", "last=3"}, "--backup-keep needs --backup-to"},
		{2, []string{"serve", "--backup-to", dir, "--backup-keep", "3"}, "write last=NUMBER"},
		{2, []string{"serve", "--store", "dynamodb", "--dynamodb-table", "t", "--backup-to", dir}, "--backup-to is for --store embedded"},
		{1, []string{"serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "own"), "--backup-to", filepath.Join(dir, "own", "copy")}, "is inside the data directory"},
	} {
		status, out, text := run(t, nil, tt.args...)
		if status != tt.status || !strings.Contains(text, tt.say) || out != "" {
			t.Errorf("%q: status %d, want %d with %q\n%s%s", tt.args, status, tt.status, tt.say, out, text)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "copy")); err == nil {
		t.Error("a backup that failed left a directory")
	}
}

func TestAnswersWithoutServer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ args, say string }{
		{"help", "Usage: edgetable COMMAND"},
		{"-h", "Usage: edgetable COMMAND"},
		{"serve -h", "--help-all lists all"},
		{"serve --help-all", "--allow-development-account"},
		{"sign --help", "edgetable sign METHOD URL [flags]"},
		{"backup create -h", "s3://BUCKET/PREFIX"},
		{"help dynamodb rebucket", "edgetable dynamodb rebucket TABLE [flags]"},
		{"completion bash", "bash completion"},
		{"completion zsh", "#compdef edgetable"},
		{"completion fish", "fish completion"},
		{"completion powershell", "Register-ArgumentCompleter"},
		{"version", "edgetable version " + cli.Version()},
		{"--version", "edgetable version " + cli.Version()},
	} {
		status, out, text := run(t, nil, strings.Fields(tt.args)...)
		if status != 0 || !strings.Contains(out, tt.say) || text != "" {
			t.Errorf("%s: status %d, want %q on standard output\n%s%s", tt.args, status, tt.say, out, text)
		}
	}
}

// TestCompletion sends the requests that a shell sends when a user presses the completion key. It checks the
// completions of commands, flags and tables of the service.
func TestCompletion(t *testing.T) {
	t.Parallel()
	s := start(t, nil, "--memory")
	at := s.greetingText(t, "connection string")
	s.client(t, "").do(t, "POST", "/Tables", `{"TableName":"People"}`, 204)
	for args, want := range map[string]string{
		"__complete dynamodb re":                                 "rebucket",
		"__complete serve --log-f":                               "--log-format",
		"__complete serve --store ":                              "dynamodb",
		"__complete serve --config x ":                           "",
		"__complete query --from " + at + " ":                    "People\n",
		"__complete copy --to p --from " + at + " Other ":        "People\n",
		"__complete get --from " + at + " People ":               ":4\n", // cobra's directive :4 tells the shell to offer no file names
		"__complete tables delete --in " + at + " ":              "People\n",
		"__complete query --from http://127.0.0.1:1/acme?sig=x ": ":1\n", // cobra's directive :1 reports an error to the shell; nothing is printed
	} {
		if status, out, said := runUntil(t.Context(), nil, strings.Split(args, " ")...); status != 0 || !strings.Contains(out, want) {
			t.Errorf("%s: status %d, want %q\n%s%s", args, status, want, out, said)
		}
	}
}
