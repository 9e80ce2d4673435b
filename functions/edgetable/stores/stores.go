package stores

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"edgetable/functions/edgetable/cli"
)

// kinds returns the kinds of store in the order of the help; the first is the default.
func kinds() []*Kind { return []*Kind{inDirectory(), onPostgres(), onDynamoDB()} }

// Remote returns the names of the kinds whose tables are on another machine.
func Remote() (names []string) {
	for _, k := range kinds() {
		if k.Remote {
			names = append(names, k.name)
		}
	}
	return names
}

// Flags say where the tables are kept.
type Flags struct {
	store string // name of the kind
	kinds []*Kind
	of    map[string]string // by flag: name of its kind
}

func NewFlags() Flags { return Flags{kinds: kinds(), of: map[string]string{}} }

// Sections calls add for the flags of each kind, with its heading.
func (o *Flags) Sections(add func(heading string, register func(f *pflag.FlagSet))) {
	var names, about []string
	for _, k := range o.kinds {
		names, about = append(names, k.name), append(about, k.name+", "+k.about)
	}
	add(o.kinds[0].heading, func(f *pflag.FlagSet) {
		cli.ChoiceFlag(f, &o.store, "store", "`kind` of store, "+cli.OneOf(names)+"; "+strings.Join(about, "; "), names...)
	})
	for _, k := range o.kinds {
		add(k.heading, func(f *pflag.FlagSet) {
			k.register(f)
			f.VisitAll(func(flag *pflag.Flag) { o.of[flag.Name] = k.name })
		})
		for _, name := range k.also {
			o.of[name] = k.name
		}
	}
}

// Kind returns the kind that --store names.
func (o *Flags) Kind() *Kind {
	return o.kinds[slices.IndexFunc(o.kinds, func(k *Kind) bool { return k.name == o.store })] // ChoiceFlag refuses all other names
}

// Check finds flags that contradict each other. flags are all flags of the command. Flags of another kind are ignored
// if they come from the environment, unless they promise something, such as backups.
func (o *Flags) Check(flags *pflag.FlagSet) (err error) {
	flags.VisitAll(func(f *pflag.Flag) {
		kind, some := o.of[f.Name]
		switch {
		case err != nil || !f.Changed || !some || kind == o.store:
		case cli.FromEnvironment(f) && !o.also(f.Name):
			cli.Ignore(f)
		default:
			err = cli.Misuse("--%s is for --store %s, not %s", f.Name, kind, o.store)
		}
	})
	if err != nil {
		return err
	}
	return o.Kind().check(flags)
}

// also reports whether only one kind uses a flag that another package registers.
func (o *Flags) also(flag string) bool {
	return slices.ContainsFunc(o.kinds, func(k *Kind) bool { return slices.Contains(k.also, flag) })
}

// DataDirectory returns the data directory, or "" for a store without one.
func (o *Flags) DataDirectory() string { return o.Kind().dataDirectory() }
