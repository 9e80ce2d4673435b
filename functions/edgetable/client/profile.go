package client

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/profiles"
)

func (p *program) profileCommand() *cobra.Command {
	var file string
	var one profiles.Profile
	command := func(use, short, long string, run func(f *profiles.File, args []string) error) *cobra.Command {
		c := &cobra.Command{Use: use, Short: short, Long: long, RunE: func(_ *cobra.Command, args []string) error {
			f, err := profiles.Open(file)
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
		func(f *profiles.File, args []string) error { return p.addProfile(f, args, one) })
	add.Example = "  edgetable profile add prod - < connection.txt\n" +
		"  edgetable profile add prod 'AccountName=acme' --key-command 'pass show acme'"
	cli.Section(add, "Key", func(f *pflag.FlagSet) {
		f.StringVar(&one.KeyEnv, "key-env", "", "environment `variable` with the account key")
		f.StringVar(&one.KeyCommand, "key-command", "", "`command` that prints the account key; it is run by the shell each time")
	})
	cli.Section(add, "Care", func(f *pflag.FlagSet) {
		cli.BoolFlag(f, &one.ReadOnly, "read-only", "refuse all writes; for this profile, in all commands and in the explorer")
		cli.ChoiceFlag(f, &one.Color, "color", "`color` of the explorer's page for this profile: none, red, orange, yellow, green, blue, purple or gray", profiles.Colors...)
	})
	var asJSON bool
	list := command("list", "List the profiles, without their keys", "", func(f *profiles.File, _ []string) error { return p.listProfiles(f, asJSON) })
	list.Example = "  edgetable profile list"
	cli.JSONFlag(list.Flags(), &asJSON)
	remove := command("remove NAME", "Remove a profile", "", func(f *profiles.File, args []string) error {
		if _, ok := f.List[args[0]]; !ok {
			return fmt.Errorf("%s has no profile %s", f.Path, cli.Quote(args[0]))
		}
		delete(f.List, args[0])
		return f.Save()
	})
	remove.Example = "  edgetable profile remove prod"
	remove.ValidArgsFunction = completeProfiles
	return cli.Group("profile", "Save services under names", "A profile names a service for --from and --to. Only the owner of the file of profiles can read it.",
		add,
		list,
		remove,
	)
}

func (p *program) addProfile(f *profiles.File, args []string, one profiles.Profile) error {
	name := args[0]
	if !profiles.ValidName(name) {
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
	if check := one.WithoutKey(); check != "" {
		if _, err := remote.ParseConnection(check); err != nil {
			return cli.Misuse("CONNECTION: %v", err)
		}
	}
	if one.Color == profiles.Colors[0] {
		one.Color = ""
	}
	_, replaced := f.List[name]
	f.List[name] = one
	if err := f.Save(); err != nil {
		return err
	}
	word := "added"
	if replaced {
		word = "replaced"
	}
	fmt.Fprintf(p.Err, "%s %s in %s\n", word, name, f.Path)
	return nil
}

// shownProfile is a profile in the output of profile list --json, without the key.
type shownProfile struct {
	Name       string `json:"name"`
	Service    string `json:"service"` // URL of the service; "" if the profile does not contain the connection string
	KeyEnv     string `json:"keyEnvironment"`
	KeyCommand string `json:"keyCommand"`
	ReadOnly   bool   `json:"readOnly"`
	Color      string `json:"color"`
}

func (p *program) listProfiles(f *profiles.File, asJSON bool) error {
	all := []shownProfile{}
	for _, name := range slices.Sorted(maps.Keys(f.List)) {
		one := f.List[name]
		all = append(all, shownProfile{name, one.Endpoint(), one.KeyEnv, one.KeyCommand, one.ReadOnly, one.Color})
	}
	if asJSON {
		return p.PrintJSON(struct {
			Profiles []shownProfile `json:"profiles"`
		}{all})
	}
	if len(all) == 0 {
		fmt.Fprintf(p.Err, "%s has no profiles; 'edgetable profile add NAME CONNECTION' creates one\n", f.Path)
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
