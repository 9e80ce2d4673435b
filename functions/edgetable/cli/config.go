package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/core/accounts"
)

// Variable returns the name of a flag's environment variable. --accounts is an exception, because accounts.Variable
// contains the accounts themselves.
func Variable(flag string) string {
	if flag == "accounts" {
		return accounts.Variable + "_FILE"
	}
	return "EDGETABLE_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// Settable reports whether a flag can be set in the environment and the configuration file.
func Settable(flag string) bool {
	return flag != "help" && flag != "version" && flag != "config" && flag != "print-config" && flag != helpAllName
}

// Configure sets the flags that the command line does not set. It takes their values from the environment. For flags
// that are not in the environment, it takes them from the configuration file.
func (p *Terminal) Configure(c *cobra.Command) error {
	if c.DisableFlagParsing { // the completion command parses the flags of other commands itself
		return nil
	}
	file := cmp.Or(c.Flag("config").Value.String(), p.Environment(Variable("config")), p.packaged(c))
	names := flagNames(c.Root())
	p.known, p.overridden = variablesOf(names), nil
	lines, err := readConfig(file, names)
	if err != nil {
		return err
	}
	p.lines = lines
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if err != nil || f.Changed || !Settable(f.Name) || file == p.Packaged && c.Name() == "explorer" && f.Name == "listen" {
			return
		}
		if text := p.Environment(Variable(f.Name)); text != "" {
			if e := c.Flags().Set(f.Name, text); e != nil {
				err = Misuse("$%s=%q: %v", Variable(f.Name), text, reason(f, e))
			}
			if f.Annotations == nil {
				f.Annotations = map[string][]string{}
			}
			f.Annotations[environmentKey] = nil
			if line := lines[f.Name]; len(line) > 0 && line[len(line)-1].value != text {
				p.overridden = append(p.overridden, Overridden{Flag: f.Name, Variable: Variable(f.Name), Value: text, Line: line[len(line)-1].value})
			}
			return
		}
		for _, line := range lines[f.Name] {
			if e := c.Flags().Set(f.Name, line.value); e != nil {
				err = Misuse("%s line %d: %s = %s: %v", file, line.number, f.Name, line.value, reason(f, e))
				return
			}
		}
	})
	return err
}

// variablesOf returns the names of all known variables, including the variables of the given flags.
func variablesOf(flags map[string]bool) []string {
	list := slices.Clone(otherVariables)
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		if flags[name] {
			list = append(list, Variable(name))
		}
	}
	return list
}

// askServer are the commands that send requests to the server on this machine.
var askServer = []string{"account", "backup create", "explorer", "health", "sas", "traffic"}

// packaged returns the configuration file of the installed Linux package if the command works with the server of this
// package. It returns "" if a flag or a variable names another server.
func (p *Terminal) packaged(c *cobra.Command) string {
	_, path, _ := strings.Cut(c.CommandPath(), " ")
	if p.Packaged == "" || !slices.ContainsFunc(askServer, func(one string) bool { return path == one || strings.HasPrefix(path, one+" ") }) {
		return ""
	}
	for _, name := range []string{"data", "admin", "accounts", "listen", "from", "endpoint"} {
		if f := c.Flag(name); f != nil && (f.Changed || p.Environment(Variable(name)) != "") {
			return ""
		}
	}
	if p.Environment(accounts.Variable) != "" {
		return ""
	}
	if f := c.Flag("data"); f != nil {
		if _, err := os.Stat(f.DefValue); err == nil {
			return ""
		}
	}
	f, err := os.Open(p.Packaged)
	if err != nil {
		return ""
	}
	_ = f.Close()
	return p.Packaged
}

// environmentKey annotates flags that the environment has set.
const environmentKey = "environment"

// FromEnvironment reports whether the environment has set a flag. Such a flag need not suit a command, because a
// container image sets variables for all commands.
func FromEnvironment(f *pflag.Flag) bool {
	_, ok := f.Annotations[environmentKey]
	return ok
}

// Ignore resets a flag to its default value.
func Ignore(f *pflag.Flag) {
	_ = f.Value.Set(f.DefValue) // the default of a flag is always valid
	f.Changed = false
}

// Setting returns the values of a flag from the environment. If the environment does not set the flag, the values are
// from the configuration file. The flag may belong to another command.
func (p *Terminal) Setting(flag string) (values []string) {
	if text := p.Environment(Variable(flag)); text != "" {
		return []string{text}
	}
	for _, line := range p.lines[flag] {
		values = append(values, line.value)
	}
	return values
}

// reason returns the cause of a flag error without the name and the value of the flag.
func reason(f *pflag.Flag, err error) string {
	_, text, _ := strings.Cut(err.Error(), `"--`+f.Name+`" flag: `)
	return cmp.Or(text, err.Error())
}

// flagNames returns a map whose keys are the flags of all commands, because a configuration file may be for several
// commands. The values report whether a flag is settable.
func flagNames(root *cobra.Command) map[string]bool {
	names := map[string]bool{}
	for _, c := range append(root.Commands(), root) {
		c.Flags().VisitAll(func(f *pflag.Flag) { names[f.Name] = Settable(f.Name) })
		for _, sub := range c.Commands() {
			sub.Flags().VisitAll(func(f *pflag.Flag) { names[f.Name] = Settable(f.Name) })
		}
	}
	return names
}

// PrintConfig writes the flags of a command as a configuration file, except flags whose default depends on other
// settings. No flag contains a secret.
func PrintConfig(w io.Writer, c *cobra.Command) {
	headings, flags := Sections(c)
	for _, heading := range headings {
		var lines strings.Builder
		flags[heading].VisitAll(func(f *pflag.Flag) {
			switch v, several := f.Value.(pflag.SliceValue); {
			case !Settable(f.Name):
			case several:
				for _, text := range v.GetSlice() {
					fmt.Fprintf(&lines, "%s = %s\n", f.Name, text)
				}
			case f.Changed:
				fmt.Fprintf(&lines, "%s = %s\n", f.Name, f.Value)
			case strings.Contains(f.Usage, "; default "): // the default is described in the usage and is not the value of the flag
			case f.Value.String() != "":
				fmt.Fprintf(&lines, "# %s = %s\n", f.Name, f.Value)
			}
		})
		if lines.Len() > 0 {
			fmt.Fprintf(w, "# %s\n%s\n", heading, lines.String())
		}
	}
}
