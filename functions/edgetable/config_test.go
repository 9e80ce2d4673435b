package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/core/protocol"
	"edgetable/functions/edgetable/cli"
	"edgetable/testdata/must"
)

var update = flag.Bool("update", false, "write docs/flags.md")

// TestWhereFlagsComeFrom checks that a flag on the command line has precedence over the
// environment, and the environment over the configuration file.
func TestWhereFlagsComeFrom(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "edgetable.conf")
	text := "\ufeff# ours\nlisten = 127.0.0.1:1\n\ncache-size=2MiB\r\nmax-skew = 3m\nkeep-last = 3\nchaos = fault=500\nchaos = fault=503\noidc-issuer = https://a.example/?x=y\n"
	must.OK(t, os.WriteFile(file, []byte(text), 0o600))
	env := map[string]string{"EDGETABLE_CACHE_SIZE": "20480KiB", "EDGETABLE_MAX_SKEW": "30m", "EDGETABLE_MEMORY": "true",
		"EDGETABLE_ACCOUNTS_FILE": "/accounts", "EDGETABLE_OIDC_AUDIENCES": "a,b"}
	status, out, said := run(t, env, "serve", "--print-config", "--config", file, "--max-skew", "300m")
	for _, want := range []string{"\nmax-skew = 5h\n", "\ncache-size = 20MiB\n", "\nmemory = true\n", "\nlisten = 127.0.0.1:1\n", "\naccounts = /accounts\n",
		"\noidc-issuer = https://a.example/?x=y\n", "\noidc-audiences = a\noidc-audiences = b\n", "\nchaos = fault=500\nchaos = fault=503\n", "\n# store = embedded\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in:\n%s", want, out)
		}
	}
	if strings.Contains(out, "explorer = ") { // without a setting, the explorer is on or off depending on the address
		t.Errorf("--explorer has no fixed default, but is in:\n%s", out)
	}
	if status != 0 || said != "" {
		t.Errorf("status %d: %s", status, said)
	}
	// The printed settings are a configuration file. Read this file, and compare.
	must.OK(t, os.WriteFile(file, []byte(out), 0o600))
	if _, again, said := run(t, map[string]string{"EDGETABLE_CONFIG": file}, "serve", "--print-config"); again != out {
		t.Errorf("read again: %s\n%s\nwant\n%s", said, again, out)
	}
}

// TestFlagOfAnotherStoreInEnvironment checks that a server without a data directory ignores the
// variable for the data directory. A container image sets this variable for all commands.
func TestFlagOfAnotherStoreInEnvironment(t *testing.T) {
	t.Parallel()
	env := map[string]string{"EDGETABLE_DATA": "/data"}
	for _, args := range [][]string{
		{"serve", "--print-config", "--store", "postgres", "--postgres-dsn", "postgres://db.example/edgetable"},
		{"serve", "--print-config", "--store", "dynamodb", "--dynamodb-table", "t"},
		{"serve", "--print-config", "--memory"},
	} {
		if status, out, said := run(t, env, args...); status != 0 || said != "" || strings.Contains(out, "\ndata = ") {
			t.Errorf("%v: status %d: %s\n%s", args, status, said, out)
		}
		if status, _, said := run(t, nil, append(args, "--data", "/data")...); status != 2 {
			t.Errorf("%v with --data: status %d: %s", args, status, said)
		}
	}
	if _, out, _ := run(t, env, "serve", "--print-config"); !strings.Contains(out, "\ndata = /data\n") {
		t.Errorf("the store in the directory ignores it:\n%s", out)
	}
}

