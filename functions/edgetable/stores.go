package main

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"edgetable/core/table"
)

// storeKind is a kind of store that a server can use: a row of storeKinds. Each has a file of its own, and one for its metrics.
type storeKind struct {
	name    string   // in --store
	about   string   // where the tables are then, for the help of --store
	heading string   // of its flags in the help
	remote  bool     // another machine has the tables, so that requests wait more than they work
	also    []string // flags that are registered elsewhere and mean something to this kind alone

	register      func(f *pflag.FlagSet)                   // adds its flags, which no other kind has
	check         func(given func(flag string) bool) error // finds flags that do not go together
	dataDirectory func() string                            // where the server may keep files of its own; "" is nowhere
	open          func(ctx context.Context, o *opening) (*backend, error)
}

// storeKinds are the rows, in the order of the help; the first is the default.
func storeKinds() []*storeKind { return []*storeKind{embeddedKind(), dynamodbKind()} }

// opening is what a kind of store gets from the server that opens it.
type opening struct {
	log         *slog.Logger
	metrics     *metrics                 // nil: none are served
	requests    int                      // that are served at once
	environment func(name string) string // of the process
}

// backend is the open store of a server.
type backend struct {
	store    table.Store
	system   string                          // that the store is, as traces name it
	place    string                          // as the greeting has it: "in …"
	scan     int                             // bytes that a page may read; 0 is the core's choice
	close    func() error                    // when no request and no job runs any more
	embedded *checkpoints                    // of the store in the data directory; nil: it is elsewhere
	ready    func(ctx context.Context) error // does work that shows whether the store works
	fresh    time.Duration                   // how long the result of ready counts
	jobs     []func(ctx context.Context)     // that run beside requests until ctx ends
}

// storeFlags say where the tables are kept.
type storeFlags struct {
	store string // the name of a kind
	kinds []*storeKind
	of    map[string]string // the name of the kind that a flag is for
}

func newStoreFlags() storeFlags { return storeFlags{kinds: storeKinds(), of: map[string]string{}} }

// sections calls add for the flags of each kind, under its heading.
func (o *storeFlags) sections(add func(heading string, register func(f *pflag.FlagSet))) {
	var names, about []string
	for _, k := range o.kinds {
		names, about = append(names, k.name), append(about, k.name+", "+k.about)
	}
	add(o.kinds[0].heading, func(f *pflag.FlagSet) {
		choiceFlag(f, &o.store, "store", "`kind` of store: "+strings.Join(about, "; "), names...)
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

// kind is the row that --store names.
func (o *storeFlags) kind() *storeKind {
	for _, k := range o.kinds {
		if k.name == o.store {
			return k
		}
	}
	return nil // choiceFlag refuses other names
}

// check finds flags that do not go together. flags are all of the command.
func (o *storeFlags) check(flags *pflag.FlagSet) (err error) {
	flags.VisitAll(func(f *pflag.Flag) {
		if kind, some := o.of[f.Name]; err == nil && f.Changed && some && kind != o.store {
			err = misuse("--%s is for --store %s, not %s", f.Name, kind, o.store)
		}
	})
	if err != nil {
		return err
	}
	return o.kind().check(flags.Changed)
}

// dataDirectory is "" for a store that has none.
func (o *storeFlags) dataDirectory() string { return o.kind().dataDirectory() }
