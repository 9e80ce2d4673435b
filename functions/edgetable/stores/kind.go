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

// Kind is a kind of store that a server can use. [kinds] lists all of them. Each kind has its own source file, and
// another one for its metrics.
type Kind struct {
	name    string   // value of --store
	about   string   // where the tables are stored, for the help of --store
	heading string   // heading of the flags of this kind in the help
	Remote  bool     // the tables are on another machine, so requests mostly wait for the network
	also    []string // names of flags that another package registers but that only this kind uses

	register      func(f *pflag.FlagSet)           // adds the flags of this kind
	check         func(flags *pflag.FlagSet) error // returns an error if flags contradict each other
	dataDirectory func() string                    // directory in which the server may keep its own files; "" if there is none
	Open          func(ctx context.Context, o *Opening) (*Backend, error)
}

// Opening has what a kind of store needs to open the store of a server.
type Opening struct {
	Log         *slog.Logger
	Metrics     *observe.Metrics         // nil if no metrics are served
	Requests    int                      // maximum number of concurrent requests
	Secondary   bool                     // the server is a secondary, which follows another store
	KeepLogs    int64                    // maximum bytes of logs that are kept for shipping; 0 if the log is not shipped
	Heap        int64                    // maximum bytes of Go's heap in a container; 0 if no limit is known
	Files       int64                    // maximum bytes of the files in the data directory, if they are in memory; 0 means no limit
	Environment func(name string) string // returns an environment variable of the process
	Waits       func(cause error)        // called while the store cannot be reached, before the next attempt
}

// Backend is an open store, with what a server needs to know about it.
type Backend struct {
	Store    table.Store
	Cache    int64                           // size of the store's cache in bytes
	Tables   int64                           // maximum bytes of tables that are in memory; 0 if there is no limit, or if tables are not in memory
	System   string                          // name of the storage system in traces
	Place    string                          // where the tables are, for the first message of the server: "in …"
	Scan     int                             // maximum bytes that one page of a query may read; 0 means core's default
	Close    func() error                    // closes the store; called when no request and no job is running
	Embedded *Checkpoints                    // the store in the data directory; nil for other stores
	Ready    func(ctx context.Context) error // does a real read or write to check whether the store works
	Fresh    time.Duration                   // how long a result of Ready may be reused
	Jobs     []Job                           // background jobs of this kind of store
	Replica  table.Replicated                // set if the store is a replica of another one
}

// Job is background work of a server. The store stays open until Run has returned.
type Job struct {
	Name  string
	Every time.Duration             // interval of the work, for the log
	Run   func(ctx context.Context) // does the work until ctx ends
	End   func()                    // called when no request and no job is running; may be nil
}

// ErrBehind means that a secondary lags too far behind the primary, or that its lag is unknown.
var ErrBehind = errors.New("the secondary lags too far behind")
