package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgetable/functions/edgetable/cli"
	"edgetable/testdata/must"
)

// TestPlainErrors checks the messages for mistakes of a user. They must be messages of edgetable, not of
// Go's libraries.
func TestPlainErrors(t *testing.T) {
	t.Parallel()
	junk, link := filepath.Join(t.TempDir(), "junk"), filepath.Join(t.TempDir(), "link")
	must.OK(t, os.WriteFile(junk, []byte("junk"), 0o600))
	must.OK(t, os.Symlink("nowhere", link))
	const address = `"26030" is not an address: write host:port, such as 127.0.0.1:26030`
	for _, tt := range []struct {
		status int
		args   string
		say    string
	}{
		{cli.StatusUsage, "serve --memory --listen 26030", "--listen " + address},
		{cli.StatusUsage, "serve --memory --listen 127.0.0.1:0 --metrics-listen 26030", "--metrics-listen " + address},
		{cli.StatusUsage, "explorer --listen 26030", "--listen " + address},
		{cli.StatusUsage, "health --listen 26030", "--listen " + address},
		{cli.StatusFailed, "health --listen 127.0.0.1:1", "no server answers at 127.0.0.1:1, the address from --listen, $EDGETABLE_LISTEN or the file of --config: "},
		{cli.StatusFailed, "traffic --data " + missing, "no server answers: is one running with --data " + missing + "? "},
		{cli.StatusUsage, "trafic --data " + missing, `unknown command "trafic"; do you mean traffic?`},
		{cli.StatusUsage, "table list --from x", `unknown command "table"; do you mean tables?`},
		{cli.StatusUsage, "tables lost --from x", `unknown command "lost"; do you mean list?`},
		{cli.StatusUsage, "serve --memory --listen 127.0.0.1:99999", "99999 is not a valid port"},
		{cli.StatusUsage, "serve --memory --listen 127.0.0.1:-1", "-1 is not a valid port"},
		{cli.StatusFailed, "serve --data /dev/null/x", "/dev/null is not a directory: name one"},
		{cli.StatusFailed, "serve --memory --tls-cert nope --tls-key nope", "nope: no such file or directory"},
		{cli.StatusFailed, "serve --config nope", "--config: nope: no such file or directory"},
		{cli.StatusUsage, "serve -data x", "unknown flag: -data: write --data"},
		{cli.StatusUsage, "serve --memory --limits x", `--limits "x": write none, azure`},
		{cli.StatusUsage, "query People --top x", `--top "x": write a whole number`},
		{cli.StatusFailed, "query People --from http://127.0.0.1:1/acme?sig=x", "nothing listens at 127.0.0.1:1; start the server there"},
		{cli.StatusFailed, "query People --from prod --profiles /dev/null/x", "/dev/null is not a directory: name one"},
		{cli.StatusFailed, "import nope --to " + nowhere, "nope: no such file or directory"},
		{cli.StatusUsage, "bench --endpoint http://[", `--endpoint must be a URL such as`},
		{cli.StatusUsage, "bench --endpoint 127.0.0.1:1", `not "127.0.0.1:1"`},
		{cli.StatusUsage, "account new acme --endpoint tables.example.com", `not "tables.example.com"`},
		{cli.StatusUsage, "serve --memory --listen 127.0.0.1:0 --chaos nonsense", "is not of the form key=value"},
		{cli.StatusUsage, "serve --memory --listen 127.0.0.1:0 --oidc-issuer foo", `--oidc-issuer "foo": must be an https URL`},
		{cli.StatusUsage, "serve --memory --listen 127.0.0.1:0 --oidc-issuer https://a.example", "--oidc-audiences is missing"},
		{cli.StatusFailed, "serve --data /proc/x --listen 127.0.0.1:0", "/proc/x: no such file or directory"}, // the message must not say "damaged"
		{cli.StatusFailed, "serve --data " + link + " --listen 127.0.0.1:0", link + " is a link to nowhere, which does not exist"},
		{cli.StatusFailed, "serve --memory --listen 127.0.0.1:0 --admin /proc/x/admin.sock", "--admin: /proc/x: no such file or directory"},
		{cli.StatusUsage, "query People eq --from http://127.0.0.1:1/acme?sig=x", `FILTER "eq": `},
		{cli.StatusUsage, "count People --filter N= --from http://127.0.0.1:1/acme?sig=x", `--filter "N=": Syntax error at position`},
		{cli.StatusUsage, "query People --json --format csv", "--json and --format csv exclude each other"},
		{cli.StatusUsage, "export People --to gs://x", "s3://BUCKET/PREFIX"},
		{cli.StatusUsage, "import gs://x", "s3://BUCKET/PREFIX"},
		{cli.StatusUsage, "import x --table T1", `--table "T1" is not a table name`},
		{cli.StatusUsage, "tables create T1", `TABLE "T1" is not a table name`},
		{cli.StatusUsage, "put People x", "ENTITY: Malformed JSON at byte 0"},
		{cli.StatusUsage, "profile add x junk --profiles " + missing, "CONNECTION: a connection string consists of"},
		{cli.StatusFailed, "profile list --profiles " + junk, "not JSON: unexpected 'j'"},
		{cli.StatusFailed, "backup verify " + missing + " --identity " + junk, "--identity: " + junk + " contains no private key for age encryption"},
		{cli.StatusUsage, "health --listen nohost.invalid:80x", "80x is not a valid port"},
		{cli.StatusUsage, "postgres create --postgres-dsn postgres://127.0.0.1:99999/d", "is wrong: invalid port"},
		{cli.StatusUsage, "postgres create --postgres-dsn postgres://h/d?sslmode=x", "is wrong: sslmode is invalid"},
		{cli.StatusUsage, "nope", "unknown command \"nope\"\n"}, // no command has a similar name, so the message suggests none
		{cli.StatusUsage, "sign GET http://127.0.0.1:1/a/%zz", "is not a URL"},
		{cli.StatusFailed, "check nope", "nope: no such file or directory"},
		{cli.StatusFailed, "man /dev/null/x", "/dev/null is not a directory: name one"},
		{cli.StatusUsage, "postgres create --postgres-dsn ::", `"::" is neither a URL`},
		{cli.StatusFailed, "postgres status --postgres-dsn postgres://127.0.0.1:1/d", "nothing listens at 127.0.0.1:1"},
		{cli.StatusUsage, "profile add x --profiles " + missing, "the connection string is missing"},
		{cli.StatusFailed, "query People --from http://127.0.0.1:99999/acme?sig=x", "99999 is not a valid port"},
		{cli.StatusUsage, "serve --memory --listen 127.0.0.1:1x", "1x is not a valid port: write a number"},
		{cli.StatusFailed, "serve --memory --accounts /dev", "--accounts: /dev is a directory: name a file"},
		{cli.StatusFailed, "check /dev/null", "/dev/null is not a directory: name one"},
		{cli.StatusFailed, "explorer --link --data " + missing, "there is no socket"},
		{cli.StatusUsage, "serve --data " + missing + " --backup-to s4://x", "--backup-to: s4://x: write a directory, or a bucket of S3 as s3://BUCKET/PREFIX"},
		{cli.StatusUsage, "serve --data " + missing + " --secondary-of s4://x", "--secondary-of: s4://x: write a directory"},
		{cli.StatusFailed, "backup list " + junk, junk + " is not a directory: name one"},
		{cli.StatusFailed, "export People --to " + junk + " --from " + nowhere, junk + " is not a directory: name one"},
		{cli.StatusUsage, "query People --limit 3", "unknown flag: --limit; write edgetable query TABLE [FILTER] [flags]"},
		{cli.StatusUsage, "query People --to x", "unknown flag: --to; do you mean --from"},
		{cli.StatusUsage, "backup prune x --last 3", "; do you mean --keep-last?"},
		{cli.StatusUsage, "check --data x", "; write edgetable check DIRECTORY [flags]"},
		{cli.StatusUsage, "serve data", `unexpected argument "data": write edgetable serve [flags]`},
		{cli.StatusUsage, "get People a", "ROWKEY is missing: write edgetable get TABLE PARTITIONKEY ROWKEY"},
		{cli.StatusUsage, "bench --endpoint http://127.0.0.1:1/", "the URL names no account: write it after the host"},
		{cli.StatusFailed, "sas --permissions read --data " + missing, "--data: " + missing + ": no such file or directory"},
		{cli.StatusUsage, "query People Name=1", "Write a filter such as: Name eq 'Grace' and Born gt 1900"},
		{cli.StatusUsage, "sas --table x --permissions q", `a letter first; --permissions: "q" is neither one of`},
	} {
		_, said := console{t, map[string]string{"XDG_CACHE_HOME": t.TempDir()}}.run(tt.status, strings.Fields(tt.args)...)
		if !strings.Contains(said, tt.say) {
			t.Errorf("%s: %q is not said\n%s", tt.args, tt.say, said)
		}
		for _, raw := range []string{"listen tcp", "missing port", "dial ", "Get \"", "parse ", "open ", "stat ", "mkdir ", "invalid argument", "shorthand", "lookup ", "bind: ", "read /", "readdirent", "connect: ", "strconv", "EOF", "no such host", "invalid character", "context ", "json: ", "cannot parse"} {
			if strings.Contains(said, raw) {
				t.Errorf("%s: %q is for programmers\n%s", tt.args, raw, said)
			}
		}
	}
}

// TestPlainTransport checks the errors for confusing http and https, and for a table that does not exist.
// The error must appear at once, without retries, and must say what to do.
func TestPlainTransport(t *testing.T) {
	t.Parallel()
	s := start(t, nil, "--memory")
	at := s.greetingText(t, "connection string")
	for _, tt := range []struct{ say, args string }{
		{"the server answers in plain HTTP: write http://", "tables list --from " + strings.ReplaceAll(at, "http:", "https:")},
		{"edgetable tables create Lost' creates it", "put Lost {\"PartitionKey\":\"a\",\"RowKey\":\"1\"} --to " + at},
	} {
		status, _, said := runUntil(t.Context(), nil, strings.Fields(tt.args)...)
		if status != cli.StatusFailed || !strings.Contains(said, tt.say) {
			t.Errorf("%s: status %d, %q is not said\n%s", tt.args, status, tt.say, said)
		}
	}
}
