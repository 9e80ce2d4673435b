package client

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/cli"
)

// ServiceFlags holds the flags that describe a table service, such as --from, --to or --in.
type ServiceFlags struct {
	Name, Profiles string
	Connections    int
	Writes         bool              // the command writes, so it refuses a read-only profile
	Way            http.RoundTripper // if not nil, requests are sent through it instead of the network
}

const serviceUsage = "a connection string, the URL of a shared access signature, a profile or env:NAME; default the profile named default, else " + remote.Development

// serviceName is the value of a flag that names a service. It is not set to an empty text: a script whose variable is
// empty would otherwise use the default service.
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

// fromFlag adds --from, the service from which data is read.
func (o *ServiceFlags) fromFlag(f *pflag.FlagSet) {
	f.Var((*serviceName)(&o.Name), "from", "`service` to read from; "+serviceUsage)
	cli.CompleteWith(f, "from", completeProfiles)
	ProfilesFlag(f, &o.Profiles)
}

// inFlag adds --in, the service in which data is deleted.
func (o *ServiceFlags) inFlag(f *pflag.FlagSet) {
	o.Writes = true
	f.Var((*serviceName)(&o.Name), "in", "`service` to delete from; "+serviceUsage)
	cli.CompleteWith(f, "in", completeProfiles)
	ProfilesFlag(f, &o.Profiles)
}

// ToFlag adds --to, the service, directory or bucket to which data is written.
func ToFlag(f *pflag.FlagSet, to *string, usage string) {
	text := "`target` to write to, or to compare with; " + usage
	if usage != serviceUsage { // a directory or a bucket, whose command says what is missing
		f.StringVar(to, "to", "", text)
		return
	}
	f.Var((*serviceName)(to), "to", text)
	cli.CompleteWith(f, "to", completeProfiles)
}

func (o *ServiceFlags) toFlag(f *pflag.FlagSet) {
	o.Writes = true
	ToFlag(f, &o.Name, serviceUsage)
	ProfilesFlag(f, &o.Profiles)
}

// connectionsFlag adds --connections, the maximum number of concurrent requests.
func connectionsFlag(f *pflag.FlagSet, to *int) {
	cli.IntFlag(f, to, "connections", 16, 1, 10_000, "`number` of connections, each with one request at a time")
}

// workFlags adds flags that all long-running commands have.
func (o *ServiceFlags) workFlags(f *pflag.FlagSet) {
	connectionsFlag(f, &o.Connections)
	cli.EventsFlag(f)
}

// connect returns a client of the service.
func (p *program) connect(o *ServiceFlags) (*remote.Client, error) {
	text, name := o.Name, o.Name
	switch {
	case strings.HasPrefix(text, "env:"):
		if text = p.Environment(text[len("env:"):]); text == "" {
			return nil, cli.Misuse("$%s is not set", name[len("env:"):])
		}
	case text == "" || profileName.MatchString(text):
		f, err := openProfiles(o.Profiles)
		if err != nil && text == "" && o.Profiles == "" {
			f, err = &profiles{}, nil // an error means that the user has no home directory
		}
		if err != nil {
			return nil, err
		}
		if text == "" {
			name = "default"
		}
		one, ok := f.list[name]
		switch {
		case ok && one.ReadOnly && o.Writes:
			return nil, fmt.Errorf("the profile %s is read-only: 'edgetable profile add' without --read-only changes that", name)
		case ok:
			if text, err = p.connection(name, one); err != nil {
				return nil, err
			}
		case text == "":
			text, name = remote.Development, ""
		default:
			return nil, cli.Misuse("there is no profile %s in %s; 'edgetable profile add' creates one", cli.Quote(name), f.path)
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
		return remote.Over(o.Way, e, max(o.Connections, 2)), nil
	}
	if p.Alone && p.Environment("GOGC") == "" {
		debug.SetGCPercent(200) // the command makes much garbage: 200 instead of 100 saves a tenth of the time
	}
	c := remote.New(e, max(o.Connections, 2))
	c.Tool = true
	if strings.HasPrefix(o.Name, "env:") || o.Name != "" && name == o.Name {
		c.As = o.Name
	}
	c.Waiting = func(cause error, until time.Time) {
		if cause == nil {
			p.Note("%s does not answer; waiting until %s", e, until.Format(time.TimeOnly))
		} else {
			p.Note("%s; the request is repeated until %s", cli.Plain(cause), until.Format(time.TimeOnly))
		}
	}
	return c, nil
}
