// Package azurite translates the command line of Azurite, so that programs, Compose files and Testcontainers that start
// "azurite" work unchanged with edgetable's container image.
package azurite

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"edgetable/functions/edgetable/cli"
)

// Names of Azurite's programs that serve tables.
const (
	All    = "azurite" // in Azurite, this program also serves blobs and queues
	Tables = "azurite-table"
)

// AccountsVariable is Azurite's environment variable with the accounts, as name:key1:key2, separated by semicolons.
const AccountsVariable = "AZURITE_ACCOUNTS"

// Start describes what to run when an Azurite program is started.
type Start struct {
	Args     []string // arguments of edgetable
	Help     string   // if not empty, this help is printed and nothing is started
	Accounts string   // if not empty, these accounts replace the development account
	Notes    []string
}

// Named checks whether the program was started as Azurite, by the name of the executable or by the first argument. If
// so, it returns Azurite's name and the remaining arguments. Otherwise the returned name is "".
func Named(program string, args []string) (name string, rest []string) {
	base := strings.TrimSuffix(filepath.Base(program), ".exe")
	if base == All || base == Tables {
		if len(args) > 0 && args[0] == base { // a command for Azurite's image may repeat the name from the entrypoint
			args = args[1:]
		}
		return base, args
	}
	if len(args) > 0 && (args[0] == All || args[0] == Tables) {
		return args[0], args[1:]
	}
	return "", args
}

// flags are Azurite's flags. The flags for blobs and queues have no effect.
type flags struct {
	host, port, location, debug string
	cert, key, pwd, oauth       string
	memory, pathStyle           bool
	extents                     string
	help, version               bool
}

func (o *flags) register(f *pflag.FlagSet) {
	f.StringVar(&o.host, "tableHost", "", "`address` to listen on")
	f.StringVar(&o.port, "tablePort", "", "`port` to listen on")
	f.StringVarP(&o.location, "location", "l", "", "`directory` of the tables")
	f.BoolVar(&o.memory, "inMemoryPersistence", false, "keep everything in memory")
	f.StringVar(&o.extents, "extentMemoryLimit", "", "`megabytes` for blobs and queues in memory: no effect")
	f.StringVarP(&o.debug, "debug", "d", "", "log every request to standard error, and not to this `file`")
	f.BoolP("loose", "L", false, "no effect")
	f.BoolP("silent", "s", false, "no effect: requests are not logged without --debug")
	f.Bool("skipApiVersionCheck", false, "no effect: every version is served")
	f.Bool("disableTelemetry", false, "no effect: edgetable sends no telemetry")
	f.BoolVar(&o.pathStyle, "disableProductStyleUrl", false, "always read the account from the path")
	f.StringVar(&o.cert, "cert", "", "`file` with a certificate in PEM: serve HTTPS")
	f.StringVar(&o.key, "key", "", "`file` with the key of the certificate in PEM")
	f.StringVar(&o.pwd, "pwd", "", "`password` of a certificate in PFX; edgetable refuses this flag")
	f.StringVar(&o.oauth, "oauth", "", "`level` of the checks of bearer tokens; edgetable refuses this flag")
	f.String("tableKeepAliveTimeout", "", "no effect")
	for _, service := range services {
		for _, name := range endings {
			f.String(service+name, "", "no effect: "+service+"s are not served")
		}
	}
	f.BoolVarP(&o.help, "help", "h", false, "print this")
	f.BoolVarP(&o.version, "version", "v", false, "print the version")
}

// Serve translates Azurite's command line to edgetable's.
func Serve(name string, args []string, environment func(string) string) (Start, error) {
	var o flags
	f := pflag.NewFlagSet(name, pflag.ContinueOnError)
	f.Usage = func() {}
	o.register(f)
	if err := f.Parse(args); err != nil && !errors.Is(err, pflag.ErrHelp) {
		return Start{}, fmt.Errorf("%w; the flags for tables are\n%s", err, f.FlagUsages())
	}
	switch {
	case o.help:
		return Start{Help: "'edgetable azurite' replaces Azurite for tables. Flags of " + name + ":\n\n" + f.FlagUsages() + "\n'edgetable serve --help' lists the flags of edgetable.\n"}, nil
	case o.version:
		return Start{Args: []string{"version"}}, nil
	case f.NArg() > 0:
		return Start{}, fmt.Errorf("%s takes no %q", name, f.Arg(0))
	case o.pwd != "":
		return Start{}, errors.New("--pwd is for a certificate in PFX, which is not read here: 'openssl pkcs12 -in FILE.pfx -out cert.pem -clcerts -nokeys' and '… -out key.pem -nocerts -nodes' make the files for --cert and --key")
	case o.oauth != "":
		return Start{}, errors.New("--oauth would accept tokens of anybody, and is not supported: leave it out and sign with the account's key, or name the issuer with 'edgetable serve --oidc-issuer'")
	case (o.cert == "") != (o.key == ""):
		return Start{}, errors.New("--cert and --key go together: give both, as files in PEM")
	case o.memory && o.location != "":
		return Start{}, errors.New("--inMemoryPersistence and --location exclude each other")
	case o.extents != "" && !o.memory:
		return Start{}, errors.New("--extentMemoryLimit is for --inMemoryPersistence")
	}
	s := Start{Args: []string{"serve"}, Accounts: environment(AccountsVariable)}
	add := func(flag, value string) {
		if value != "" {
			s.Args = append(s.Args, flag, value)
		}
	}
	if o.host != "" || o.port != "" {
		host, port, err := net.SplitHostPort(cmp.Or(environment(cli.Variable("listen")), cli.UsualAddress))
		if err != nil {
			return Start{}, err
		}
		add("--listen", net.JoinHostPort(cmp.Or(o.host, host), cmp.Or(o.port, port)))
	}
	add("--data", o.location)
	add("--tls-cert", o.cert)
	add("--tls-key", o.key)
	if o.memory {
		s.Args = append(s.Args, "--memory")
	}
	if o.pathStyle {
		s.Args = append(s.Args, "--path-style")
	}
	if o.debug != "" {
		s.Args = append(s.Args, "--log-level", "debug")
		s.Notes = append(s.Notes, "the log of --debug is on standard error: "+o.debug+" is not written")
	}
	if s.Accounts == "" {
		s.Args = append(s.Args, "--allow-development-account")
		s.Notes = append(s.Notes, "started as "+name+", so the development account is served, as with --allow-development-account; $"+AccountsVariable+" names others")
	}
	var others []string
	f.Visit(func(given *pflag.Flag) {
		if strings.HasPrefix(given.Name, "blob") || strings.HasPrefix(given.Name, "queue") {
			others = append(others, "--"+given.Name)
		}
	})
	if len(others) > 0 {
		s.Notes = append(s.Notes, "blobs and queues are not served, so nothing listens for "+strings.Join(others, ", "))
	}
	return s, nil
}

// Lines returns the lines of Azurite's output that programs wait for. Some Testcontainers modules wait for the lines of
// all three services, although only tables are served.
func Lines(name, url string) []string {
	lines := []string{"edgetable as Azurite Table service is successfully listening at " + url}
	if name == All {
		lines = append(lines, `Only tables are served. Blobs and queues are not served, although some programs wait for these two lines: "Azurite Blob service is successfully listening", "Azurite Queue service is successfully listening"`)
	}
	return lines
}
