package pebblestore

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore/internal/backlog"
	"edgetable/adapters/store/pebblestore/internal/fulldisk"
	"edgetable/adapters/store/pebblestore/internal/layout"
	"edgetable/adapters/store/pebblestore/internal/logguard"
	"edgetable/adapters/store/pebblestore/internal/recordcopy"
	"edgetable/adapters/store/pebblestore/internal/room"
	"edgetable/adapters/store/pebblestore/logship"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// Store is a table.Store in a directory. Use [Open].
type Store struct {
	identity atomic.Pointer[string] // identity of the store; nil until loadIdentity has read it
	db       *pebble.DB
	memory   bool
	now      func() edm.Ticks // clock of the machine; nil if the store is open for reading only
	fatal    func(error)
	// committed is called with the duration of each commit. It may be nil.
	committed   func(time.Duration)
	logs        *logguard.Guard // guard of the logs; nil for a store in memory
	shipping    *logship.Keeper // keeper of unshipped logs; nil for a store in memory or for reading only
	dir         string
	histories   sync.Mutex
	history     table.History      // history of the store; zero until the file HISTORY has shown that this store is not a copy
	copied      recordcopy.Content // second copy of the records, as read at the start
	disk        *fulldisk.Disk     // the disk, with its free space; nil for a store in memory
	room        *room.Room         // limit of the memory; nil for a store on disk, or without a limit
	machine     vfs.FS             // file system of the machine, in which an operation without disk space fails
	copies      *recordcopy.File   // file with the second copy of the records; nil for a store in memory
	backlog     *backlog.Backlog   // backlog of compactions; nil if the store is open for reading only
	marker      *logguard.Marker
	journal     *journal
	tables      *tables
	stalls      atomic.Int64
	lastMetrics atomic.Pointer[pebble.Metrics] // previous metrics, used while Pebble may hold the lock of its metrics
	calls       sync.WaitGroup                 // counter of the Pebble calls that may wait for disk space
	checkpoint  sync.Mutex                     // lock that is held while a checkpoint is made
	ending      context.Context                // context that s.end cancels when the store is being closed
	end         context.CancelFunc
	// failures counts failed flushes and compactions since the last successful flush.
	failures atomic.Int32

	damaged      atomic.Int64 // number of reads and compactions that found damage
	damagedFiles sync.Map     // paths of files whose damage was logged
	// compactionFailed is the time of the last failed compaction, in Unix
	// nanoseconds.
	compactionFailed atomic.Int64

	catalog struct {
		sync.Mutex              // this lock is acquired before the lock of any stripe
		last       atomic.Int64 // number of the last catalog change, stored before the change is applied
	}
	seed    maphash.Seed
	stripes [stripeCount]stripe
}

var _ table.Store = (*Store)(nil)

// Declares implements [table.Declaring].
func (s *Store) Declares() (name string, expiry bool) { return "Pebble", true }

// stripe returns the lock for the partition of an entity. k is the full key of the entity.
func (s *Store) stripe(k []byte) *stripe {
	n := layout.PrefixLength + len(key.Partition(k[layout.PrefixLength:]))
	return &s.stripes[maphash.Bytes(s.seed, k[:n])%stripeCount]
}

func (s *Store) lockStripes() {
	for i := range s.stripes {
		s.stripes[i].Lock()
	}
}

func (s *Store) unlockStripes() {
	for i := range s.stripes {
		s.stripes[i].Unlock()
	}
}

// awaitAndReturn waits until all commits with numbers up to n are durable, and then returns err. If the wait fails, it
// returns the error of the wait.
func (s *Store) awaitAndReturn(ctx context.Context, n int64, err error) error {
	if w := s.journal.wait(ctx, n); w != nil {
		return w
	}
	return err
}

// apply adds the batch of a commit to the log and shows it to readers. The log has the batches in the order of the
// calls. After a success, the caller must call awaitDurable.
func (s *Store) apply(b *pebble.Batch, e *entry) error {
	if s.memory {
		return s.applyUnsynced(b)
	}
	defer s.exitOnPanic()
	m := logguard.Mark{Number: e.number, Synced: s.marker.Synced()}
	if err := b.LogData(m.Append(make([]byte, 0, logguard.MarkLength)), nil); err != nil {
		return err
	}
	e.size = b.Len()
	if err := s.disk.Begin(e.size, e.undo.mutations); err != nil {
		return err
	}
	if err := s.db.ApplyNoSyncWait(b, pebble.Sync); err != nil {
		s.disk.End(e.size)
		return err
	}
	s.logs.Applied()
	return nil
}

// writeMark writes a [logguard.Mark] to the log, without a commit.
func (s *Store) writeMark(m logguard.Mark) error {
	defer s.exitOnPanic()
	return s.db.LogData(m.Append(nil), pebble.Sync)
}

// applyUnsynced is like apply for a batch that need not be synced: it becomes durable together with the next synced batch.
func (s *Store) applyUnsynced(b *pebble.Batch) error {
	defer s.exitOnPanic()
	return s.db.Apply(b, pebble.NoSync)
}

// exitOnPanic is deferred while a commit is applied. Pebble panics if it cannot write its log. The process must then
// end, because a recovered panic leaves half a commit and a locked stripe.
func (s *Store) exitOnPanic() {
	if r := recover(); r != nil {
		if err, ok := r.(error); !ok || !errors.Is(err, pebble.ErrClosed) {
			s.die(fmt.Errorf("panic in a commit: %v", r))
		}
		panic(r)
	}
}

// awaitDurable waits until an applied batch is durable. It must be called by the goroutine that applied the batch,
// because the log wakes this goroutine.
func (s *Store) awaitDurable(b *pebble.Batch, e *entry) error {
	if !s.memory {
		if err := b.SyncWait(); err != nil {
			s.die(fmt.Errorf("sync of the log: %w", err))
			return table.ErrUnknown
		}
		s.disk.End(e.size)
		s.marker.SawSync(e.number)
	}
	s.journal.done(e)
	b.Close() // Close returns the batch to a pool, and cannot fail
	return nil
}

// die ends the process through Options.Fatal. If Options.Fatal returns, requests that depend on unsynced commits fail.
func (s *Store) die(err error) {
	s.journal.fail()
	if s.disk.Closing() {
		return // Store.Close reports the write error
	}
	s.fatal(err)
}

// checkSpace returns an error if the disk or the memory has no space for the mutations.
func (s *Store) checkSpace(m []table.Mutation) error {
	if s.room.IsFull() {
		return s.room.Admit(!slices.ContainsFunc(m, func(m table.Mutation) bool { return !m.Kind.Removes() }))
	}
	return s.disk.Admit(m)
}

// admitDelete is like checkSpace. The parameter deletes is true if the change only deletes data.
func (s *Store) admitDelete(deletes bool) error {
	if err := s.room.Admit(deletes); err != nil {
		return err
	}
	return s.disk.AdmitDelete(deletes)
}
