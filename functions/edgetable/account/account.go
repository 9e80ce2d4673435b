package account

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/core/accounts"
	"edgetable/functions/edgetable/cli"
)

func (p *program) accountCommand() *cobra.Command {
	var o accountFlags
	command := func(use, short, long string, run func(ctx context.Context, f *file, name string) error) *cobra.Command {
		c := &cobra.Command{Use: use, Short: short, Long: long}
		c.RunE = func(c *cobra.Command, args []string) error {
			path := o.path()
			if real, err := filepath.EvalSymlinks(path); err == nil {
				path = real
			}
			if err := cli.CheckEndpoint(o.endpoint); err != nil {
				return err
			}
			if c.Name() == "new" && accounts.CheckName(args[0]) == nil {
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					return err
				}
			}
			defer lockDir(filepath.Dir(path))() // prevents concurrent commands from overwriting each other's changes
			f, err := openFile(path)
			if err != nil {
				return err
			}
			return run(c.Context(), f, strings.Join(args, ""))
		}
		cli.Section(c, "File", func(f *pflag.FlagSet) {
			cli.AccountsFlag(f, &o.accounts)
			cli.DataFlag(f, &o.data, "without --accounts, the accounts are in the file named "+cli.AccountsInData+" in this directory")
		})
		return c
	}
	list := command("list [NAME]", "List the accounts and when their keys were last used", "With NAME it also prints which addresses the account allows and denies.",
		func(_ context.Context, f *file, name string) error { return p.listAccounts(f, name, o.json) })
	cli.JSONFlag(list.Flags(), &o.json)
	change := command("change NAME", "Disable, enable or remove an account", "The account's tables stay; a later account with the same name can use them. --drop refuses an account whose key was used in the last ten minutes, and asks for its name.",
		func(ctx context.Context, f *file, name string) error { return p.changeAccount(ctx, f, name, &o) })
	change.Example = "  edgetable account change acme --disable\n  edgetable account change acme --drop --data /var/lib/edgetable"
	cli.Section(change, "Change", func(f *pflag.FlagSet) {
		cli.BoolFlag(f, &o.disable, "disable", "refuse every request of the account")
		cli.BoolFlag(f, &o.enable, "enable", "serve a disabled account again")
		cli.BoolFlag(f, &o.drop, "drop", "remove the account with its keys; this cannot be undone")
		cli.BoolFlag(f, &o.force, "force", forceUsage+"; with --drop")
		cli.BoolFlag(f, &o.yes, "yes", "do not ask for confirmation")
		cli.AdminFlag(f, &o.admin, "")
	})
	create := command("new NAME", "Make an account and print its connection string",
		"The key has 256 bits and is printed once.", func(ctx context.Context, f *file, name string) error { return p.newAccount(ctx, f, name, &o) })
	list.Example = "  edgetable account list\n  edgetable account list acme --json"
	create.Example = "  edgetable account new acme --data /var/lib/edgetable --endpoint https://tables.example.com/acme"
	rotate := command("rotate NAME", "Replace the key of an account",
		"Adds a second key and prints a connection string with this key. Give this connection string to all\n"+
			"clients. When 'edgetable account list' shows that the first key is no longer used, run the command\n"+
			"again with --finish to remove the first key.",
		func(ctx context.Context, f *file, name string) error { return p.rotateAccount(ctx, f, name, &o) })
	rotate.Example = "  edgetable account rotate acme\n  edgetable account rotate acme --finish"
	for _, c := range []*cobra.Command{create, rotate} {
		cli.Section(c, "Output", func(f *pflag.FlagSet) {
			cli.EndpointFlag(f, &o.endpoint, defaultEndpoint)
			cli.AdminFlag(f, &o.admin, "")
		})
	}
	cli.Section(rotate, "Rotation", func(f *pflag.FlagSet) {
		cli.BoolFlag(f, &o.finish, "finish", "remove the first key; refused while clients seem to use it")
		cli.BoolFlag(f, &o.force, "force", forceUsage+"; with --finish")
	})
	return cli.Group("account", "Make, change and list accounts",
		"The accounts are in a file, one per line. A server that uses the file applies each change within two seconds.",
		create,
		list,
		rotate,
		change,
	)
}

