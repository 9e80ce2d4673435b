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

// Kind is a kind of store that a server can use, one of [kinds]. Each has a file of its own, and one for its metrics.
type Kind struct {
	name    string   // value of --store
	about   string   // where the tables are kept, for the help of --store
	heading string   // heading of its flags in the help
	Remote  bool     // the tables are on another machine, so requests mostly wait for the network
	also    []string // flags that are registered elsewhere and apply only to this kind

	register      func(f *pflag.FlagSet)           // adds the flags of this kind
	check         func(flags *pflag.FlagSet) error // finds flags that contradict each other
	dataDirectory func() string                    // where the server may keep files of its own; "" if nowhere
	Open          func(ctx context.Context, o *Opening) (*Backend, error)
}

// Opening is passed to a kind of store when a server opens it.
type Opening struct {
	Log         *slog.Logger
	Metrics     *observe.Metrics         // nil if no metrics are served
	Requests    int                      // maximum number of concurrent requests
	Secondary   bool                     // the server follows another store
	KeepLogs    int64                    // bytes of logs that are kept until they are shipped; 0 if they are not shipped
	Heap        int64                    // bytes that Go may use in a container; 0 if no limit is known
	Files       int64                    // bytes that the files of the data directory may use, if they are in memory; 0 means no limit
	Environment func(name string) string // environment variables of the process
	Waits       func(cause error)        // called when the store cannot be reached yet
}

// Backend is the open store of a server.
type Backend struct {
	Store    table.Store
	Cache    int64                           // size of its cache in bytes
	Tables   int64                           // bytes that tables in memory may use; 0 if there is no limit, or if they are elsewhere
	System   string                          // name of the storage system in traces
	Place    string                          // for the first message of the server: "in …"
	Scan     int                             // bytes that a page may read; 0 means core's default
	Close    func() error                    // called when no request and no job is running any more
	Embedded *Checkpoints                    // the store in the data directory; nil if the store is elsewhere
	Ready    func(ctx context.Context) error // checks, by real work, whether the store works
	Fresh    time.Duration                   // how long the result of Ready is valid
	Jobs     []Job                           // background jobs of this kind of store
	Replica  table.Replicated                // set if the store is a replica of another one
}

// Job is background work of a server. It may use the store until Run returns.
type Job struct {
	Name  string
	Every time.Duration             // its interval, for the log
	Run   func(ctx context.Context) // runs until ctx ends
	End   func()                    // called when no request and no job is running any more; may be nil
}

// ErrBehind means that a secondary lags too far behind the primary, or that its lag is unknown.
var ErrBehind = errors.New("the secondary lags too far behind")
