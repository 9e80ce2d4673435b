package pebblestore

import (
	"cmp"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore/internal/backlog"
	"edgetable/adapters/store/pebblestore/internal/fulldisk"
	"edgetable/core/edm"
)

// Options configure a store. One of Dir and Memory is required.
type Options struct {
	// Dir is the data directory. If it is missing, Open makes it, accessible only
	// to the owner.
	Dir string
	// Memory keeps everything in memory, without a log: nothing is durable.
	Memory bool
	// MemoryLimit bounds the bytes that tables may use with Memory; 0 means no limit. Above it, all writes except
	// deletes fail with [table.ErrMemoryFull]. A compaction temporarily needs as much memory again.
	MemoryLimit int64
	// FS is the file system of Dir; nil means that of the machine.
	FS vfs.FS
	// CacheSize is the memory in bytes for blocks of data files and for writes that are
	// not in data files yet; 0 means 128 MiB.
	CacheSize int64
	// DiskReserve is the size in bytes of a file that keeps room for deletes and
	// compactions on a full disk, at most a sixteenth of the disk; 0 means none, and
	// less than 0 keeps the file as it is.
	DiskReserve int64
	// KeepLogs is the size in bytes of the logs that are kept until [LogReader] has read them;
	// 0 keeps none, and less than 0 keeps them if the last start did.
	KeepLogs int64
	// MaxOpenFiles is the maximum number of data files open at once; 0 means 1,000.
	MaxOpenFiles int
	// Spare frees file descriptors that the process holds in reserve, and reports whether there were any. Nil means
	// that there are none.
	Spare func() bool
	// Now is the clock for Timestamps; nil means the clock of the machine.
	Now func() edm.Ticks
	// Fatal is called when the log cannot be written. It should end the process,
	// but not by a panic, which could be recovered; nil logs the error and
	// exits.
	Fatal func(error)
	// Logf logs events for the operator, such as a failed compaction; nil means
	// log.Printf.
	Logf func(format string, args ...any)

	// Interrupt, when it is closed, ends an Open that waits for disk space or for a file descriptor. If Interrupt is
	// nil, such an Open waits without a limit.
	Interrupt <-chan struct{}

	// AcceptDamage opens a directory that has lost confirmed commits, without them.
	AcceptDamage bool

	Observer Observer

	tune func(*pebble.Options) // for tests
}

const (
	defaultCache = 128 << 20

	// The log of a memtable is replayed after a crash. Three of them are at most 48 MiB, which takes less than a
	// second. They are smaller if the reserve for a full disk is small, because a quarter of the reserve must suffice
	// to flush them.
	memTable  = 16 << 20
	minTable  = 256 << 10
	memTables = 3

	// maxFailures is the number of consecutive failed flushes or compactions that ends the process.
	maxFailures = 10
)

func (o Options) withDefaults() Options {
	if o.Memory {
		o.Dir, o.FS = "edgetable", vfs.NewMem()
	}
	if o.FS == nil {
		o.FS = vfs.Default
	}
	o.FS = privateDirs{o.FS}
	o.CacheSize = cmp.Or(o.CacheSize, defaultCache)
	if o.Now == nil {
		o.Now = func() edm.Ticks { return edm.TicksOf(time.Now()) }
	}
	if o.Fatal == nil {
		o.Fatal = func(err error) { log.Fatalf("edgetable cannot continue: %v", err) }
	}
	if o.Logf == nil {
		o.Logf = log.Printf
	}
	return o
}