func (p *program) newAccount(ctx context.Context, f *file, name string, o *accountFlags) error {
	if err := accounts.CheckName(name); err != nil {
		return cli.Misuse("%q: %v", name, err)
	}
	if f.list[name] != nil {
		return fmt.Errorf("%s already has an account %s; 'account rotate' gives it another key", f.path, name)
	}
	key := newKey()
	e := accounts.Entry{Name: name, Keys: []string{key}}
	if o.endpoint != "" {
		e.Options = []string{"endpoint=" + strings.TrimSuffix(o.endpoint, "/")}
	}
	f.add(e)
	if err := p.saveAccounts(f); err != nil {
		return err
	}
	info, err := o.askServer(ctx, f.path)
	p.printConnection(name, key, p.endpointOf(name, o, info, err))
	return nil
}

func (p *program) rotateAccount(ctx context.Context, f *file, name string, o *accountFlags) error {
	i, e, err := f.find(name)
	if err != nil {
		return err
	}
	o.known = f.list[name].Endpoint
	info, silent := o.askServer(ctx, f.path)
	switch {
	case o.force && !o.finish:
		return cli.Misuse("--force is for --finish")
	case o.finish && len(e.Keys) < 2:
		return fmt.Errorf("%s has only one key: there is nothing to finish", name)
	case o.finish && !o.force && silent != nil:
		return fmt.Errorf("%s keeps both keys, because their last use is unknown: %w; --force removes key 1 anyway", name, silent)
	case o.finish && !o.force:
		if err := f.inUse(name, info, time.Now()); err != nil {
			return err
		}
		e.Keys = e.Keys[1:]
	case o.finish:
		e.Keys = e.Keys[1:]
	case len(e.Keys) == 2:
		return fmt.Errorf("%s has two keys: key 1 was %s, key 2 was %s; --finish removes key 1", name, f.used(name, 0), f.used(name, 1))
	default:
		e.Keys = append(e.Keys, newKey())
	}
	f.lines[i] = e.String() + "\n"
	if err := p.saveAccounts(f); err != nil {
		return err
	}
	if o.finish {
		fmt.Fprintf(p.Out, "%s has one key\n", name)
		return nil
	}
	p.printConnection(name, e.Keys[1], p.endpointOf(name, o, info, silent))
	return nil
}

func (p *program) printConnection(name, key, endpoint string) {
	fmt.Fprintln(p.Err, "The key is not shown again:")
	if endpoint == "" {
		endpoint = unknownEndpoint
	}
	fmt.Fprintln(p.Out, ConnectionString(name, key, endpoint))
}

// ConnectionString returns a connection string in the format of the Azure SDKs.
func ConnectionString(name, key, endpoint string) string {
	scheme, _, known := strings.Cut(endpoint, "://")
	if !known {
		scheme = "https"
	}
	return fmt.Sprintf("DefaultEndpointsProtocol=%s;AccountName=%s;AccountKey=%s;TableEndpoint=%s;", scheme, name, key, endpoint)
}

// described is an account in the output of account list --json.
type described struct {
	Name     string   `json:"name"`
	Disabled bool     `json:"disabled"`
	Keys     []keyUse `json:"keys"`
	Allow    []string `json:"allow"`
	Deny     []string `json:"deny"`
}

// keyUse describes a key of an account without revealing it.
type keyUse struct {
	Key      int        `json:"key"` // number of the key, 1 or 2
	Bits     int        `json:"bits"`
	LastUsed *time.Time `json:"lastUsed"` // time of the last use; nil if the key was never used
}

func (f *file) describe(name string) described {
	a, used := f.list[name], readLastUsed(usedFile(f.path))
	d := described{Name: name, Disabled: a.Disabled, Keys: []keyUse{}, Allow: []string{}, Deny: []string{}}
	for i, k := range a.Keys {
		if k == nil {
			continue
		}
		d.Keys = append(d.Keys, keyUse{Key: i + 1, Bits: 8 * k.Size(), LastUsed: used.timeOf(k)})
	}
	for _, allow := range a.Firewall.Allow {
		d.Allow = append(d.Allow, fmt.Sprint(allow))
	}
	for _, deny := range a.Firewall.Deny {
		d.Deny = append(d.Deny, fmt.Sprint(deny))
	}
	return d
}

