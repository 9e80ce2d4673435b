package main

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/core/protocol"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	storeFlags
	listen, accounts       string
	tlsCert, tlsKey        string
	devAnywhere, pathStyle bool
	trustProxy             bool
	publicURL              string
	explorer               explorerFlag
	skew, drain, grace     time.Duration
	admin                  string
	logFormat              string
	logLevel               slog.Level
	accessLog              string
	slowQuery              time.Duration

	acme    acmeFlags
	metrics metricsFlags
	traces  tracesFlags
	protect protectFlags
	bearer  bearerFlags
	chaos   chaosFlags
	backup  backupFlags
}

func (p *serverProgram) serveCommand() *cobra.Command {
	o := serveFlags{storeFlags: newStoreFlags()}
	var print bool
	c := &cobra.Command{
		Use: "serve", Short: "Serve tables from a data directory, from memory, or from DynamoDB",
		Long: "Prints \"ready\" when it takes requests, and serves until it is interrupted.",
		Example: `  edgetable serve --data /var/lib/edgetable
  edgetable serve --memory
  edgetable serve --accounts accounts --listen 0.0.0.0:443 --tls-cert cert.pem --tls-key key.pem
  edgetable serve --store dynamodb --dynamodb-table edgetable --accounts accounts`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.check(c.Flags()); err != nil {
				return err
			}
			if print {
				printConfig(p.out, c)
				return nil
			}
			return p.runServer(c.Context(), &o)
		},
	}
	section(c, "Address", o.registerAddress)
	section(c, "Certificates from an authority", o.acme.register)
	section(c, "Accounts", func(f *pflag.FlagSet) {
		accountsFlag(f, &o.accounts)
		boolFlag(f, &o.devAnywhere, "allow-development-account", "serve the development account to other machines too; its key is public")
	})
	section(c, "Bearer tokens", o.bearer.register)
	o.storeFlags.sections(func(heading string, register func(*pflag.FlagSet)) { section(c, heading, register) })
	section(c, "Backups", o.backup.register)
	section(c, "Limits", o.registerLimits)
	section(c, "Operation", o.registerOperation)
	section(c, "Metrics and traces", func(f *pflag.FlagSet) {
		o.metrics.register(f)
		o.traces.register(f)
	})
	section(c, "Simulated faults", o.chaos.register)
	boolFlag(c.Flags(), &print, "print-config", "print the flags as a configuration file and exit; no key is among them")
	return c
}

func (o *serveFlags) registerAddress(f *pflag.FlagSet) {
	listenFlag(f, &o.listen, usualAddress)
	f.StringVar(&o.tlsCert, "tls-cert", "", "`file` with the certificate chain in PEM: serve HTTPS")
	f.StringVar(&o.tlsKey, "tls-key", "", "`file` with the certificate's key in PEM")
	f.StringVar(&o.publicURL, "public-url", "", "`URL` of the server for clients, such as https://tables.example.com; shown at start")
	o.explorer.register(f)
	boolFlag(f, &o.pathStyle, "path-style", "take the account from the path whatever the host is")
	boolFlag(f, &o.trustProxy, "trust-proxy", "trust X-Forwarded-Proto, X-Forwarded-Host and the last entry of X-Forwarded-For; only behind a proxy that sets them")
}

func (o *serveFlags) registerLimits(f *pflag.FlagSet) {
	o.protect.register(f)
	durationFlag(f, &o.skew, "max-skew", 15*time.Minute, 0, maxTime, "how far the date of a request may be from now; 0 does not check")
}

func (o *serveFlags) registerOperation(f *pflag.FlagSet) {
	adminFlag(f, &o.admin, ", if there is one")
	durationFlag(f, &o.grace, "grace", 10*time.Second, 0, maxTime, "how long requests may continue after an interrupt; a second interrupt ends them")
	durationFlag(f, &o.drain, "drain", 0, 0, maxTime, "how long to serve after an interrupt while /_/ready answers 503, before --grace begins")
	choiceFlag(f, &o.logFormat, "log-format", "`format` of the log on standard error, text or json", "text", "json")
	levelFlag(f, &o.logLevel, "log-level", "least `level` that is logged: debug (every request), info, warn or error")
	f.StringVar(&o.accessLog, "access-log", "", "`file` that gets a line for each request, opened again on SIGHUP; - is standard error; default none")
	durationFlag(f, &o.slowQuery, "slow-query", time.Second, 0, maxTime, "log each query that takes this long, with the shape of its filter; 0 logs none")
}

// check finds flags that do not go together.
func (o *serveFlags) check(flags *pflag.FlagSet) error {
	given := flags.Changed
	if (o.tlsCert == "") != (o.tlsKey == "") {
		return misuse("--tls-cert and --tls-key go together")
	}
	if u, err := url.Parse(o.publicURL); o.publicURL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil) {
		return misuse("--public-url is a URL such as https://tables.example.com, not %q", o.publicURL)
	}
	o.explorer.given = given("explorer")
	if err := o.metrics.check(); err != nil {
		return err
	}
	if err := o.acme.check(o.dataDirectory(), o.tlsCert, given); err != nil {
		return err
	}
	if _, err := o.traces.url(); err != nil {
		return err
	}
	if o.kind().remote {
		o.protect.wait(given)
	}
	if err := o.storeFlags.check(flags); err != nil {
		return err
	}
	return o.backup.check(given)
}

func newProtocol(b *backend, known *knownAccounts, o *serveFlags) *protocol.Handler {
	return &protocol.Handler{
		Service:     newService(b.store, b.scan),
		Accounts:    known.Find,
		Now:         now,
		NewID:       protocol.RandomID(rand.Uint64),
		WithTimeout: context.WithTimeout,
		MaxSkew:     o.skew,
		PathStyle:   o.pathStyle,
		Limits:      o.protect.buckets(now),
	}
}
