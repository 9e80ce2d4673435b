package stores

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

	"edgetable/adapters/backup/repository/target"
	"edgetable/adapters/replicate/follow"
	"edgetable/adapters/store/pebblestore"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/descriptors"
)

// embeddedFlags are the flags of the embedded store, which is in the data directory or in memory.
type embeddedFlags struct {
	data        string
	memory      bool
	cache       int64
	cacheGiven  bool
	diskReserve int64
}

func inDirectory() *Kind {
	o := &embeddedFlags{}
	return &Kind{
		name: "embedded", about: "in the data directory", heading: "Store", also: []string{"backup-to"},
		register: o.register, check: o.check, Open: o.open,
		dataDirectory: func() string {
			if o.memory {
				return ""
			}
			return o.data
		},
	}
}

// maxCache is the maximum value of flags for sizes. It is more than the memory of any machine.
const maxCache = 1 << 44

func (o *embeddedFlags) register(f *pflag.FlagSet) {
	cli.DataFlag(f, &o.data, "created if it does not exist")
	cli.BoolFlag(f, &o.memory, "memory", "keep everything in memory; all data is lost when the server ends")
	cli.SizeFlag(f, &o.diskReserve, "disk-reserve", 256<<20, 0, maxCache, "`size` of a file that reserves space for deletes on a full disk, at most a sixteenth of the disk; 0 means none")
	cli.SizeFlag(f, &o.cache, "cache-size", usualCache, 1<<20, maxCache, "`size` of the block cache; the default is smaller in a container with little memory")
}

func (o *embeddedFlags) check(flags *pflag.FlagSet) error {
	given := flags.Changed
	o.cacheGiven = given("cache-size")
	if data := flags.Lookup("data"); o.memory && cli.FromEnvironment(data) { // the user need not have made a mistake, because a container image may set $EDGETABLE_DATA
		cli.Ignore(data)
	}
	switch {
	case o.memory && given("data"):
		return cli.Misuse("--memory and --data exclude each other")
	case o.memory && given("backup-to"):
		return cli.Misuse("--backup-to is for a data directory, not for --memory")
	case !o.memory && o.data == "":
		return cli.Misuse("--data names no directory")
	}
	return nil
}

func (o *embeddedFlags) open(ctx context.Context, from *Opening) (*Backend, error) {
	cache, tables := o.limitMemory(from)
	fresh := false
	if !o.memory {
		var err error
		if fresh, err = checkDirectory(o.data); err != nil {
			return nil, err
		}
	}
	store, err := pebblestore.Open(pebblestore.Options{
		Dir: o.data, FS: limitDisk(from.Files), Memory: o.memory, MemoryLimit: tables, CacheSize: cache, DiskReserve: o.diskReserve, KeepLogs: from.KeepLogs, Interrupt: ctx.Done(),
		MaxOpenFiles: descriptors.Share(descriptors.Limit()).Store, Spare: descriptors.Release,
		Observer: embeddedMetrics(from.Metrics),
		Logf:     func(format string, args ...any) { from.Log.Warn(fmt.Sprintf(format, args...)) },
		Fatal: func(err error) {
			from.Log.Error("the store must stop; confirmed writes are safe", "cause", err)
			os.Exit(1)
		},
	})
	if err != nil {
		return nil, explain(err, o.data)
	}
	if _, follows, err := store.Position(); err != nil || follows && !from.Secondary {
		if follows {
			err = fmt.Errorf("%s belongs to a secondary: start its server with --secondary-of, or make the secondary a primary with 'edgetable promote %[1]s'", o.data)
		}
		return nil, errors.Join(err, store.Close())
	}
	if err := store.RenewHistory(ctx); err != nil {
		from.Log.Warn("the store cannot begin a new history of its feeds yet; the next request for changes tries again", "cause", err)
	}
	b := &Backend{
		Store: store, System: "edgetable", Place: "in memory; they are lost when the server ends", Cache: cache, Tables: tables,
		Close: store.Close, Ready: func(context.Context) error { return store.Ready() }, ReadyTTL: time.Second,
	}
	watchEmbedded(from.Metrics, store)
	if !o.memory {
		b.Embedded = NewCheckpoints(store, from.Log)
		dir, err := filepath.Abs(o.data)
		if err != nil { // this fails if the working directory was removed
			dir = o.data
		}
		if b.Place = "in " + dir; fresh {
			b.Place += ", which is new"
		}
	}
	return b, nil
}