func (p *program) listAccounts(f *file, name string, asJSON bool) error {
	if name != "" && !asJSON {
		return p.showAccount(f, name)
	}
	if name != "" {
		if _, _, err := f.find(name); err != nil {
			return err
		}
	}
	all := []described{}
	for _, one := range slices.Sorted(maps.Keys(f.list)) {
		if name == "" || name == one {
			all = append(all, f.describe(one))
		}
	}
	if asJSON {
		return p.PrintJSON(struct {
			Accounts []described `json:"accounts"`
		}{all})
	}
	if len(all) == 0 {
		fmt.Fprintf(p.Err, "%s has no accounts; 'edgetable account new NAME' creates one\n", f.path)
	}
	t := cli.Table{Heads: []string{"=", "=", ""}}
	for _, d := range all {
		var keys []string
		for _, k := range d.Keys {
			keys = append(keys, fmt.Sprintf("key %d %s", k.Key, say(k.LastUsed)))
		}
		t.Rows = append(t.Rows, []string{d.Name, state(d.Disabled), strings.Join(keys, ", ")})
	}
	p.PrintTable(&t)
	return nil
}

func state(disabled bool) string {
	if disabled {
		return "disabled"
	}
	return "enabled"
}

func (f *file) used(name string, key int) string {
	return say(readLastUsed(usedFile(f.path)).timeOf(f.list[name].Keys[key]))
}

func (p *program) showAccount(f *file, name string) error {
	if _, _, err := f.find(name); err != nil {
		return err
	}
	d := f.describe(name)
	fmt.Fprintf(p.Out, "account  %s, %s\n", name, state(d.Disabled))
	for _, k := range d.Keys {
		fmt.Fprintf(p.Out, "key %d    %d bits, %s\n", k.Key, k.Bits, say(k.LastUsed))
	}
	for _, allow := range d.Allow {
		fmt.Fprintln(p.Out, "allow   ", allow)
	}
	for _, deny := range d.Deny {
		fmt.Fprintln(p.Out, "deny    ", deny)
	}
	return nil
}

func (p *program) changeAccount(ctx context.Context, f *file, name string, o *accountFlags) error {
	if !o.drop && (o.force || o.yes) {
		return cli.Misuse("--force and --yes are for --drop")
	}
	switch [3]bool{o.disable, o.enable, o.drop} {
	case [3]bool{true, false, false}:
		return p.setDisabled(f, name, true)
	case [3]bool{false, true, false}:
		return p.setDisabled(f, name, false)
	case [3]bool{false, false, true}:
		return p.removeAccount(ctx, f, name, o)
	}
	return cli.Misuse("give --disable, --enable or --drop")
}

func (p *program) setDisabled(f *file, name string, disabled bool) error {
	i, e, err := f.find(name)
	if err != nil {
		return err
	}
	e.Options = slices.DeleteFunc(e.Options, func(o string) bool { return o == "disabled" })
	if disabled {
		e.Options = append(e.Options, "disabled")
	}
	f.lines[i] = e.String() + "\n"
	if err := p.saveAccounts(f); err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "%s is %s\n", name, state(disabled))
	return nil
}

// removeAccount removes an account. It fails if a key was used recently, unless --force is set. It asks the user for
// the account name, unless --yes is set.
func (p *program) removeAccount(ctx context.Context, f *file, name string, o *accountFlags) error {
	i, _, err := f.find(name)
	if err != nil {
		return err
	}
	if !o.force {
		info, _ := o.askServer(ctx, f.path) // if the server does not respond, the check uses only the recorded last uses
		if err := f.accountInUse(name, info, time.Now()); err != nil {
			return err
		}
	}
	if !o.yes {
		if err := p.Confirm("account", name, fmt.Sprintf("Account %s and its keys will be removed. This cannot be undone.", name), "nothing is changed"); err != nil {
			return err
		}
	}
	f.lines = slices.Delete(f.lines, i, i+1)
	if err := p.saveAccounts(f); err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "%s is removed; its tables stay for a later account with the same name\n", name)
	return nil
}

// saveAccounts saves an accounts file. It prints a warning if servers may ignore the file.
func (p *program) saveAccounts(f *file) error {
	if p.Environment(accounts.Variable) != "" {
		fmt.Fprintf(p.Err, "$%s is set: a server that has this variable ignores %s unless it gets --accounts\n", accounts.Variable, f.path)
	}
	_, err := os.Stat(f.path)
	if saved := f.save(); saved != nil {
		return saved
	}
	if err != nil {
		fmt.Fprintln(p.Err, "made", f.path)
	}
	return nil
}