// pebble returns options for Pebble, tuned for entities of about 1 KiB, reads
// by key, and scans with filters.
func (o Options) pebble(s *Store) *pebble.Options {
	p := &pebble.Options{
		FS:                 o.FS,
		FormatMajorVersion: pebble.FormatTableFormatV6, // raise it only together with formatVersion
		Logger:             logger{o.Logf, s.die},
		CacheSize:          o.CacheSize,
		MaxOpenFiles:       o.MaxOpenFiles,
		DisableWAL:         o.Memory,

		MemTableSize:                memTable,
		MemTableStopWritesThreshold: memTables,
		BytesPerSync:                1 << 20,
		// A dropped table frees its disk space without further writes.
		FlushDelayDeleteRange: 10 * time.Second,

		L0CompactionThreshold:      4,
		L0StopWritesThreshold:      32 * backlog.Max, // the store itself waits for compactions, see package backlog
		LBaseMaxBytes:              256 << 20,
		CompactionConcurrencyRange: s.compactions,
	}
	p.TargetFileSizes[0] = 4 << 20
	for i := range p.Levels {
		p.Levels[i] = pebble.LevelOptions{
			BlockSize:      blockSize,
			IndexBlockSize: 256 << 10,
			FilterPolicy:   bloom.FilterPolicy(10), // for Get and for inserts: 1% of misses read a block
			Compression:    func() *sstable.CompressionProfile { return compression },
		}
	}
	p.BlockPropertyCollectors = []func() pebble.BlockPropertyCollector{func() pebble.BlockPropertyCollector { return signature{s} }}
	p.EventListener = &pebble.EventListener{
		WriteStallBegin: func(pebble.WriteStallBeginInfo) {
			s.stalls.Add(1)
			s.disk.Stall(true)
		},
		WriteStallEnd:   func() { s.disk.Stall(false) },
		CompactionBegin: func(pebble.CompactionInfo) { s.disk.Compacting(true) },
		CompactionEnd: func(i pebble.CompactionInfo) {
			s.disk.Compacting(false)
			if i.Err == nil {
				s.disk.Compacted(i.Output.Tables)
			}
			s.backlog.Changed()
		},
		FlushEnd: func(i pebble.FlushInfo) {
			if i.Err == nil {
				s.failures.Store(0)
			}
			s.backlog.Changed()
		},
		DataCorruption: func(i pebble.DataCorruptionInfo) { s.sawDamage(i, o.Logf) },
		BackgroundError: func(err error) {
			if pebble.IsCorruptionError(err) {
				s.compactionFailed.Store(time.Now().UnixNano())
				return // DataCorruption reports it; all other data can be served
			}
			if path, ok := reading(err); ok && isThere(o.FS, path) { // except a file that was to be created
				s.compactionFailed.Store(time.Now().UnixNano())
				s.sawDamage(pebble.DataCorruptionInfo{Path: path, Details: err}, o.Logf)
				return
			}
			if fulldisk.NoDescriptor(err) {
				s.compactionFailed.Store(time.Now().UnixNano())
				return
			}
			if fulldisk.NoSpace(err) {
				s.compactionFailed.Store(time.Now().UnixNano())
				s.disk.Starve()
				return
			}
			o.Logf("edgetable: background work of the store: %v", err)
			// Pebble would retry at once and without end. Confirmed commits are in the
			// log, so it is better to end the process.
			if s.failures.Add(1) >= maxFailures {
				s.die(fmt.Errorf("the store cannot write its data files: %w", err))
			}
		},
	}
	if reserve := s.disk.Reserve(); reserve > 0 {
		p.MemTableSize = uint64(min(memTable, max(minTable, reserve/16)))
	}
	// Pebble takes memtables, of which it seldom has more than two, out of the cache memory. Half of that remains for blocks.
	p.MemTableSize = min(p.MemTableSize, max(minTable, uint64(o.CacheSize)/4))
	if o.tune != nil {
		o.tune(p)
	}
	return p
}

// Blocks of 16 KiB and Snappy were measured on one core with entities of 1 KiB, half of
// each compressible. Blocks of 32 KiB scan 1.3 times as fast from the page cache, but a
// Get that misses reads and caches twice as much. Blocks of 4 KiB scan half as fast. No
// compression saves no time once the cache is warm, and doubles the disk space.
var (
	blockSize   = 16 << 10
	compression = sstable.SnappyCompression
)

// privateDirs makes directories that only the owner can access.
type privateDirs struct{ vfs.FS }

func (p privateDirs) MkdirAll(dir string, _ os.FileMode) error { return p.FS.MkdirAll(dir, 0o700) }

// logger logs the errors of Pebble, but not its routine messages.
type logger struct {
	logf func(string, ...any)
	die  func(error)
}

func (l logger) Infof(string, ...any) {}

func (l logger) Errorf(format string, args ...any) { l.logf("edgetable: "+format, args...) }

func (l logger) Fatalf(format string, args ...any) { l.die(fmt.Errorf(format, args...)) }
