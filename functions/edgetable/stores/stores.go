package stores

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"edgetable/adapters/observe"
	"edgetable/core/table"
	"edgetable/functions/edgetable/cli"
)

// Kind is a kind of store that a server can use: a row of storeKinds. Each has a file of its own, and one for its metrics.
type Kind struct {
	name    string   // in --store
	about   string   // where the tables are then, for the help of --store
	heading string   // of its flags in the help
	Remote  bool     // another machine has the tables, so that requests wait more than they work
	also    []string // flags that are registered elsewhere and mean something to this kind alone

	register      func(f *pflag.FlagSet)                   // adds its flags, which no other kind has
	check         func(given func(flag string) bool) error // finds flags that do not go together
	dataDirectory func() string                            // where the server may keep files of its own; "" is nowhere
	Open          func(ctx context.Context, o *Opening) (*Backend, error)
}

// kinds are the rows, in the order of the help; the first is the default.
func kinds() []*Kind { return []*Kind{inDirectory(), onPostgres(), onDynamoDB()} }

// Opening is what a kind of store gets from the server that opens it.
type Opening struct {
	Log         *slog.Logger
	Metrics     *observe.Metrics         // nil: none are served
	Requests    int                      // that are served at once
	Environment func(name string) string // of the process
}

// Backend is the open store of a server.
type Backend struct {
	Store    table.Store
	Cache    int64                           // bytes of its cache
	System   string                          // that the store is, as traces name it
	Place    string                          // as the greeting has it: "in …"
	Scan     int                             // bytes that a page may read; 0 is the core's choice
	Close    func() error                    // when no request and no job runs any more
	Embedded *Checkpoints                    // of the store in the data directory; nil: it is elsewhere
	Ready    func(ctx context.Context) error // does work that shows whether the store works
	Fresh    time.Duration                   // how long the result of ready counts
	Jobs     []Job                           // of this kind of store
}

// Flags say where the tables are kept.
type Flags struct {
	store string // the name of a kind
	kinds []*Kind
	of    map[string]string // the name of the kind that a flag is for
}

func NewFlags() Flags { return Flags{kinds: kinds(), of: map[string]string{}} }

// Sections calls add for the flags of each kind, under its heading.
func (o *Flags) Sections(add func(heading string, register func(f *pflag.FlagSet))) {
	var names, about []string
	for _, k := range o.kinds {
		names, about = append(names, k.name), append(about, k.name+", "+k.about)
	}
	add(o.kinds[0].heading, func(f *pflag.FlagSet) {
		cli.ChoiceFlag(f, &o.store, "store", "`kind` of store: "+strings.Join(about, "; "), names...)
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

// Kind is the row that --store names.
func (o *Flags) Kind() *Kind {
	for _, k := range o.kinds {
		if k.name == o.store {
			return k
		}
	}
	return nil // choiceFlag refuses other names
}

// Check finds flags that do not go together. flags are all of the command.
func (o *Flags) Check(flags *pflag.FlagSet) (err error) {
	flags.VisitAll(func(f *pflag.Flag) {
		if kind, some := o.of[f.Name]; err == nil && f.Changed && some && kind != o.store {
			err = cli.Misuse("--%s is for --store %s, not %s", f.Name, kind, o.store)
		}
	})
	if err != nil {
		return err
	}
	return o.Kind().check(flags.Changed)
}

// DataDirectory is "" for a store that has none.
func (o *Flags) DataDirectory() string { return o.Kind().dataDirectory() }
