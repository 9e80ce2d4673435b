package cli

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Short limits the help of a command to the given flags, which most users need. --help-all lists all flags.
func Short(c *cobra.Command, flags ...string) {
	c.InitDefaultHelpFlag()
	for _, name := range flags {
		f := c.Flags().Lookup(name)
		if f.Annotations == nil {
			f.Annotations = map[string][]string{}
		}
		f.Annotations[commonKey] = nil
	}
	c.Flags().VarPF(helpAll{c}, helpAllName, "", "help with all flags").NoOptDefVal = "true"
}

const helpAllName = "help-all"

type helpAll struct{ command *cobra.Command }

func (h helpAll) Set(text string) error { return h.command.Flags().Set("help", text) }
func (helpAll) String() string          { return "false" }
func (helpAll) Type() string            { return "bool" }

// Section adds flags to a command under a heading of the help.
func Section(c *cobra.Command, heading string, register func(f *pflag.FlagSet)) {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.SortFlags = false
	register(f)
	f.VisitAll(func(flag *pflag.Flag) {
		complete := cobra.FixedCompletions(flag.Annotations[wordsKey], cobra.ShellCompDirectiveDefault)
		if v, ok := flag.Value.(completed); ok {
			complete = v.complete
		}
		flag.Annotations = map[string][]string{headingKey: {heading}}
		c.Flags().AddFlag(flag)
		_ = c.RegisterFlagCompletionFunc(flag.Name, complete) // this cannot fail, because the function is registered only once
	})
	c.Flags().SortFlags = false
}

// completed is a flag value with a completion function.
type completed struct {
	pflag.Value
	complete cobra.CompletionFunc
}

// CompleteWith sets the completion function of a flag.
func CompleteWith(f *pflag.FlagSet, name string, complete cobra.CompletionFunc) {
	flag := f.Lookup(name)
	flag.Value = completed{flag.Value, complete}
}

// Sections returns the flags of a command by heading, with the headings in the order of the calls of Section. Flags
// without a heading come last.
func Sections(c *cobra.Command) (headings []string, flags map[string]*pflag.FlagSet) {
	flags = map[string]*pflag.FlagSet{}
	add := func(f *pflag.Flag) {
		heading := "Other flags"
		if h := f.Annotations[headingKey]; h != nil {
			heading = h[0]
		}
		if flags[heading] == nil {
			flags[heading] = pflag.NewFlagSet("", pflag.ContinueOnError)
			flags[heading].SortFlags = false
			headings = append(headings, heading)
		}
		flags[heading].AddFlag(f)
	}
	c.LocalFlags().VisitAll(add)
	c.InheritedFlags().VisitAll(add)
	if i := slices.Index(headings, "Other flags"); i >= 0 {
		headings = append(slices.Delete(headings, i, i+1), "Other flags")
	}
	return headings, flags
}

// columns is the line width of the help.
const columns = 80

// Usage returns the help of a command.
func Usage(c *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.\n\nUsage: %s\n", reflow(c.Short), c.UseLine())
	if c.Long != "" {
		fmt.Fprintf(&b, "\n%s\n", reflow(c.Long))
	}
	if examples := Examples(c); examples != "" {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", breakLines(examples))
	}
	if c.HasAvailableSubCommands() {
		if len(c.Groups()) == 0 {
			b.WriteString("\nCommands:\n")
			list(&b, c, "")
		}
		for _, g := range c.Groups() {
			fmt.Fprintf(&b, "\n%s:\n", g.Title)
			list(&b, c, g.ID)
		}
		fmt.Fprintf(&b, "\n'%s COMMAND --help' lists the flags of a command.\n", c.CommandPath())
	}
	if all := c.Flags().Lookup(helpAllName); all != nil && !all.Changed {
		fmt.Fprintf(&b, "\nMost used flags (--%s lists all):\n%s", helpAllName, common(c).FlagUsagesWrapped(columns))
		return b.String()
	}
	headings, flags := Sections(c)
	for _, heading := range headings {
		fmt.Fprintf(&b, "\n%s:\n%s", heading, flags[heading].FlagUsagesWrapped(columns))
	}
	return b.String()
}

// Examples returns the examples of a command. For a group, it returns the first example of each command in the group.
func Examples(c *cobra.Command) string {
	if c.Example != "" || !c.HasParent() {
		return c.Example
	}
	var list []string
	for _, sub := range c.Commands() {
		if one := Examples(sub); sub.IsAvailableCommand() && one != "" {
			first, rest, more := strings.Cut(one, "\n")
			for more && strings.HasSuffix(first, "\\") { // the example continues on the next line
				var next string
				next, rest, more = strings.Cut(rest, "\n")
				first += "\n" + next
			}
			list = append(list, first)
		}
	}
	return strings.Join(list, "\n")
}

// breakLines breaks long example lines before a flag, with a backslash for the shell.
func breakLines(examples string) string {
	const end, begin = " \\", "      "
	lines := strings.Split(examples, "\n")
	for i := 0; i < len(lines); i++ {
		if utf8.RuneCountInString(lines[i]) <= columns {
			continue
		}
		if at := strings.LastIndex(lines[i][:columns-len(end)+2], " --"); at > 0 { // the line breaks before the last flag that begins within the line width
			lines = slices.Insert(lines, i+1, begin+lines[i][at+1:])
			lines[i] = lines[i][:at] + end
		}
	}
	return strings.Join(lines, "\n")
}

// common returns the flags of the short help. Their usage is truncated at the first semicolon.
func common(c *cobra.Command) *pflag.FlagSet {
	some := pflag.NewFlagSet("", pflag.ContinueOnError)
	some.SortFlags = false
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if _, ok := f.Annotations[commonKey]; ok {
			short := *f
			short.Usage, _, _ = strings.Cut(f.Usage, ";")
			some.AddFlag(&short)
		}
	})
	return some
}

// list writes the names and descriptions of the subcommands in a group.
func list(b *strings.Builder, c *cobra.Command, group string) {
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && sub.GroupID == group {
			fmt.Fprintf(b, "  %-12s %s\n", sub.Name(), wrap(columns, len("  ")+12+1, sub.Short))
		}
	}
}

// reflow wraps paragraphs. A paragraph with an indented line, such as a table or an example, is not changed.
func reflow(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		if strings.HasPrefix(p, " ") || strings.Contains(p, "\n ") {
			continue
		}
		paragraphs[i] = wrap(columns, 0, p)
	}
	return strings.Join(paragraphs, "\n\n")
}
