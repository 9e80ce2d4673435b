package stores

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"edgetable/functions/edgetable/cli"
)

// kinds returns all kinds of store, in the order of the help. The first kind is the default.
func kinds() []*Kind { return []*Kind{inDirectory(), onPostgres(), onDynamoDB()} }

// Remote returns the names of those kinds whose tables are on another machine.
func Remote() (names []string) {
	for _, k := range kinds() {
		if k.Remote {
			names = append(names, k.name)
		}
	}
	return names
}

// Flags are the flags that select a store and describe it.
type Flags struct {
	store string // value of --store, the name of a kind
	kinds []*Kind
	of    map[string]string // maps the name of a flag to the kind of store for which the flag is
}

func NewFlags() Flags { return Flags{kinds: kinds(), of: map[string]string{}} }

// Sections calls add for each kind of store, with a heading for the help and a function that registers the kind's
// flags.
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

// Kind returns the kind of store that --store selects.
func (o *Flags) Kind() *Kind {
	return o.kinds[slices.IndexFunc(o.kinds, func(k *Kind) bool { return k.name == o.store })] // cannot be -1, because ChoiceFlag refuses other names
}

// Check returns an error if flags contradict each other. The argument contains all flags of the command. If the
// environment sets a flag for another kind of store than the selected kind, Check ignores the flag. But for some flags,
// such as --backup-to, Check returns an error, because the user may rely on backups.
func (o *Flags) Check(flags *pflag.FlagSet) (err error) {
	flags.VisitAll(func(f *pflag.Flag) {
		kind, some := o.of[f.Name]
		switch {
		case err != nil || !f.Changed || !some || kind == o.store:
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

// fromOtherPackage reports whether another package adds this flag, for use with only one kind of store. An example is
// --backup-to.
func (o *Flags) fromOtherPackage(flag string) bool {
	return slices.ContainsFunc(o.kinds, func(k *Kind) bool { return slices.Contains(k.also, flag) })
}

// DataDirectory returns the data directory, or "" for a store without one.
func (o *Flags) DataDirectory() string { return o.Kind().dataDirectory() }
