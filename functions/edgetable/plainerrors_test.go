package main

import (
	"strings"
	"testing"

	"edgetable/functions/edgetable/cli"
)

// TestPlainErrors demands that mistakes are told in our words and not in those of Go's libraries.
func TestPlainErrors(t *testing.T) {
	t.Parallel()
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
		{cli.StatusFailed, "health --listen 127.0.0.1:1", "no server answers at 127.0.0.1:1, which --listen or the file of --config sets: "},
		{cli.StatusFailed, "stats --data " + missing, "no server answers: is one running with --data " + missing + "? "},
		{cli.StatusUsage, "profile add x --profiles " + missing, "the connection string is missing"},
		{cli.StatusUsage, "sas --table x --permissions q", `a letter first; --permissions: "q" is not one of`},
	} {
		_, said := console{t, map[string]string{"XDG_CACHE_HOME": t.TempDir()}}.run(tt.status, strings.Fields(tt.args)...)
		if !strings.Contains(said, tt.say) {
			t.Errorf("%s: %q is not said\n%s", tt.args, tt.say, said)
		}
		for _, raw := range []string{"listen tcp", "missing port", "dial ", "Get \"", "parse "} {
			if strings.Contains(said, raw) {
				t.Errorf("%s: %q is for programmers\n%s", tt.args, raw, said)
			}
		}
	}
}
