package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"edgetable/adapters/client/remote"
)

// serviceFlags name a table service, in --from or --to.
type serviceFlags struct {
	name, profiles string
	connections    int
	writes         bool // which a read-only profile refuses
}

const serviceUsage = "a connection string, the URL of a shared access signature, a profile or env:NAME; default the profile named default, else " + remote.Development

// fromFlag is where data comes from in all commands.
func (o *serviceFlags) fromFlag(f *pflag.FlagSet) {
	f.StringVar(&o.name, "from", "", "`service` to read from; "+serviceUsage)
	completeWith(f, "from", completeProfiles)
	profilesFlag(f, &o.profiles)
}

// toFlag is where data goes in all commands.
func toFlag(f *pflag.FlagSet, to *string, usage string) {
	f.StringVar(to, "to", "", "`place` to write to; "+usage)
	if usage == serviceUsage {
		completeWith(f, "to", completeProfiles)
	}
}

func (o *serviceFlags) toFlag(f *pflag.FlagSet) {
	o.writes = true
	toFlag(f, &o.name, serviceUsage)
	profilesFlag(f, &o.profiles)
}

// connectionsFlag bounds the requests under way in all commands.
func connectionsFlag(f *pflag.FlagSet, to *int) {
	intFlag(f, to, "connections", 16, 1, 10_000, "`number` of connections, each with one request at a time")
}

// workFlags are the flags of all commands that work for long.
func (o *serviceFlags) workFlags(f *pflag.FlagSet) {
	connectionsFlag(f, &o.connections)
	jsonFlag(f, new(bool))
}

// connect returns a client of the service.
func (p *clientProgram) connect(o *serviceFlags) (*remote.Client, error) {
	text, name := o.name, o.name
	switch {
	case strings.HasPrefix(text, "env:"):
		if text = p.environment(text[len("env:"):]); text == "" {
			return nil, misuse("$%s is not set", name[len("env:"):])
		}
	case text == "" || profileName.MatchString(text):
		f, err := openProfiles(o.profiles)
		if err != nil && text == "" && o.profiles == "" {
			f, err = &profiles{}, nil // there is no home directory
		}
		if err != nil {
			return nil, err
		}
		if text == "" {
			name = "default"
		}
		one, ok := f.list[name]
		switch {
		case ok && one.ReadOnly && o.writes:
			return nil, fmt.Errorf("the profile %s is read-only: 'edgetable profile add' without --read-only changes that", name)
		case ok:
			if text, err = p.connection(name, one); err != nil {
				return nil, err
			}
		case text == "":
			text, name = remote.Development, ""
		default:
			return nil, misuse("there is no profile %s in %s; 'profile add' makes one", quote(name), f.path)
		}
	default:
		name = ""
	}
	e, err := remote.ParseConnection(text)
	if err != nil {
		if name != "" {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return nil, misuse("%v", err)
	}
	return remote.New(e, max(o.connections, 2)), nil
}