// TestConfigMistakes checks the error for a wrong setting. It must name the file and the line, or
// the variable, of the setting.
func TestConfigMistakes(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "edgetable.conf")
	for _, tt := range []struct {
		text   string
		env    map[string]string
		status int
		say    string
	}{
		{"memory = true\nlistne = 127.0.0.1:1\n", nil, 2, file + ` line 2: "listne" is not a flag`},
		{"--memory = true\n", nil, 2, file + ` line 1: "--memory" is not a flag`},
		{"memory\n", nil, 2, file + ` line 1: "memory" is not a flag: write name = value`},
		{"config = other\n", nil, 2, `"config" is not a flag`},
		{"help = true\n", nil, 2, `"help" is not a flag`},
		{"\ncache-size = 1024\n", nil, 2, file + " line 2: cache-size = 1024: write a size with its unit, such as 512MiB or 2GiB"},
		{"memory = yes\n", nil, 2, file + " line 1: memory = yes: write true or false"},
		{"", map[string]string{"EDGETABLE_LOG_LEVEL": "loud"}, 2, `$EDGETABLE_LOG_LEVEL="loud": write debug, info, warn or error`},
		{"data = d\n", map[string]string{"EDGETABLE_MEMORY": "true"}, 2, "--memory and --data exclude each other"},
		{"data = d\nstore = postgres\n", nil, 2, "--data is for --store embedded, not postgres"},
		{"", map[string]string{"EDGETABLE_BACKUP_TO": "b", "EDGETABLE_STORE": "postgres"}, 2, "--backup-to is for --store embedded, not postgres"},
		{"memory = true\n", map[string]string{"EDGETABLE_CONFIG": "/nowhere"}, 1, "--config: /nowhere: "},
	} {
		must.OK(t, os.WriteFile(file, []byte(tt.text), 0o600))
		args := []string{"serve", "--listen", "127.0.0.1:0"}
		if tt.env["EDGETABLE_CONFIG"] == "" {
			args = append(args, "--config", file)
		}
		status, out, said := run(t, tt.env, args...)
		if status != tt.status || !strings.Contains(said, tt.say) || out != "" {
			t.Errorf("%q, %v: status %d, want %d with %q\n%s", tt.text, tt.env, status, tt.status, tt.say, said)
		}
	}
}

// commands returns all visible commands by their paths.
func commands(root *cobra.Command) (list []*cobra.Command) {
	for _, c := range root.Commands() {
		if !c.Hidden && c.Name() != "help" && c.Name() != "completion" {
			list = append(append(list, c), commands(c)...)
		}
	}
	return list
}

// TestFlagsMeanOneThing checks that a flag has the same description in all commands, up to the
// first semicolon.
func TestFlagsMeanOneThing(t *testing.T) {
	t.Parallel()
	meaning := map[string]string{}
	for _, c := range commands((&program{Terminal: new(cli.Terminal)}).root()) {
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" {
				return
			}
			says, _, _ := strings.Cut(f.Usage, ";")
			if meaning[f.Name] == "" {
				meaning[f.Name] = says
			} else if meaning[f.Name] != says {
				t.Errorf("--%s of %q: %q, elsewhere %q", f.Name, c.CommandPath(), says, meaning[f.Name])
			}
		})
	}
}

// TestHelpFits checks that the help of every command is at most 80 columns wide and has an example.
func TestHelpFits(t *testing.T) {
	t.Parallel()
	for _, c := range commands((&program{Terminal: new(cli.Terminal)}).root()) {
		if cli.Examples(c) == "" {
			t.Errorf("%s has no example", c.CommandPath())
		}
		for line := range strings.Lines(cli.Usage(c)) {
			if line = strings.TrimSuffix(line, "\n"); utf8.RuneCountInString(line) > 80 {
				t.Errorf("%s: %s", c.CommandPath(), line)
			}
		}
	}
}

// TestServeHelp checks that the short help of serve fits a terminal of 80 columns and 48 lines. The
// long help must have all flags.
func TestServeHelp(t *testing.T) {
	t.Parallel()
	_, short, _ := run(t, nil, "serve", "--help")
	if n := strings.Count(short, "\n"); n > 48 {
		t.Errorf("%d lines:\n%s", n, short)
	}
	for line := range strings.Lines(short) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	status, long, said := run(t, nil, "serve", "--help-all")
	root := (&program{Terminal: new(cli.Terminal)}).root()
	c, _, err := root.Find([]string{"serve"})
	must.OK(t, err)
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !strings.Contains(long, "--"+f.Name) {
			t.Errorf("--help-all does not have --%s: status %d, %s", f.Name, status, said)
		}
	})
}

