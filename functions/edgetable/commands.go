package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"edgetable/functions/edgetable/account"
	"edgetable/functions/edgetable/azurite"
	"edgetable/functions/edgetable/backup"
	"edgetable/functions/edgetable/bench"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/client"
	"edgetable/functions/edgetable/edge"
	"edgetable/functions/edgetable/localexplorer"
	"edgetable/functions/edgetable/secondary"
	"edgetable/functions/edgetable/server"
	"edgetable/functions/edgetable/stores"
	"edgetable/functions/edgetable/tables"
	"edgetable/functions/edgetable/trafficreport"
	"edgetable/functions/edgetable/watch"
)

func (p *program) root() *cobra.Command {
	root := cli.Group("edgetable", "A table store that speaks the Azure Table Storage protocol", `Every flag can also be set in the environment and in a configuration file: the
variable of --log-level is EDGETABLE_LOG_LEVEL, its line in the file is
log-level = debug. The command line comes first, then the environment, then the
file. docs/flags.md lists all flags with their variables.`,
		slices.Concat(server.Commands(p.Terminal, p.signals), account.Commands(p.Terminal), backup.Commands(p.Terminal), secondary.Commands(p.Terminal), stores.Commands(p.Terminal), client.Commands(p.Terminal), trafficreport.Commands(p.Terminal),
			[]*cobra.Command{
				localexplorer.Command(p.Terminal), tables.Command(p.Terminal), watch.Command(p.Terminal), edge.Command(p.Terminal), bench.Command(p.Terminal),
				p.completionCommand(), p.manCommand(), p.versionCommand(),
			})...)
	cli.DemandOperands(root)
	root.Version = cli.Version() // do not set a template: the linker would then keep every method, and the program would be a fifth larger
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		// report an unknown command instead of printing help
		if c.HasSubCommands() && c.Flags().NArg() > 0 {
			p.misnamed = c.ValidateArgs(c.Flags().Args())
			return
		}
		fmt.Fprint(p.Out, cli.Usage(c))
	})
	root.SetHelpCommand(p.helpCommand())
	inGroups(root)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if hint := azurite.Hint(err); hint != "" && (c.Name() == "serve" || !c.HasParent()) {
			return cli.Misuse("%v; %s", err, hint)
		}
		return cli.WrongFlag(c, p.args, err)
	})
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		p.understood = true
		err := p.Configure(c)
		p.Events = cli.PrintsEvents(c.Flags())
		return err
	}
	root.PersistentFlags().String("config", "", "`file` with flags, a line each: name = value")
	return root
}

func (p *program) versionCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "version", Short: "Print the version", Example: "  edgetable version --json",
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				var v struct {
					Version string `json:"version"`
					Commit  string `json:"commit"`
				}
				v.Version, v.Commit = cli.Built()
				return p.PrintJSON(v)
			}
			fmt.Fprintln(p.Out, "edgetable version", cli.Version())
			return nil
		},
	}
	cli.JSONFlag(c.Flags(), &asJSON)
	return c
}

func (p *program) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Print what a command does",
		RunE: func(c *cobra.Command, args []string) error {
			found, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return cli.Misuse("unknown command %q%s", strings.Join(args, " "), cli.Suggestion(found, rest[0]))
			}
			found.InitDefaultHelpFlag()
			fmt.Fprint(p.Out, cli.Usage(found))
			return nil
		},
	}
}
