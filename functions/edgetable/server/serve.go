package server

import (
	"cmp"
	"errors"
	"log/slog"
	"net/url"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/functions/edgetable/backup"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/secondary"
	"edgetable/functions/edgetable/stores"
)

type serveFlags struct {
	stores.Flags
	listen, accounts       string
	tlsCert, tlsKey        string
	devAnywhere, pathStyle bool
	extensions             bool
	trustProxy             bool
	publicURL              string
	explorer               explorerFlag
	skew, drain, grace     time.Duration
	admin                  string
	logFormat              string
	logLevel               slog.Level
	accessLog              string
	slowQuery              time.Duration
	untilEOF               bool
	listenFromImage        bool // an environment variable has set --listen, as in container images

	acme    acmeFlags
	metrics metricsFlags
	protect protectFlags
	bearer  bearerFlags
	chaos   chaosFlags
	backup  backup.Flags
	second  secondary.Flags
}

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
			for { // when a secondary has built its store, runServer returns ErrBuilt and is called again with this store
				if err := p.runServer(ctx, &o, &at); !errors.Is(err, secondary.ErrBuilt) || ctx.Err() != nil {
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

func (o *serveFlags) registerAddress(f *pflag.FlagSet) {
	cli.ListenFlag(f, &o.listen, cli.UsualAddress)
	f.StringVar(&o.tlsCert, "tls-cert", "", "`file` with the certificate chain in PEM: serve HTTPS")
	f.StringVar(&o.tlsKey, "tls-key", "", "`file` with the certificate's key in PEM")
	f.StringVar(&o.publicURL, "public-url", "", "`URL` of the server for clients, such as https://tables.example.com; shown at start")
	o.explorer.register(f)
	cli.BoolFlag(f, &o.pathStyle, "path-style", "always read the account from the path, never from the host")
	cli.BoolFlag(f, &o.trustProxy, "trust-proxy", "trust X-Forwarded-Proto, X-Forwarded-Host and the last entry of X-Forwarded-For; only behind a proxy that sets them")
}

func (o *serveFlags) registerLimits(f *pflag.FlagSet) {
	o.protect.register(f)
	cli.DurationFlag(f, &o.skew, "max-skew", 15*time.Minute, 0, cli.MaxTime, "maximum difference between the date of a request and now; 0 disables the check")
}

func (o *serveFlags) registerOperation(f *pflag.FlagSet) {
	cli.BoolFlag(f, &o.extensions, "extensions", "accept requests that Azure refuses: startswith, endswith, contains and substringof in filters, $orderby by the keys, and /table()/$count")
	cli.AdminFlag(f, &o.admin, ", if there is one")
	cli.BoolFlag(f, &o.untilEOF, "until-eof", "stop when standard input ends, as if interrupted; for tests, so that no server outlives the process that started it")
	cli.DurationFlag(f, &o.grace, "grace", 10*time.Second, 0, cli.MaxTime, "maximum time for running requests after an interrupt; a second interrupt ends them at once")
	cli.DurationFlag(f, &o.drain, "drain", 0, 0, cli.MaxTime, "time to continue serving after an interrupt, while /_/ready answers 503, before --grace begins")
	cli.ChoiceFlag(f, &o.logFormat, "log-format", "`format` of the log on standard error, text or json", "text", "json")
	cli.LevelFlag(f, &o.logLevel, "log-level", "minimum `level` that is logged: debug (every request), info, warn or error")
	f.StringVar(&o.accessLog, "access-log", "", "`file` for the access log, one line per request; reopened on SIGHUP; - means standard error; default none")
	cli.DurationFlag(f, &o.slowQuery, "slow-query", time.Second, 0, cli.MaxTime, "minimum duration of queries that are logged, with the shape of their filters; 0 logs no queries")
}

// check returns an error if flags contradict each other.
func (o *serveFlags) check(flags *pflag.FlagSet) error {
	given := flags.Changed
	if (o.tlsCert == "") != (o.tlsKey == "") {
		return cli.Misuse("--tls-cert and --tls-key go together: give both, or none")
	}
	if u, err := url.Parse(o.publicURL); o.publicURL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil) {
		return cli.Misuse("--public-url must be a URL such as https://tables.example.com, not %q", o.publicURL)
	}
	o.explorer.given = given("explorer")
	o.listenFromImage = cli.FromEnvironment(flags.Lookup("listen"))
	o.protect.remote = o.Kind().Remote
	return cmp.Or(o.metrics.check(), o.acme.check(o.DataDirectory(), o.tlsCert),
		o.Flags.Check(flags), o.second.Check(given, o.DataDirectory()), o.backup.Check(given))
}

// hasSocket reports whether the server has an administration socket.
func (o *serveFlags) hasSocket() bool { return o.admin != "" || o.DataDirectory() != "" }
