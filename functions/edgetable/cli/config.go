package cli

import (
	"bufio"
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

// Variable returns the name of a flag's environment variable. The variable of --accounts is an exception, since
// accounts.Variable holds the accounts themselves.
func Variable(flag string) string {
	if flag == "accounts" {
		return accounts.Variable + "_FILE"
	}
	return "EDGETABLE_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// Settable reports whether a flag may come from the environment and the file.
func Settable(flag string) bool {
	return flag != "help" && flag != "version" && flag != "config" && flag != "print-config" && flag != helpAllName
}

// configLine is a line of a configuration file.
type configLine struct {
	number int
	value  string
}

// Configure sets the flags that are missing on the command line, from the environment and then from the configuration
// file.
func (p *Terminal) Configure(c *cobra.Command) error {
	if c.DisableFlagParsing { // the command that computes completions parses the flags of the other commands itself
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

// variablesOf returns the variables of flags and all other known variables.
func variablesOf(flags map[string]bool) []string {
	list := slices.Clone(otherVariables)
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		if flags[name] {
			list = append(list, Variable(name))
		}
	}
	return list
}

// askServer lists the commands that ask the running server on this machine.
var askServer = []string{"account", "backup create", "explorer", "health", "sas", "traffic"}

// packaged returns the settings file of an installed Linux package, for a command that concerns the package's server.
// It returns "" if the command line names another server or data directory.
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
	_ = f.Close() // nothing was written, so an error of Close does not matter
	return p.Packaged
}

// environmentKey marks a flag that the environment has set.
const environmentKey = "environment"

// FromEnvironment reports whether a flag was set by the environment. An image sets variables for all commands, so
// such a flag may not apply to a command without being a mistake.
func FromEnvironment(f *pflag.Flag) bool {
	_, ok := f.Annotations[environmentKey]
	return ok
}

// Ignore resets a flag to its default.
func Ignore(f *pflag.Flag) {
	_ = f.Value.Set(f.DefValue) // the default is always a valid value
	f.Changed = false
}

// Setting returns the values of a flag from the environment, or else from the configuration file. The flag may belong
// to another command.
func (p *Terminal) Setting(flag string) (values []string) {
	if text := p.Environment(Variable(flag)); text != "" {
		return []string{text}
	}
	for _, line := range p.lines[flag] {
		values = append(values, line.value)
	}
	return values
}

// reason returns the cause of a flag error, without the flag and its value.
func reason(f *pflag.Flag, err error) string {
	_, text, _ := strings.Cut(err.Error(), `"--`+f.Name+`" flag: `)
	return cmp.Or(text, err.Error())
}

// readConfig reads a configuration file: lines of the form name = value; lines that begin with # are comments. A flag
// that takes several values may have several lines.
func readConfig(file string, known map[string]bool) (map[string][]configLine, error) {
	if file == "" {
		return nil, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	defer f.Close()
	lines, scanner := map[string][]configLine{}, bufio.NewScanner(f)
	for number := 1; scanner.Scan(); number++ {
		text := strings.TrimSpace(strings.TrimPrefix(scanner.Text(), "\ufeff"))
		if text == "" || text[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(text, "=")
		if name = strings.TrimSpace(name); !ok || !known[name] {
			return nil, Misuse("%s line %d: %q is not a flag: write name = value, as 'edgetable serve --help-all' lists them, without dashes", file, number, name)
		}
		lines[name] = append(lines[name], configLine{number, strings.TrimSpace(value)})
	}
	return lines, scanner.Err()
}

// flagNames returns the flags of all commands, since a file may serve several commands.
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

// PrintConfig writes the flags of a command as a configuration file. It omits flags that only matter with other
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
			case strings.Contains(f.Usage, "; default "): // the zero value in the flag differs from the default in the help, so it is not printed
			case f.Value.String() != "":
				fmt.Fprintf(&lines, "# %s = %s\n", f.Name, f.Value)
			}
		})
		if lines.Len() > 0 {
			fmt.Fprintf(w, "# %s\n%s\n", heading, lines.String())
		}
	}
}
