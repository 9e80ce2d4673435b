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
	// deletes fail with [table.ErrMemoryFull]. A compaction temporarily needs the same amount in addition.
	MemoryLimit int64
	// FS is the file system of Dir; nil means that of the machine.
	FS vfs.FS
	// CacheSize is the memory in bytes for blocks of data files and for writes that are
	// not in data files yet; 0 means 128 MiB.
	CacheSize int64
	// DiskReserve is the size in bytes of the reserve file, which keeps space for deletes and
	// compactions on a full disk. It is at most a sixteenth of the disk. 0 means no file, and
	// a negative value keeps the file as it is.
	DiskReserve int64
	// KeepLogs is the maximum size in bytes of the logs that are kept until they are shipped, see [Store.ReadLog].
	// 0 keeps none. A negative value keeps logs, without a limit, if the last start kept them.
	KeepLogs int64
	// MaxOpenFiles is the maximum number of data files open at once; 0 means 1,000.
	MaxOpenFiles int
	// Spare closes files that the process keeps open only as a reserve of file descriptors, and reports whether there
	// were any. Nil means that there is no such reserve.
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

	// After a crash, the logs of up to three memtables are replayed. They have at most 48 MiB, so the replay takes less
	// than a second. Memtables are smaller if the reserve file is small, because a quarter of its size must suffice to
	// flush them.
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
		// FlushDelayDeleteRange makes Pebble free the disk space of a dropped table even if no further writes cause a flush.
		FlushDelayDeleteRange: 10 * time.Second,

		L0CompactionThreshold:      4,
		L0StopWritesThreshold:      32 * backlog.Max, // not reached: commits wait earlier for compactions, see package backlog
		LBaseMaxBytes:              256 << 20,
		CompactionConcurrencyRange: s.compactions,
	}
	p.TargetFileSizes[0] = 4 << 20
	for i := range p.Levels {
		p.Levels[i] = pebble.LevelOptions{
			BlockSize:      blockSize,
			IndexBlockSize: 256 << 10,
			FilterPolicy:   bloom.FilterPolicy(10), // for Get and inserts: only 1% of the reads of absent keys read a block
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
				return // DataCorruption reports the damage; all other data can be served
			}
			if path, ok := readErrorPath(err); ok && isThere(o.FS, path) { // not for a file that could not be created
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
			// Pebble would retry at once, again and again. The log has all confirmed commits, so
			// nothing is lost if the process ends instead.
			if s.failures.Add(1) >= maxFailures {
				s.die(fmt.Errorf("the store cannot write its data files: %w", err))
			}
		},
	}
	if reserve := s.disk.Reserve(); reserve > 0 {
		p.MemTableSize = uint64(min(memTable, max(minTable, reserve/16)))
	}
	// The memory of memtables is part of the cache size. Pebble seldom has more than two, so half of the cache remains for blocks.
	p.MemTableSize = min(p.MemTableSize, max(minTable, uint64(o.CacheSize)/4))
	if o.tune != nil {
		o.tune(p)
	}
	return p
}

// Blocks of 16 KiB and Snappy were chosen by measurements on one core, with entities of 1 KiB of which
// half is compressible. With blocks of 32 KiB, scans from the page cache are 1.3 times as fast, but a Get
// that misses the block cache reads and caches twice as much. With blocks of 4 KiB, scans are half as fast.
// Without compression, reads from a warm cache are not faster, and the disk space doubles.
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
