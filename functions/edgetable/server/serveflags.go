package server

import (
	"cmp"
	"log/slog"
	"net/url"
	"time"

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
	listenFromImage        bool // true if an environment variable sets --listen, as in container images

	acme    acmeFlags
	metrics metricsFlags
	protect protectFlags
	bearer  bearerFlags
	chaos   chaosFlags
	backup  backup.Flags
	second  secondary.Flags
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

func (o *serveFlags) hasSocket() bool { return o.admin != "" || o.DataDirectory() != "" }

type explorerFlag struct{ on, given bool }

func (e *explorerFlag) register(f *pflag.FlagSet) {
	cli.BoolFlag(f, &e.on, "explorer", "serve the explorer's page at /_/; default on if no other machine can reach the server, else off; =false turns the page off")
}
