package client

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/profiles"
)

// ServiceFlags are the flags for a table service, such as --from, --to or --in.
type ServiceFlags struct {
	Name, Profiles string
	Connections    int
	Writes         bool              // true if the command writes; a read-only profile is then an error
	Way            http.RoundTripper // transport for requests; nil means the network
}

const serviceUsage = "a connection string, the URL of a shared access signature, a profile or env:NAME; default the profile named default, else " + remote.Development

// serviceName is the value of a flag that names a service. It rejects an empty string: a script with an unset variable
// would otherwise use the default service.
type serviceName string

func (n *serviceName) String() string { return string(*n) }
func (n *serviceName) Type() string   { return "string" }
func (n *serviceName) Set(text string) error {
	if text == "" {
		return errors.New("the name is empty; name a service, or leave the flag out to use the default")
	}
	*n = serviceName(text)
	return nil
}

// FromFlag adds --from, the service to read from.
func (o *ServiceFlags) FromFlag(f *pflag.FlagSet) {
	f.Var((*serviceName)(&o.Name), "from", "`service` to read from; "+serviceUsage)
	cli.CompleteWith(f, "from", completeProfiles)
	ProfilesFlag(f, &o.Profiles)
}

// InFlag adds --in, the service to delete from.
func (o *ServiceFlags) InFlag(f *pflag.FlagSet) {
	o.Writes = true
	f.Var((*serviceName)(&o.Name), "in", "`service` to delete from; "+serviceUsage)
	cli.CompleteWith(f, "in", completeProfiles)
	ProfilesFlag(f, &o.Profiles)
}

// ToFlag adds --to, the service, directory or bucket to write to.
func ToFlag(f *pflag.FlagSet, to *string, usage string) {
	text := "`target` to write to, or to compare with; " + usage
	if usage != serviceUsage { // the value may be a directory or a bucket; if the flag is missing, the command reports this
		f.StringVar(to, "to", "", text)
		return
	}
	f.Var((*serviceName)(to), "to", text)
	cli.CompleteWith(f, "to", completeProfiles)
}

// ToFlag adds --to, the service to write to.
func (o *ServiceFlags) ToFlag(f *pflag.FlagSet) {
	o.Writes = true
	ToFlag(f, &o.Name, serviceUsage)
	ProfilesFlag(f, &o.Profiles)
}

// ProfilesFlag adds --profiles, the file of profiles.
func ProfilesFlag(f *pflag.FlagSet, to *string) {
	f.StringVar(to, "profiles", "", "`file` of profiles; default edgetable/profiles.json in the user's configuration directory")
}

func completeProfiles(c *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	path := os.Getenv(cli.Variable("profiles"))
	if flag := c.Flag("profiles"); flag != nil && flag.Changed {
		path = flag.Value.String()
	}
	f, err := profiles.Open(path)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return slices.Sorted(maps.Keys(f.List)), cobra.ShellCompDirectiveNoFileComp
}

// WorkFlags adds the flags of long-running commands.
func (o *ServiceFlags) WorkFlags(f *pflag.FlagSet) {
	cli.ConnectionsFlag(f, &o.Connections)
	cli.EventsFlag(f)
}

// Connect returns a client for the service.
func (o *ServiceFlags) Connect(p *cli.Terminal) (*remote.Client, error) {
	text, name := o.Name, o.Name
	switch {
	case strings.HasPrefix(text, "env:"):
		if text = p.Environment(text[len("env:"):]); text == "" {
			return nil, cli.Misuse("$%s is not set", name[len("env:"):])
		}
	case text == "" || profiles.ValidName(text):
		f, err := profiles.Open(o.Profiles)
		if err != nil && text == "" && o.Profiles == "" {
			f, err = &profiles.File{}, nil // the user has no home directory
		}
		if err != nil {
			return nil, err
		}
		if text == "" {
			name = "default"
		}
		one, ok := f.List[name]
		switch {
		case ok && one.ReadOnly && o.Writes:
			return nil, fmt.Errorf("the profile %s is read-only: 'edgetable profile add' without --read-only changes that", name)
		case ok:
			if text, err = one.ConnectionString(name, p.Environment); err != nil {
				return nil, err
			}
		case text == "":
			text, name = remote.Development, ""
		default:
			return nil, cli.Misuse("there is no profile %s in %s; 'edgetable profile add' creates one", cli.Quote(name), f.Path)
		}
	default:
		name = ""
	}
	e, err := remote.ParseConnection(text)
	if err != nil {
		if name != "" {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return nil, cli.Misuse("%v", err)
	}
	if o.Way != nil {
		return remote.NewWithTransport(o.Way, e, max(o.Connections, 2)), nil
	}
	if p.Alone && p.Environment("GOGC") == "" {
		debug.SetGCPercent(200) // less frequent garbage collections save a tenth of the time
	}
	c := remote.New(e, max(o.Connections, 2))
	c.Tool = true
	if strings.HasPrefix(o.Name, "env:") || o.Name != "" && name == o.Name {
		c.As = o.Name
	}
	c.OnWait = func(cause error, until time.Time) {
		if cause == nil {
			p.Note("%s does not answer; waiting until %s", e, until.Format(time.TimeOnly))
		} else {
			p.Note("%s; the request is repeated until %s", cli.Plain(cause), until.Format(time.TimeOnly))
		}
	}
	return c, nil
}
