package stores

import (
	"context"
	"log/slog"
	"time"

	"github.com/spf13/pflag"

	"edgetable/adapters/observe"
	"edgetable/core/table"
)

// Kind is a kind of store. Each kind has a source file, and a second source file for its metrics.
type Kind struct {
	name    string   // value of --store
	about   string   // place of the tables, for the help of --store
	heading string   // heading of the kind's flags in the help
	Remote  bool     // the tables are on another machine, so requests mostly wait for the network
	also    []string // flags of other packages that only this kind of store supports

	register      func(f *pflag.FlagSet) // function that adds the flags of the kind
	check         func(flags *pflag.FlagSet) error
	dataDirectory func() string // function that returns the directory for files of the server, or ""
	Open          func(ctx context.Context, o *Opening) (*Backend, error)
}

// Opening holds the parameters for opening a store.
type Opening struct {
	Log         *slog.Logger
	Metrics     *observe.Metrics         // metrics of the server; nil if the server does not serve them
	Requests    int                      // maximum number of concurrent requests
	Secondary   bool                     // the store follows a primary
	KeepLogs    int64                    // maximum bytes of log files that are retained until they have been shipped; 0 if the log is not shipped
	Heap        int64                    // maximum bytes of Go's heap in a container; 0 if unknown
	Files       int64                    // maximum bytes of files if the data directory is on a tmpfs; 0 means no limit
	Environment func(name string) string // function that returns the value of an environment variable
	OnRetry     func(cause error)        // callback before each retry while the store is unreachable
}

// Backend is an open store, with the information that a server needs about it.
type Backend struct {
	Store    table.Store
	Cache    int64                           // size of the store's cache in bytes
	Tables   int64                           // maximum bytes of in-memory tables; 0 if the tables are not in memory, or without a limit
	System   string                          // storage system in traces
	Place    string                          // place of the tables in the server's first message, in the form "in …"
	Scan     int                             // maximum bytes that a page of a query may read; 0 means the default of package table
	Close    func() error                    // function that must be called after all requests and jobs have ended
	Embedded *Checkpoints                    // checkpoints of the store; nil if the store is not in a data directory
	Ready    func(ctx context.Context) error // function that checks with a read or a write whether the store works
	ReadyTTL time.Duration                   // time for which a result of Ready may be cached
	Jobs     []Job
	Replica  table.Replicated // status of a replica; nil if the store is not a replica
}

// Job is a background job of a server. The store remains open until Run and End have returned.
type Job struct {
	Name     string
	Interval time.Duration             // interval, for the log
	Run      func(ctx context.Context) // runs the job until ctx is done
	End      func()                    // callback after all requests and jobs have ended; may be nil
}
