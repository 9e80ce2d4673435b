package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// root is the command line: all commands with their flags.
func (p *program) root() *cobra.Command {
	root := p.group("edgetable", "A table store that speaks the Azure Table Storage protocol", `Every flag can also be set in the environment and in a configuration file: the
variable of --log-level is EDGETABLE_LOG_LEVEL, its line in the file is
log-level = debug. The command line comes first, then the environment, then the
file. docs/flags.md lists all flags with their variables.`,
		p.serveCommand(), p.accountCommand(), p.signCommand(), p.sasCommand(), p.benchCommand(), p.backupCommand(), p.checkCommand(),
		p.explorerCommand(), p.profileCommand(), p.queryCommand(), p.getCommand(), p.putCommand(), p.deleteCommand(), p.countCommand(), p.statCommand(),
		p.exportCommand(), p.importCommand(), p.copyCommand(), p.syncCommand(), p.verifyCommand(), p.purgeDataCommand(),
		p.statsCommand(), p.adviseCommand(), p.loadtestCommand(), p.dynamodbCommand(), p.tableCommand(), p.healthCommand(), p.completionCommand(), p.manCommand(), p.versionCommand())
	demandOperands(root)
	root.Version = version() // without a template: with one, the linker keeps every method of every type, a fifth of the program
	root.SetOut(p.out)
	root.SetErr(p.err)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { fmt.Fprint(p.out, usage(c)) })
	root.SetHelpCommand(p.helpCommand())
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return misuse("%v%s", err, twoDashes(c, p.args)) })
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		p.understood = true
		err := p.configure(c)
		f := c.Flags().Lookup("json")
		p.events = f != nil && f.Value.String() == "true"
		return err
	}
	root.PersistentFlags().String("config", "", "`file` with flags, a line each: name = value")
	return root
}

// group is a command that only has commands below it.
func (p *program) group(name, short, long string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: name + " COMMAND", Short: short, Long: long,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return misuse("there is no command %q%s", args[0], suggestion(c, args[0]))
			}
			return misuse("say what to do: %s", names(c))
		},
		RunE: func(*cobra.Command, []string) error { return nil }, // Args refuses everything
	}
	c.AddCommand(commands...)
	return c
}

// suggestion names the commands that one with a spelling mistake may mean.
func suggestion(c *cobra.Command, name string) string {
	c.SuggestionsMinimumDistance = 2
	switch like := c.SuggestionsFor(name); {
	case len(like) > 0:
		return "; do you mean " + oneOf(like) + "?"
	case c.HasParent():
		return ": say " + names(c)
	}
	return ""
}

// names are the commands of a group.
func names(c *cobra.Command) string {
	var list []string
	for _, sub := range c.Commands() {
		list = append(list, sub.Name())
	}
	return oneOf(list)
}

// twoDashes explains a flag with one dash, as in -data. Single letters are the only
// flags that have one.
func twoDashes(c *cobra.Command, args []string) string {
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		if len(name) > 2 && name[0] == '-' && name[1] != '-' && c.Flags().Lookup(name[1:]) != nil {
			return ": write --" + name[1:]
		}
	}
	return ""
}

// operands demands the arguments that the use of a command names, as in "query TABLE
// [FILTER]". One with … stands for any number.
func operands(use string) cobra.PositionalArgs {
	names := strings.Fields(use)[1:]
	return func(_ *cobra.Command, args []string) error {
		for i, name := range names {
			switch {
			case strings.Contains(name, "…"), i == len(args) && name[0] == '[':
				return nil
			case i == len(args):
				return misuse("%s is missing", name)
			}
		}
		if len(args) > len(names) {
			return misuse("%q is too much", args[len(names)])
		}
		return nil
	}
}

// demandOperands sets the arguments of all commands below c that have none.
func demandOperands(c *cobra.Command) {
	for _, sub := range c.Commands() {
		if sub.Args == nil {
			sub.Args = operands(sub.Use)
		}
		demandOperands(sub)
	}
}

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version",
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintln(p.out, "edgetable version", version())
			return nil
		},
	}
}

func (p *program) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Print what a command does",
		RunE: func(c *cobra.Command, args []string) error {
			found, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return misuse("there is no command %q%s", strings.Join(args, " "), suggestion(found, rest[0]))
			}
			found.InitDefaultHelpFlag()
			fmt.Fprint(p.out, usage(found))
			return nil
		},
	}
}

// section adds flags to a command under a heading of its help.
func section(c *cobra.Command, heading string, register func(f *pflag.FlagSet)) {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.SortFlags = false
	register(f)
	f.VisitAll(func(flag *pflag.Flag) {
		complete := cobra.FixedCompletions(flag.Annotations[wordsKey], cobra.ShellCompDirectiveDefault)
		if flag.Annotations[serviceKey] != nil {
			complete = completeProfiles
		}
		flag.Annotations = map[string][]string{headingKey: {heading}}
		c.Flags().AddFlag(flag)
		_ = c.RegisterFlagCompletionFunc(flag.Name, complete) // it is not registered yet
	})
	c.Flags().SortFlags = false
}

// sections are the flags of a command by their headings, in the order in which
// they were added. Those without a heading come last.
func sections(c *cobra.Command) (headings []string, flags map[string]*pflag.FlagSet) {
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

// usage is the help of a command.
func usage(c *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.\n\nUsage: %s\n", c.Short, c.UseLine())
	if c.Long != "" {
		fmt.Fprintf(&b, "\n%s\n", c.Long)
	}
	if c.Example != "" {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", c.Example)
	}
	if c.HasAvailableSubCommands() {
		b.WriteString("\nCommands:\n")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(&b, "  %-12s %s\n", sub.Name(), sub.Short)
			}
		}
		fmt.Fprintf(&b, "\n'%s COMMAND --help' lists the flags of a command.\n", c.CommandPath())
	}
	headings, flags := sections(c)
	for _, heading := range headings {
		fmt.Fprintf(&b, "\n%s:\n%s", heading, flags[heading].FlagUsagesWrapped(110))
	}
	return b.String()
}
