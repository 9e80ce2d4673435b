package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// root is the command line: all commands with their flags.
func (p *program) root() *cobra.Command {
	root := commandGroup("edgetable", "A table store that speaks the Azure Table Storage protocol", `Every flag can also be set in the environment and in a configuration file: the
variable of --log-level is EDGETABLE_LOG_LEVEL, its line in the file is
log-level = debug. The command line comes first, then the environment, then the
file. docs/flags.md lists all flags with their variables.`,
		slices.Concat(serverCommands(p.terminal, p.hangups), accountCommands(p.terminal), backupCommands(p.terminal), storesCommands(p.terminal), clientCommands(p.terminal),
			[]*cobra.Command{p.completionCommand(), p.manCommand(), p.versionCommand()})...)
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
