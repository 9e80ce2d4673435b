package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"edgetable/adapters/store/pebblestore"
)

// embeddedFlags are the flags of the store in the data directory, or in memory.
type embeddedFlags struct {
	data        string
	memory      bool
	cache       int64
	accept      bool
	diskReserve int64
}

func embeddedKind() *storeKind {
	o := &embeddedFlags{}
	return &storeKind{
		name: "embedded", about: "in the data directory", heading: "Store", also: []string{"backup-to"},
		register: o.register, check: o.check, open: o.open,
		dataDirectory: func() string {
			if o.memory {
				return ""
			}
			return o.data
		},
	}
}

// maxCache is more memory than a machine has.
const maxCache = 1 << 44

func (o *embeddedFlags) register(f *pflag.FlagSet) {
	dataFlag(f, &o.data, "made if missing")
	boolFlag(f, &o.memory, "memory", "keep everything in memory; it is lost when the server ends")
	boolFlag(f, &o.accept, "accept-damage", "open a damaged data directory without the commits it has lost; damaged logs are kept as *.damaged")
	sizeFlag(f, &o.diskReserve, "disk-reserve", 256<<20, 0, maxCache, "`size` of a file that keeps room for deletes on a full disk, at most a sixteenth of the disk; 0 makes none")
	sizeFlag(f, &o.cache, "cache-size", 128<<20, 1<<20, maxCache, "`size` of the block cache")
}

func (o *embeddedFlags) check(given func(flag string) bool) error {
	switch {
	case o.memory && given("data"):
		return misuse("--memory and --data exclude each other")
	case o.memory && given("backup-to"):
		return misuse("--backup-to is for a data directory, not for --memory")
	case !o.memory && o.data == "":
		return misuse("--data names no directory")
	}
	return nil
}

// open opens the store in the data directory, or in memory.
func (o *embeddedFlags) open(_ context.Context, from *opening) (*backend, error) {
	o.limitMemory(from.environment)
	info, err := os.Stat(o.data)
	if err == nil && !info.IsDir() && !o.memory {
		return nil, fmt.Errorf("--data: %s is not a directory", o.data)
	}
	fresh := os.IsNotExist(err)
	store, err := pebblestore.Open(pebblestore.Options{
		Dir: o.data, Memory: o.memory, CacheSize: o.cache, AcceptDamage: o.accept, DiskReserve: o.diskReserve,
		Observer: embeddedMetrics(from.metrics),
		Logf:     func(format string, args ...any) { from.log.Warn(fmt.Sprintf(format, args...)) },
		Fatal: func(err error) {
			from.log.Error("the store cannot go on; what was confirmed is safe", "cause", err)
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
	b := &backend{
		store: store, system: "edgetable", place: "in memory, gone when it ends",
		close: store.Close, ready: func(context.Context) error { return store.Ready() }, fresh: time.Second,
	}
	watchEmbedded(from.metrics, store)
	if !o.memory {
		b.embedded = &checkpoints{Store: store}
		dir, err := filepath.Abs(o.data)
		if err != nil { // the working directory is gone
			dir = o.data
		}
		if b.place = "in " + dir; fresh {
			b.place += ", which is new"
		}
	}
	return b, nil
}

// besideCache is the memory for all but the cache: requests, pages, compactions.
const besideCache = 192 << 20

// limitMemory makes the garbage collector run rarely while memory is left, and as
// often as needed to stay within the limit. GOMEMLIMIT and GOGC take precedence.
func (o *embeddedFlags) limitMemory(environment func(string) string) {
	if cmp.Or(environment("GOMEMLIMIT"), environment("GOGC")) == "" && !o.memory {
		debug.SetMemoryLimit(o.cache + besideCache)
		debug.SetGCPercent(400)
	}
}
