package server

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/replicate/follow"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/stores"
)

func (p *program) serveCommand() *cobra.Command {
	o := serveFlags{Flags: stores.NewFlags()}
	var print bool
	c := &cobra.Command{
		Use: "serve", Short: "Serve tables from a data directory, memory, PostgreSQL or DynamoDB",
		Long: "Prints \"ready\" when it accepts requests, and serves until it is interrupted.",
		Example: `  edgetable serve --data /var/lib/edgetable
  edgetable serve --memory
  edgetable serve --listen 0.0.0.0:443 --tls-cert cert.pem --tls-key key.pem
  edgetable serve --store postgres --accounts accounts \
      --postgres-dsn postgres://edgetable@db.example/edgetable
  edgetable serve --store dynamodb --dynamodb-table edgetable`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.check(c.Flags()); err != nil {
				return err
			}
			if print {
				cli.PrintConfig(p.Out, c)
				return nil
			}
			ctx := c.Context()
			if o.untilEOF {
				ctx = p.untilEOF(ctx)
			}
			var at listening
			for { // a secondary that has built its store returns ErrBuilt and must run again
				if err := p.runServer(ctx, &o, &at); !errors.Is(err, follow.ErrBuilt) || ctx.Err() != nil {
					return errors.Join(err, at.close())
				}
			}
		},
	}
	cli.Section(c, "Address", o.registerAddress)
	cli.Section(c, "Certificates from an authority", func(f *pflag.FlagSet) { o.acme.register(f, p.Environment) })
	cli.Section(c, "Accounts", func(f *pflag.FlagSet) {
		cli.AccountsFlag(f, &o.accounts)
		cli.BoolFlag(f, &o.devAnywhere, "allow-development-account", "serve the development account to other machines too; its key is public")
	})
	cli.Section(c, "Bearer tokens", o.bearer.register)
	o.Flags.Sections(func(heading string, register func(*pflag.FlagSet)) { cli.Section(c, heading, register) })
	cli.Section(c, "Backups", o.backup.Register)
	cli.Section(c, "A secondary", o.second.Register)
	cli.Section(c, "Limits", o.registerLimits)
	cli.Section(c, "Operation", o.registerOperation)
	cli.Section(c, "Metrics", o.metrics.register)
	cli.Section(c, "Simulated faults", o.chaos.register)
	cli.BoolFlag(c.Flags(), &print, "print-config", "print the flags as a configuration file and exit; it contains no keys")
	cli.Short(c, "listen", "tls-cert", "tls-key", "acme-domain", "trust-proxy", "explorer", "accounts", "store", "data", "memory",
		"postgres-dsn", "dynamodb-table", "backup-to", "backup-log", "secondary-of", "log-format", "access-log", "metrics-listen", "help")
	return c
}
