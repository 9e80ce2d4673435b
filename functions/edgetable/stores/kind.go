package stores

import (
	"context"
	"log/slog"
	"time"

	"github.com/spf13/pflag"

	"edgetable/adapters/observe"
	"edgetable/core/table"
)

// Kind is a kind of store that a server can use. [kinds] lists all kinds. Each kind has a source file, and another
// file for its metrics.
type Kind struct {
	name    string   // the value of --store that selects this kind
	about   string   // where the tables are stored, for the help of --store
	heading string   // heading of the flags of this kind in the help
	Remote  bool     // the tables are on another machine, so requests mostly wait for the network
	also    []string // names of flags that another package adds, but that can only be used with this kind of store

	register      func(f *pflag.FlagSet)           // adds the flags of this kind
	check         func(flags *pflag.FlagSet) error // returns an error if flags contradict each other
	dataDirectory func() string                    // returns the directory in which the server may keep its own files, or ""
	Open          func(ctx context.Context, o *Opening) (*Backend, error)
}

// Opening contains the parameters with which a server opens its store.
type Opening struct {
	Log         *slog.Logger
	Metrics     *observe.Metrics         // nil if metrics are not served
	Requests    int                      // maximum number of concurrent requests
	Secondary   bool                     // the server is a secondary, which follows another store
	KeepLogs    int64                    // maximum bytes of log files that are kept until they are shipped; 0 if the log is not shipped
	Heap        int64                    // maximum bytes of Go's heap in a container; 0 if no limit is known
	Files       int64                    // maximum bytes of the files in the data directory, if it is on a tmpfs; 0 means no limit
	Environment func(name string) string // returns the value of an environment variable
	Waits       func(cause error)        // called before each retry, while the store cannot be reached
}

// Backend is an open store, with information that a server needs about it.
type Backend struct {
	Store    table.Store
	Cache    int64                           // size of the store's cache in bytes
	Tables   int64                           // maximum bytes of tables in memory; 0 means that no such limit applies
	System   string                          // name of the storage system in traces
	Place    string                          // location of the tables, for the first message of the server: "in …"
	Scan     int                             // maximum bytes that one page of a query may read; 0 means the default of package table
	Close    func() error                    // closes the store, after all requests and jobs have ended
	Embedded *Checkpoints                    // the store in the data directory; nil for other stores
	Ready    func(ctx context.Context) error // does a read or a write, to check whether the store works
	Fresh    time.Duration                   // how long a result of Ready may be reused
	Jobs     []Job                           // background jobs of this kind of store
	Replica  table.Replicated                // not nil if the store is a replica
}

// Job is a background job of a server. The store is closed only after Run and End have returned.
type Job struct {
	Name  string
	Every time.Duration             // interval of the work, for the log
	Run   func(ctx context.Context) // runs the job until ctx ends
	End   func()                    // called after all requests and jobs have ended; may be nil
}
