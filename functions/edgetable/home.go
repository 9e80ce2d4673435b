package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/table"
)

// home is where a server keeps its tables.
type home struct {
	store    table.Store
	system   string                          // that the store is, as traces name it
	place    string                          // as the greeting has it: "in …"
	scan     int                             // bytes that a page may read; 0 is the core's choice
	close    func() error                    // when no request runs any more
	embedded *checkpoints                    // of the store in the data directory; nil: it is elsewhere
	ready    func(ctx context.Context) error // does work that shows whether the store works
	fresh    time.Duration                   // how long the result of ready counts
}

// openEmbedded opens the store in the data directory, or in memory.
func (p *program) openEmbedded(_ context.Context, o *serveFlags, m *metrics, log *slog.Logger) (*home, error) {
	p.limitMemory(o)
	info, err := os.Stat(o.data)
	if err == nil && !info.IsDir() && !o.memory {
		return nil, fmt.Errorf("--data: %s is not a directory", o.data)
	}
	fresh := os.IsNotExist(err)
	store, err := pebblestore.Open(pebblestore.Options{
		Dir: o.data, Memory: o.memory, CacheSize: o.cache, AcceptDamage: o.accept, DiskReserve: o.diskReserve,
		Observer: m.embeddedMetrics(),
		Logf:     func(format string, args ...any) { log.Warn(fmt.Sprintf(format, args...)) },
		Fatal: func(err error) {
			log.Error("the store cannot go on; what was confirmed is safe", "cause", err)
			os.Exit(1)
		},
	})
	if errors.Is(err, pebblestore.ErrLost) {
		return nil, fmt.Errorf("%w; restore a backup, or serve what is left with --accept-damage", err)
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return nil, fmt.Errorf("%w; let this user write there, or name another directory with --data", err)
	}
	if err != nil {
		return nil, err
	}
	h := &home{
		store: store, system: "edgetable", place: "in memory, gone when it ends",
		close: store.Close, ready: func(context.Context) error { return store.Ready() }, fresh: time.Second,
	}
	m.watchEmbedded(store)
	if !o.memory {
		h.embedded = &checkpoints{Store: store}
		dir, err := filepath.Abs(o.data)
		if err != nil { // the working directory is gone
			dir = o.data
		}
		if h.place = "in " + dir; fresh {
			h.place += ", which is new"
		}
	}
	return h, nil
}

// besideCache is the memory for all but the cache: requests, pages, compactions.
const besideCache = 192 << 20

// limitMemory makes the garbage collector run rarely while memory is left, and as
// often as needed to stay within the limit. GOMEMLIMIT and GOGC take precedence.
func (p *program) limitMemory(o *serveFlags) {
	if cmp.Or(p.environment("GOMEMLIMIT"), p.environment("GOGC")) == "" && !o.memory {
		debug.SetMemoryLimit(o.cache + besideCache)
		debug.SetGCPercent(400)
	}
}
