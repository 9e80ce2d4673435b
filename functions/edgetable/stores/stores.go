package stores

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"edgetable/functions/edgetable/cli"
)

// kinds returns the kinds of store in the order of the help, the default first.
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

// Flags are the flags that select and configure a store.
type Flags struct {
	store string // value of --store
	kinds []*Kind
	of    map[string]string // kind of store that supports a flag, by flag name
}

func NewFlags() Flags { return Flags{kinds: kinds(), of: map[string]string{}} }

// Sections passes each kind of store to the callback, as a heading and a function that registers the flags of the kind.
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

// Kind returns the selected kind of store.
func (o *Flags) Kind() *Kind {
	return o.kinds[slices.IndexFunc(o.kinds, func(k *Kind) bool { return k.name == o.store })] // the index is never -1, because ChoiceFlag rejects other names
}

// Check returns an error if the flags of the command contradict each other. It ignores flags from the environment that
// are for another kind of store.
func (o *Flags) Check(flags *pflag.FlagSet) (err error) {
	flags.VisitAll(func(f *pflag.Flag) {
		kind, some := o.of[f.Name]
		switch {
		case err != nil || !f.Changed || !some || kind == o.store:
		// The user may rely on a flag of another package, such as --backup-to.
		case cli.FromEnvironment(f) && !o.fromOtherPackage(f.Name):
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

// fromOtherPackage reports whether a flag of another package, such as --backup-to, is supported by only one kind of
// store.
func (o *Flags) fromOtherPackage(flag string) bool {
	return slices.ContainsFunc(o.kinds, func(k *Kind) bool { return slices.Contains(k.also, flag) })
}

// DataDirectory returns the data directory, or "" if the store has none.
func (o *Flags) DataDirectory() string { return o.Kind().dataDirectory() }
