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
	"edgetable/adapters/store/pebblestore/internal/datafile"
	"edgetable/core/edm"
)

// Options configure a store. One of Dir and Memory is required.
type Options struct {
	// Dir is the data directory. If it does not exist, Open creates it, accessible only to the owner.
	Dir string
	// Memory keeps everything in memory, without a log: nothing is durable.
	Memory bool
	// MemoryLimit is the maximum number of bytes of the tables if Memory is set; 0 means no limit. Above it, only
	// deletes are accepted. During a compaction, the tables need up to twice their memory.
	MemoryLimit int64
	// FS is the file system that contains Dir; nil means the file system of the machine.
	FS vfs.FS
	// CacheSize is the memory in bytes for blocks of data files and for writes that are
	// not in data files yet; 0 means 128 MiB.
	CacheSize int64
	// DiskReserve is the size in bytes of the reserve file, whose space can be used on a full disk. It is at most a
	// sixteenth of the disk. 0 means no file. A negative value leaves an existing file unchanged.
	DiskReserve int64
	// KeepLogs is the maximum total size in bytes of the unshipped logs that the store keeps; 0 means none. See
	// [Store.ReadLog]. If it is negative, there is no limit, but only if the last start kept logs.
	KeepLogs int64
	// MaxOpenFiles is the maximum number of data files that are open at the same time; 0 means 1,000.
	MaxOpenFiles int
	// Spare closes files that are open only as a reserve of file descriptors. It reports whether there were such files.
	// If Spare is nil, there is no reserve.
	Spare func() bool
	// Now is the clock for Timestamps; nil means the clock of the machine.
	Now func() edm.Ticks
	// Fatal is called when the log cannot be written. It should end the process without a panic, because a caller could
	// recover. If Fatal is nil, the store logs the error and exits.
	Fatal func(error)
	// Logf logs events for the operator, such as a failed compaction; nil means
	// log.Printf.
	Logf func(format string, args ...any)

	// Interrupt can be closed to end an Open that waits for disk space or a file descriptor. If Interrupt is nil, Open
	// waits without a limit.
	Interrupt <-chan struct{}

	// AcceptDamage makes Open accept a directory that has lost confirmed commits. The store then does not have these
	// commits.
	AcceptDamage bool

	Observer Observer

	tune func(*pebble.Options) // function that changes the options of Pebble in tests
}

const (
	defaultCache = 128 << 20

	// After a crash, the logs of up to three memtables (48 MiB) are replayed in less than a second. A quarter of the
	// reserve file must suffice to flush the memtables, so a small reserve file requires smaller memtables.
	memTable  = 16 << 20
	minTable  = 256 << 10
	memTables = 3
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

// pebble returns options for Pebble. They are tuned for entities of about 1 KiB, reads by key, and scans with filters.
func (o Options) pebble(s *Store) *pebble.Options {
	p := &pebble.Options{
		FS:                 o.FS,
		FormatMajorVersion: pebble.FormatTableFormatV6, // change this version only together with layout.Version
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
		L0StopWritesThreshold:      32 * backlog.Max, // commits never reach this limit, because package backlog makes them wait when level 0 has backlog.Max sublevels
		LBaseMaxBytes:              256 << 20,
		CompactionConcurrencyRange: s.compactions,
	}
	p.TargetFileSizes[0] = 4 << 20
	for i := range p.Levels {
		p.Levels[i] = pebble.LevelOptions{
			BlockSize:      blockSize,
			IndexBlockSize: 256 << 10,
			FilterPolicy:   bloom.FilterPolicy(10), // with this filter, only 1% of the reads of absent keys read a block, which speeds up Get and inserts
			Compression:    func() *sstable.CompressionProfile { return compression },
		}
	}
	p.BlockPropertyCollectors = []func() pebble.BlockPropertyCollector{func() pebble.BlockPropertyCollector { return datafile.Signature(s.signature) }}
	p.EventListener = s.listener(o.FS, o.Logf)
	if reserve := s.disk.Reserve(); reserve > 0 {
		p.MemTableSize = uint64(min(memTable, max(minTable, reserve/16)))
	}
	// Memtables use a part of CacheSize. Pebble seldom has more than two, so at least half of CacheSize remains for
	// blocks.
	p.MemTableSize = min(p.MemTableSize, max(minTable, uint64(o.CacheSize)/4))
	if o.tune != nil {
		o.tune(p)
	}
	return p
}

// Blocks of 16 KiB and Snappy were chosen by measurements on one core, with entities of 1 KiB of which half is
// compressible.
//
//   - With blocks of 32 KiB, scans from the page cache are 1.3 times as fast. But a Get that misses the block cache
//     reads and caches twice as much.
//   - With blocks of 4 KiB, scans are half as fast.
//   - Without compression, reads from a warm cache are not faster, and the disk space doubles.
var (
	blockSize   = 16 << 10
	compression = sstable.SnappyCompression
)

// privateDirs is a file system in which only the owner can access new directories.
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
