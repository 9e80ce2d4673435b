package localexplorer

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/client"
	"edgetable/functions/edgetable/profiles"
	"edgetable/functions/explorer"
)

// selection selects the services in the explorer.
type selection struct {
	file     string
	names    []string
	readOnly bool
}

func (o *selection) register(f *pflag.FlagSet) {
	f.StringSliceVar(&o.names, "profile", nil, "`name` of a profile, or env:NAME for a connection string in the environment; may be repeated; default all profiles")
	client.ProfilesFlag(f, &o.file)
	cli.BoolFlag(f, &o.readOnly, "read-only", "refuse all writes; here for all profiles")
}

// withoutProfiles is the name of the development account if the user has no profiles.
const withoutProfiles = "local"

func (o *selection) profiles(p *cli.Terminal) ([]explorer.Profile, error) {
	// Open treats a missing file as empty. If the user named the file, the name may be misspelled.
	if _, err := os.Stat(o.file); o.file != "" && errors.Is(err, fs.ErrNotExist) {
		return nil, cli.Misuse("--profiles: there is no file %s; 'edgetable profile add' creates one", cli.Quote(o.file))
	}
	f, err := profiles.Open(o.file)
	if err != nil && o.file == "" && len(o.names) == 0 {
		f, err = &profiles.File{}, nil // the user has no home directory
	}
	if err != nil {
		return nil, err
	}
	names := o.names
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(f.List))
	}
	var list []explorer.Profile
	for _, name := range names {
		one, ok := f.List[name]
		if variable, is := strings.CutPrefix(name, "env:"); is {
			one, ok = profiles.Profile{Connection: p.Environment(variable)}, p.Environment(variable) != ""
			name = variable
		}
		if !ok {
			return nil, cli.Misuse("there is no profile %s in %s; 'edgetable profile add' creates one", cli.Quote(name), f.Path)
		}
		list = append(list, profileOf(p, name, one, o.readOnly))
	}
	if len(list) == 0 {
		list = append(list, profileOf(p, withoutProfiles, profiles.Profile{Connection: remote.Development}, o.readOnly))
	}
	return list, nil
}

func profileOf(p *cli.Terminal, name string, one profiles.Profile, readOnly bool) explorer.Profile {
	e := explorer.Profile{Name: name, ReadOnly: readOnly || one.ReadOnly, Color: one.Color, Connect: func() (remote.Endpoint, error) {
		text, err := one.ConnectionString(name, p.Environment)
		if err != nil {
			return remote.Endpoint{}, err
		}
		at, err := remote.ParseConnection(text)
		if err != nil {
			return at, fmt.Errorf("profile %s: %w", name, err)
		}
		return at, nil
	}}
	if at, err := remote.ParseConnection(one.WithoutKey()); err == nil {
		e.Account, e.Endpoint = at.Account(), at.String()
	}
	return e
}
