package azurite

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestServe checks the translation of command lines that users have for Azurite.
func TestServe(t *testing.T) {
	const development = "--allow-development-account"
	for _, c := range []struct {
		line, listen string
		want         []string
	}{
		{"azurite", "", []string{"serve", development}},
		{"azurite-table --tableHost 0.0.0.0", "", []string{"serve", "--listen", "0.0.0.0:10002", development}},
		{"azurite-table --tablePort 11002", "0.0.0.0:10002", []string{"serve", "--listen", "0.0.0.0:11002", development}},
		{"azurite --blobHost 0.0.0.0 --blobPort 10000 --queueHost 0.0.0.0 --queuePort 10001 --tableHost 0.0.0.0 --tablePort 10002", "0.0.0.0:10002",
			[]string{"serve", "--listen", "0.0.0.0:10002", development}},
		{"azurite -l /data --blobHost 0.0.0.0 --queueHost 0.0.0.0 --tableHost 0.0.0.0 --skipApiVersionCheck", "", []string{"serve", "--listen", "0.0.0.0:10002", "--data", "/data", development}},
		{"azurite -s -L --inMemoryPersistence --extentMemoryLimit 64 --disableTelemetry", "", []string{"serve", "--memory", development}},
		{"azurite --silent --loose --location=/workspace --debug /workspace/debug.log --disableProductStyleUrl", "", []string{"serve", "--data", "/workspace", "--path-style", "--log-level", "debug", development}},
		{"azurite --cert /c.pem --key /k.pem", "", []string{"serve", "--tls-cert", "/c.pem", "--tls-key", "/k.pem", development}},
		{"azurite --version", "", []string{"version"}},
	} {
		words := strings.Fields(c.line)
		s, err := Serve(words[0], words[1:], func(name string) string { return map[string]string{"EDGETABLE_LISTEN": c.listen}[name] })
		if err != nil || !slices.Equal(s.Args, c.want) {
			t.Errorf("%s: %q, %v, want %q", c.line, s.Args, err, c.want)
		}
	}
}

// TestRefused checks that Azurite's flags for unsupported features are refused. The error must say
// what to use instead.
func TestRefused(t *testing.T) {
	for line, want := range map[string]string{
		"--oauth basic":               "sign with the account's key",
		"--cert a.pfx --pwd secret":   "openssl pkcs12",
		"--cert a.pem":                "--cert and --key go together",
		"--inMemoryPersistence -l /x": "exclude each other",
		"--extentMemoryLimit 5":       "--inMemoryPersistence",
		"--tableHosts 0.0.0.0":        "--tableHost",
		"start":                       `takes no "start"`,
	} {
		if _, err := Serve(All, strings.Fields(line), func(string) string { return "" }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

// TestHint checks the errors of 'edgetable serve' for flags of Azurite. Each flag that edgetable
// accepts when it is started as Azurite must have a hint.
func TestHint(t *testing.T) {
	var o flags
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.register(all)
	explain := func(arg string) string { return Hint(pflag.NewFlagSet("", pflag.ContinueOnError).Parse([]string{arg})) }
	all.VisitAll(func(f *pflag.Flag) {
		switch f.Name {
		case "help", "version":
			return
		}
		if said := explain("--" + f.Name); !strings.HasPrefix(said, "--"+f.Name+" of Azurite is ") {
			t.Errorf("--%s: %q", f.Name, said)
		}
		if said := explain("-" + f.Shorthand); f.Shorthand != "" && !strings.HasPrefix(said, "--"+f.Name+" of Azurite is ") {
			t.Errorf("-%s: %q", f.Shorthand, said)
		}
	})
	for _, e := range Equivalents {
		if f := all.Lookup(e.Flag); f == nil || f.Shorthand != e.Short {
			t.Errorf("Azurite has no flag --%s, -%s", e.Flag, e.Short)
		}
		if e.Here == "" && e.Why == "" {
			t.Errorf("--%s: say why nothing stands for it", e.Flag)
		}
	}
	for _, arg := range []string{"--nope", "-x", "-data"} {
		if said := explain(arg); said != "" {
			t.Errorf("%s: %q", arg, said)
		}
	}
}

// TestAccounts checks that the server has no development account if the user has set accounts.
func TestAccounts(t *testing.T) {
	s, err := Serve(Tables, nil, func(name string) string { return map[string]string{AccountsVariable: "acme:a2V5"}[name] })
	if err != nil || s.Accounts != "acme:a2V5" || slices.Contains(s.Args, "--allow-development-account") {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestNamed(t *testing.T) {
	for _, c := range []struct {
		program, args, name, rest string
	}{
		{"/usr/bin/edgetable", "serve --memory", "", "serve --memory"},
		{"/usr/bin/edgetable", "azurite-table --tableHost 0.0.0.0", Tables, "--tableHost 0.0.0.0"},
		{"azurite", "--tableHost 0.0.0.0", All, "--tableHost 0.0.0.0"},
		{"/usr/bin/azurite", "", All, ""},
		{`azurite-table.exe`, "-s", Tables, "-s"},
		{"azurite", "azurite -s", All, "-s"},
	} {
		name, rest := Named(c.program, strings.Fields(c.args))
		if name != c.name || strings.Join(rest, " ") != c.rest {
			t.Errorf("%s %s: %q %q", c.program, c.args, name, rest)
		}
	}
}

// TestLines checks that the output has each line that other programs wait for. Another line must say
// that blobs and queues are not served.
func TestLines(t *testing.T) {
	said := strings.Join(Lines(All, "http://0.0.0.0:10002"), "\n")
	for _, want := range []string{"Azurite Table service is successfully listening at http://0.0.0.0:10002", "Blob service is successfully listening", "Queue service is successfully listening", "are not served"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in\n%s", want, said)
		}
	}
	if said := strings.Join(Lines(Tables, "http://0.0.0.0:10002"), "\n"); strings.Contains(said, "Blob") {
		t.Error(said)
	}
}
