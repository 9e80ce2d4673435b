package client

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/client/remote"
	"edgetable/adapters/objects/directory"
	"edgetable/functions/edgetable/cli"
)

// profile is a table service to which the user gave a name. Its connection string may lack the key.
type profile struct {
	Connection string `json:"connection,omitempty"`
	KeyEnv     string `json:"keyEnvironment,omitempty"` // environment variable that contains the key
	KeyCommand string `json:"keyCommand,omitempty"`     // command that prints the key
	ReadOnly   bool   `json:"readOnly,omitempty"`       // commands and the explorer must not write to the service
	Color      string `json:"color,omitempty"`          // color of the explorer's page

	stored json.RawMessage // JSON text from which the profile was read; nil for a new profile
}

// UnmarshalJSON reads a profile and keeps its text for MarshalJSON.
func (one *profile) UnmarshalJSON(text []byte) error {
	type fields profile
	one.stored = bytes.Clone(text)
	return json.Unmarshal(text, (*fields)(one))
}

// MarshalJSON returns the text that was read, including fields that a later version added.
func (one profile) MarshalJSON() ([]byte, error) {
	type fields profile
	if one.stored != nil {
		return one.stored, nil
	}
	return json.Marshal(fields(one))
}

// profiles holds the profiles of a user.
type profiles struct {
	path string
	list map[string]profile
}

// ProfilesFlag adds --profiles, the path of the file of profiles.
func ProfilesFlag(f *pflag.FlagSet, to *string) {
	f.StringVar(to, "profiles", "", "`file` of profiles; default edgetable/profiles.json in the user's configuration directory")
}

// openProfiles reads the file of profiles. If the file does not exist, there are no profiles.
func openProfiles(path string) (*profiles, error) {
	if path == "" {
		dir, err := os.UserConfigDir()
		if err != nil {
			return nil, fmt.Errorf("there is no directory for profiles: %w; --profiles names a file", err)
		}
		path = filepath.Join(dir, "edgetable", "profiles.json")
	}
	f := &profiles{path: path, list: map[string]profile{}}
	text, err := cli.ReadPrivate(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(text), &f.list); err != nil {
		return nil, fmt.Errorf("%s is not a file of profiles: %w", path, err)
	}
	return f, nil
}

// save replaces the whole file of profiles. Only the owner of the file can read it.
func (f *profiles) save() error {
	text, err := json.MarshalIndent(f.list, "", "  ")
	if err != nil {
		return err
	}
	return directory.Replace(f.path, append(text, '\n'), 0o600)
}

// profileName matches valid names of profiles. It does not match connection strings.
var profileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)

func (p *program) profileCommand() *cobra.Command {
	var file string
	var one profile
	command := func(use, short, long string, run func(f *profiles, args []string) error) *cobra.Command {
		c := &cobra.Command{Use: use, Short: short, Long: long, RunE: func(_ *cobra.Command, args []string) error {
			f, err := openProfiles(file)
			if err != nil {
				return err
			}
			return run(f, args)
		}}
		cli.Section(c, "File", func(f *pflag.FlagSet) { ProfilesFlag(f, &file) })
		return c
	}
	add := command("add NAME [CONNECTION]", "Save a connection string under a name",
		"CONNECTION is a connection string or the URL of a shared access signature. If it is missing or -, it\n"+
			"is read from standard input, which keeps it out of the shell's history. With --key-env or\n"+
			"--key-command, it may omit the key. Without CONNECTION, the variable or the command then supplies\n"+
			"the whole connection string.\n\n"+
			"A command uses the profile named default if it names no other.",
		func(f *profiles, args []string) error { return p.addProfile(f, args, one) })
	add.Example = "  edgetable profile add prod - < connection.txt\n" +
		"  edgetable profile add prod 'AccountName=acme' --key-command 'pass show acme'"
	cli.Section(add, "Key", func(f *pflag.FlagSet) {
		f.StringVar(&one.KeyEnv, "key-env", "", "environment `variable` with the account key")
		f.StringVar(&one.KeyCommand, "key-command", "", "`command` that prints the account key; it is run by the shell each time")
	})
	cli.Section(add, "Care", func(f *pflag.FlagSet) {
		readOnlyFlag(f, &one.ReadOnly, "; for this profile, in all commands and in the explorer")
		cli.ChoiceFlag(f, &one.Color, "color", "`color` of the explorer's page for this profile: none, red, orange, yellow, green, blue, purple or gray", colors...)
	})
	var asJSON bool
	list := command("list", "List the profiles, without their keys", "", func(f *profiles, _ []string) error { return p.listProfiles(f, asJSON) })
	list.Example = "  edgetable profile list"
	cli.JSONFlag(list.Flags(), &asJSON)
	remove := command("remove NAME", "Remove a profile", "", func(f *profiles, args []string) error {
		if _, ok := f.list[args[0]]; !ok {
			return fmt.Errorf("%s has no profile %s", f.path, cli.Quote(args[0]))
		}
		delete(f.list, args[0])
		return f.save()
	})
	remove.Example = "  edgetable profile remove prod"
	remove.ValidArgsFunction = completeProfiles
	return cli.Group("profile", "Save services under names", "A profile names a service for --from and --to. Only the owner of the file of profiles can read it.",
		add,
		list,
		remove,
	)
}