// mapOfRooms returns the section "The binary's rooms" of docs/architecture.md. A room is a package of the program. The
// section has a table of the commands, flags, metrics and log fields of each package.
func mapOfRooms(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/architecture.md")
	must.OK(t, err)
	_, rooms, found := strings.Cut(string(page), "## The binary's rooms")
	rooms, _, end := strings.Cut(rooms, "\n## ")
	if !found || !end {
		t.Fatal("docs/architecture.md has no section of the binary's rooms")
	}
	return rooms
}

// TestRoomOfMetric checks the table of packages (rooms) in docs/architecture.md. Each metric must
// be in exactly one row. All metrics in the table must exist. The table must list the log fields of
// [protocol.Texts].
func TestRoomOfMetric(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/metrics.md")
	must.OK(t, err)
	metric := regexp.MustCompile("(?m)^\\| `edgetable_(\\w+)")
	var metrics []string
	for _, m := range metric.FindAllStringSubmatch(string(page), -1) {
		metrics = append(metrics, m[1])
	}
	rows := map[string]int{} // for each metric, the number of rows of the table of packages that name the metric
	var fields []string
	for line := range strings.Lines(mapOfRooms(t)) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		_, list, _ := strings.Cut(cells[3], "fields ")
		for i, name := range strings.Split(list, "`") {
			if i%2 == 1 {
				fields = append(fields, name)
			}
		}
		for i, name := range strings.Split(cells[3], "`") {
			prefix, pattern := strings.CutSuffix(name, "*")
			if i%2 == 0 || strings.HasPrefix(name, "-") || !pattern && name != "build_info" {
				continue
			}
			some := false
			for _, m := range metrics {
				if strings.HasPrefix(m, prefix) {
					rows[m]++
					some = true
				}
			}
			if !some {
				t.Errorf("the map has metrics %s, of which there is none", name)
			}
		}
	}
	if len(metrics) == 0 {
		t.Error("docs/metrics.md has no metrics")
	}
	for _, m := range metrics {
		if rows[m] != 1 {
			t.Errorf("%d rows of the map have the metric %s", rows[m], m)
		}
	}
	var want []string
	for i := range protocol.Texts {
		want = append(want, protocol.Texts[i].Name)
	}
	if !slices.Equal(fields, want) {
		t.Errorf("the map has the texts %q of logs, and there are %q", fields, want)
	}
}

// TestRoomOfCommand checks that the table of packages in docs/architecture.md contains each
// command.
func TestRoomOfCommand(t *testing.T) {
	t.Parallel()
	rooms := mapOfRooms(t)
	root := (&program{Terminal: new(cli.Terminal)}).root()
	root.InitDefaultHelpCmd()
	known := map[string]bool{}
	for _, c := range root.Commands() {
		known[c.Name()] = true
		if !c.Hidden && !strings.Contains(rooms, "`"+c.Name()+"`") {
			t.Errorf("no room has the command %s", c.Name())
		}
	}
	for line := range strings.Lines(rooms) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || strings.Contains(cells[1], "Room") || strings.Contains(cells[1], "---") {
			continue
		}
		list, _, _ := strings.Cut(cells[2], ";")
		for i, name := range strings.Split(list, "`") {
			if i%2 == 1 && !known[name] {
				t.Errorf("the rooms have a command %s, which the program lacks", name)
			}
		}
	}
}

// TestPackagedSettings checks commands on a machine on which edgetable was installed as a Linux
// package. The settings file of the package has the address and the data directory of the server.
// Commands for the server must find the server by this file.
func TestPackagedSettings(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := start(t, nil, "--data", data)
	ok(t, "account", "new", "acme", "--data", data)
	file := filepath.Join(t.TempDir(), "edgetable.conf")
	must.OK(t, os.WriteFile(file, []byte("data = "+data+"\nlisten = 127.0.0.1"+s.listening(t)+"\n"), 0o600))
	run := func(packaged string, args ...string) (status int, said string) {
		e := newBuffer(args)
		p := program{args: args, Terminal: &cli.Terminal{Environment: lookup(nil), Out: e, Err: e, Packaged: packaged}}
		return p.run(t.Context()), e.String()
	}
	for _, tt := range []struct {
		packaged string
		status   int
		args     []string
	}{
		{file, cli.StatusDone, []string{"health"}},
		{file, cli.StatusDone, []string{"traffic"}},
		{file, cli.StatusDone, []string{"explorer", "--link"}},
		{file, cli.StatusDone, []string{"backup", "create", filepath.Join(t.TempDir(), "backups")}},
		{file, cli.StatusDone, []string{"account", "list", "acme"}},
		{file, cli.StatusFailed, []string{"health", "--listen", "127.0.0.1:1"}},
		{file, cli.StatusFailed, []string{"traffic", "--data", missing}},
		{missing, cli.StatusFailed, []string{"traffic"}},
		{"", cli.StatusFailed, []string{"traffic"}},
	} {
		if status, said := run(tt.packaged, tt.args...); status != tt.status {
			t.Errorf("%q with %q: status %d, want %d\n%s", tt.args, tt.packaged, status, tt.status, said)
		}
	}
}

