package stores

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/spf13/pflag"

	"edgetable/adapters/observe"
	"edgetable/core/table"
)

// Kind is a kind of store that a server can use: a row of storeKinds. Each has a file of its own, and one for its metrics.
type Kind struct {
	name    string   // in --store
	about   string   // where the tables are then, for the help of --store
	heading string   // of its flags in the help
	Remote  bool     // another machine has the tables, so that requests wait more than they work
	also    []string // flags that are registered elsewhere and mean something to this kind alone

	register      func(f *pflag.FlagSet)           // adds its flags, which no other kind has
	check         func(flags *pflag.FlagSet) error // finds flags that do not go together
	dataDirectory func() string                    // where the server may keep files of its own; "" is nowhere
	Open          func(ctx context.Context, o *Opening) (*Backend, error)
}

// Opening is what a kind of store gets from the server that opens it.
type Opening struct {
	Log         *slog.Logger
	Metrics     *observe.Metrics         // nil: none are served
	Requests    int                      // that are served at once
	Secondary   bool                     // it follows another store
	KeepLogs    int64                    // bytes of logs that are kept until they are shipped; 0: they are not shipped
	Heap        int64                    // bytes that Go may use in a container; 0: no limit is known
	Files       int64                    // bytes that the files of the data directory may take, since they are in memory; 0: there is no limit
	Environment func(name string) string // of the process
	Waits       func(cause error)        // is called when the store cannot be reached yet
}

// Backend is the open store of a server.
type Backend struct {
	Store    table.Store
	Cache    int64                           // bytes of its cache
	Tables   int64                           // bytes that tables in memory may take; 0: there is no limit, or they are elsewhere
	System   string                          // that the store is, as traces name it
	Place    string                          // as the greeting has it: "in …"
	Scan     int                             // bytes that a page may read; 0 is the core's choice
	Close    func() error                    // when no request and no job runs any more
	Embedded *Checkpoints                    // of the store in the data directory; nil: it is elsewhere
	Ready    func(ctx context.Context) error // does work that shows whether the store works
	Fresh    time.Duration                   // how long the result of ready counts
	Jobs     []Job                           // of this kind of store
	Replica  table.Replicated                // not nil: the store is a replica of what another one writes
}

// Job is work of a server beside its requests. It may use the store until Run returns.
type Job struct {
	Name  string
	Every time.Duration             // how often it does something, for the log
	Run   func(ctx context.Context) // until ctx ends
	End   func()                    // when no request and no job runs any more; may be nil
}

// ErrBehind means that a secondary lags too far behind, or does not know how far.
var ErrBehind = errors.New("the secondary lags too far behind")