// checkDirectory returns an error if a server cannot start with the data directory. The result isNew reports whether
// the directory does not exist yet.
func checkDirectory(dir string) (isNew bool, err error) {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		return false, fmt.Errorf("--data: %s is not a directory", dir)
	}
	isNew = os.IsNotExist(err)
	if err := restored(dir); err != nil {
		return false, err
	}
	if follow.Rebuilding(dir) {
		return false, fmt.Errorf("%s belongs to an incomplete secondary: start it with --secondary-of, or name another directory", dir)
	}
	if to, err := os.Readlink(dir); err == nil && isNew {
		return false, fmt.Errorf("--data: %s is a link to %s, which does not exist: make that directory, or name another one", dir, to)
	}
	return isNew, nil
}

// explain adds advice to an error that occurred while the store was opened.
func explain(err error, dir string) error {
	switch {
	case errors.Is(err, pebblestore.ErrLost):
		return cli.Fail(cli.StatusDamage, fmt.Errorf("%w; restore a backup. To continue without the lost commits, run 'edgetable check --accept-damage %s' and start the server again", err, dir))
	case errors.Is(err, pebblestore.ErrDamaged):
		return cli.Fail(cli.StatusDamage, err) // a supervisor does not restart a server that exits with this status
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("--data: the file system of %s is read-only: mount it for writing, or name another directory", dir)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w; let this user write there, or name another directory with --data", err)
	case errors.Is(err, pebblestore.ErrForeign) && ofAzurite(dir):
		return fmt.Errorf("%s has the tables of Azurite, which edgetable cannot use directly: name another directory for --data; 'edgetable import %s' then reads them (docs/migrate-from-azurite.md)", dir, dir)
	}
	return err
}

// restored returns an error if a directory contains a part of a backup, because a restore was interrupted.
func restored(dir string) error {
	if !target.Interrupted(dir) {
		return nil
	}
	return cli.Fail(cli.StatusDamage, fmt.Errorf("%s contains a part of a backup, whose restore was interrupted: run the same 'edgetable backup restore' again", dir))
}

// ofAzurite reports whether a directory contains Azurite's table file.
func ofAzurite(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "__azurite_db_table__.json"))
	return err == nil
}

// BesideCache is the memory in bytes that a server needs in addition to the block cache, for requests, pages and
// compactions.
const BesideCache = 192 << 20

// usualCache is the default size of the block cache in bytes. It is smaller in a container with little memory.
const usualCache = 128 << 20

// limitMemory makes Go's garbage collector run rarely, unless GOMEMLIMIT or GOGC is set. It returns the size of the
// block cache. For a store in memory, it also returns the maximum size of all tables.
func (o *embeddedFlags) limitMemory(from *Opening) (cache, tables int64) {
	cache = o.cache
	// Limit the cache to a fifth of the heap. A memtable is a quarter of the cache: with a heap of 256 MiB, it holds
	// two of the largest batches.
	if from.Heap > 0 && !o.cacheGiven {
		cache = min(cache, from.Heap/5)
	}
	if o.memory {
		if from.Heap > 0 { // use half of the memory, because a compaction copies tables before it removes the old ones
			tables = max(1<<20, (from.Heap-cache-min(BesideCache, from.Heap/3))/2)
		}
		return cache, tables
	}
	if cmp.Or(from.Environment("GOMEMLIMIT"), from.Environment("GOGC")) == "" {
		debug.SetMemoryLimit(min(debug.SetMemoryLimit(-1), cache+BesideCache))
		debug.SetGCPercent(400)
	}
	return cache, 0
}