// TestFlagsPage compares docs/flags.md with the flags of the commands. With -update it writes the
// page.
func TestFlagsPage(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`# Commands and flags

` + "`go test ./functions/edgetable -run FlagsPage -update`" + ` writes this page from the commands.

A flag gets its value from the first of these that has it:

1. the command line,
2. its environment variable,
3. a line of the configuration file that ` + "`--config FILE`" + ` or ` + "`$EDGETABLE_CONFIG`" + ` names,
4. its default.

A line of the file is ` + "`name = value`" + `, with the name of the flag without dashes; a line that begins with ` + "`#`" + ` is a comment.
A flag with several values may have several lines. The file may contain flags of several commands, but no unknown names.
` + "`edgetable serve --print-config`" + ` prints the flags of a server as such a file.
`)
	all := commands((&program{Terminal: new(cli.Terminal)}).root())
	writeNeeded(t, &b, all)
	for _, c := range all {
		fmt.Fprintf(&b, "\n## `%s`\n\n%s.\n", strings.TrimSuffix(c.UseLine(), " [flags]"), c.Short)
		if c.Long != "" {
			fmt.Fprintf(&b, "\n%s\n", c.Long)
		}
		if c.Example != "" {
			fmt.Fprintf(&b, "\n```\n%s\n```\n", strings.ReplaceAll(strings.TrimPrefix(c.Example, "  "), "\n  ", "\n"))
		}
		headings, flags := cli.Sections(c)
		for _, heading := range headings {
			var rows strings.Builder
			flags[heading].VisitAll(func(f *pflag.Flag) {
				if f.Name == "help" || f.Name == "help-all" || f.Name == "config" {
					return
				}
				kind, text := pflag.UnquoteUsage(f)
				env, usual := "", f.DefValue
				if cli.Settable(f.Name) {
					env = "`" + cli.Variable(f.Name) + "`"
				}
				if slices.Contains([]string{"false", "[]", ""}, usual) {
					usual = ""
				} else {
					usual = "`" + usual + "`"
				}
				fmt.Fprintf(&rows, "| `--%s` | %s | %s | %s |\n", strings.TrimSpace(f.Name+" "+kind), env, usual, strings.ReplaceAll(text, "|", "\\|"))
			})
			if rows.Len() > 0 {
				fmt.Fprintf(&b, "\n| %s | Variable | Default | |\n|---|---|---|---|\n%s", heading, rows.String())
			}
		}
	}
	const page = "../../docs/flags.md"
	if *update {
		must.OK(t, os.WriteFile(page, []byte(b.String()), 0o644))
	}
	if text, err := os.ReadFile(page); err != nil || string(text) != b.String() {
		t.Errorf("%s is not what the commands say; run this test with -update (%v)", page, err)
	}
}

// TestManualPages checks that each command has a manual page, and that the text of the page is
// always the same.
func TestManualPages(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "man1")
	if status, out, said := run(t, nil, "man", dir); status != 0 || out+said != "" {
		t.Fatalf("status %d: %s%s", status, out, said)
	}
	for _, c := range commands((&program{Terminal: new(cli.Terminal)}).root()) {
		page, err := os.ReadFile(filepath.Join(dir, strings.ReplaceAll(c.CommandPath(), " ", "-")+".1"))
		if err != nil || !strings.Contains(string(page), c.Short) {
			t.Errorf("%s: %v\n%s", c.CommandPath(), err, page)
		}
	}
}