func (p *program) addProfile(f *profiles, args []string, one profile) error {
	name := args[0]
	if !profileName.MatchString(name) {
		return cli.Misuse("%q is not a valid profile name: use letters, digits and . _ -", name)
	}
	if one.KeyEnv != "" && one.KeyCommand != "" {
		return cli.Misuse("--key-env and --key-command exclude each other")
	}
	elsewhere := one.KeyEnv != "" || one.KeyCommand != ""
	if len(args) == 2 {
		one.Connection = args[1]
	}
	if one.Connection == "-" || len(args) == 1 && !elsewhere {
		text, err := io.ReadAll(io.LimitReader(p.In, 1<<16))
		if err != nil {
			return err
		}
		one.Connection = strings.TrimSpace(string(text))
	}
	if one.Connection == "" && !elsewhere {
		return cli.Misuse("the connection string is missing: give it after the name or on standard input")
	}
	if check := one.withoutKey(); check != "" {
		if _, err := remote.ParseConnection(check); err != nil {
			return cli.Misuse("CONNECTION: %v", err)
		}
	}
	if one.Color == colors[0] {
		one.Color = ""
	}
	_, replaced := f.list[name]
	f.list[name] = one
	if err := f.save(); err != nil {
		return err
	}
	word := "added"
	if replaced {
		word = "replaced"
	}
	fmt.Fprintf(p.Err, "%s %s in %s\n", word, name, f.path)
	return nil
}

// shownProfile is a profile in the output of profile list --json. It has no key.
type shownProfile struct {
	Name       string `json:"name"`
	Service    string `json:"service"` // "" if the whole connection string is stored outside of the profile
	KeyEnv     string `json:"keyEnvironment"`
	KeyCommand string `json:"keyCommand"`
	ReadOnly   bool   `json:"readOnly"`
	Color      string `json:"color"`
}

func (p *program) listProfiles(f *profiles, asJSON bool) error {
	all := []shownProfile{}
	for _, name := range slices.Sorted(maps.Keys(f.list)) {
		one := f.list[name]
		all = append(all, shownProfile{name, one.service(), one.KeyEnv, one.KeyCommand, one.ReadOnly, one.Color})
	}
	if asJSON {
		return p.PrintJSON(struct {
			Profiles []shownProfile `json:"profiles"`
		}{all})
	}
	if len(all) == 0 {
		fmt.Fprintf(p.Err, "%s has no profiles; 'edgetable profile add NAME CONNECTION' creates one\n", f.path)
	}
	t := cli.Table{Heads: []string{"=", "", ""}}
	for _, one := range all {
		var notes []string
		switch {
		case one.KeyEnv != "":
			notes = append(notes, "key in $"+one.KeyEnv)
		case one.KeyCommand != "":
			notes = append(notes, "key from "+one.KeyCommand)
		}
		if one.ReadOnly {
			notes = append(notes, "read-only")
		}
		if one.Color != "" {
			notes = append(notes, one.Color)
		}
		t.Rows = append(t.Rows, []string{one.Name, cmp.Or(one.Service, "connection"), strings.Join(notes, ", ")})
	}
	p.PrintTable(&t)
	return nil
}

// withoutKey returns the connection string. A placeholder replaces a key that is stored elsewhere.
func (one profile) withoutKey() string {
	if one.Connection != "" && cmp.Or(one.KeyEnv, one.KeyCommand) != "" {
		return withSecret(one.Connection, "a2V5")
	}
	return one.Connection
}

// service returns the URL of a profile's service, or the text of an error in the connection string. It
// returns "" if the connection string is stored elsewhere.
func (one profile) service() string {
	connection := one.withoutKey()
	if connection == "" {
		return ""
	}
	e, err := remote.ParseConnection(connection)
	if err != nil {
		return err.Error()
	}
	return e.String()
}

// colors lists the colors that the explorer's page can have.
var colors = []string{"none", "red", "orange", "yellow", "green", "blue", "purple", "gray"}

// readOnlyFlag adds --read-only, which forbids writes in all commands.
func readOnlyFlag(f *pflag.FlagSet, to *bool, note string) {
	cli.BoolFlag(f, to, "read-only", "refuse all writes"+note)
}

// withSecret adds a key or a shared access signature to a connection string.
func withSecret(connection, secret string) string {
	name := ";AccountKey="
	if strings.Contains(secret, "sig=") {
		name = ";SharedAccessSignature="
	}
	return strings.TrimSuffix(connection, ";") + name + secret
}

func (p *program) connection(name string, one profile) (string, error) {
	var secret string
	switch {
	case one.KeyEnv != "":
		if secret = p.Environment(one.KeyEnv); secret == "" {
			return "", fmt.Errorf("profile %s: $%s is not set", name, one.KeyEnv)
		}
	case one.KeyCommand != "":
		shell := []string{"/bin/sh", "-c"}
		if runtime.GOOS == "windows" {
			shell = []string{"cmd", "/C"}
		}
		command := exec.Command(shell[0], shell[1], one.KeyCommand)
		var says bytes.Buffer
		command.Stderr = &says
		out, err := command.Output()
		if err != nil {
			return "", fmt.Errorf("profile %s: %s: %w: %s", name, one.KeyCommand, err, strings.TrimSpace(says.String()))
		}
		secret = strings.TrimSpace(string(out))
	default:
		return one.Connection, nil
	}
	if one.Connection == "" {
		return secret, nil
	}
	return withSecret(one.Connection, secret), nil
}

func completeProfiles(c *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	path := os.Getenv(cli.Variable("profiles"))
	if flag := c.Flag("profiles"); flag != nil && flag.Changed {
		path = flag.Value.String()
	}
	f, err := openProfiles(path)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return slices.Sorted(maps.Keys(f.list)), cobra.ShellCompDirectiveNoFileComp
}
