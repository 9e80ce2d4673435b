package pebblestore

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/adapters/store/pebblestore/internal/backlog"
	"edgetable/adapters/store/pebblestore/internal/fulldisk"
	"edgetable/adapters/store/pebblestore/internal/layout"
	"edgetable/adapters/store/pebblestore/internal/logguard"
	"edgetable/adapters/store/pebblestore/internal/room"
	"edgetable/adapters/store/pebblestore/logship"
	"edgetable/core/edm"
)

// Open opens or creates a store, and replays the log after a crash. On a full disk, the replay uses the space of the
// reserve file, or waits for space.
func Open(o Options) (*Store, error) {
	if o.Dir == "" && !o.Memory {
		return nil, errors.New("a store needs a data directory")
	}
	o = o.withDefaults()
	s := &Store{dir: o.Dir, memory: o.Memory, now: o.Now, room: room.New(o.MemoryLimit), fatal: o.Fatal, committed: o.Observer.Commit, tables: newTables(), seed: maphash.MakeSeed(), marker: logguard.NewMarker()}
	s.backlog = backlog.New(&s.stalls)
	s.ending, s.end = context.WithCancel(context.Background())
	s.journal = new(journal) // Store.die may need the journal before the clock is known
	if !o.Memory {
		s.disk = fulldisk.New(fulldisk.Options{
			FS: o.FS, Dir: o.Dir, Reserve: o.DiskReserve, Spare: o.Spare, Retry: pause, Logf: o.Logf,
		})
		s.machine = s.disk.Direct()
		s.journal.stalled, s.journal.short = s.disk.Stalled, s.disk.Shortage
		o.FS = s.disk.FS()
	}
	opened := make(chan error, 1)
	go func() {
		defer close(opened)
		err := s.open(o)
		if err != nil && s.disk != nil {
			s.disk.Close()
		}
		opened <- err
	}()
	if err := s.await(opened, o.Interrupt); err != nil {
		go func() { // after an interrupt, the opening may still succeed; the directory is locked until then, because Pebble cannot abort the opening
			if err, more := <-opened; more && err == nil {
				_ = s.Close() // no caller has used the store, so an error does not matter
			}
		}()
		return nil, fmt.Errorf("open %s: %w", o.Dir, err)
	}
	return s, nil
}

// await returns the next value from the channel done. It returns an error if interrupt is closed while file operations
// wait for disk space.
func (s *Store) await(done <-chan error, interrupt <-chan struct{}) error {
	select {
	case err := <-done:
		return err
	case <-interrupt:
	}
	if s.memory {
		return <-done
	}
	select {
	case err := <-done:
		return err
	case <-s.disk.Stalled():
		return s.disk.Shortage()
	}
}

func (s *Store) open(o Options) error {
	if err := checkForeign(o); err != nil && !hasLockFile(o) {
		return err // check this before any file is created in the directory
	}
	if o.AcceptDamage && !o.Memory {
		if err := tryRead(o); err != nil { // check this before any file is changed
			return err
		}
		if err := s.removeHistoryFile(); err != nil { // do this first: if this start is killed, the next start may be unable to detect which commits were lost
			return err
		}
	}
	err := s.openChanging(o)
	if errors.Is(err, ErrLost) {
		o.AcceptDamage = true
		if other := tryRead(o); other != nil {
			return other // even with AcceptDamage, Open would fail with this error
		}
	}
	return err
}

// tryRead returns the reason why Open would fail even with Options.AcceptDamage. It changes no file.
func tryRead(o Options) error {
	if _, err := o.FS.Stat(o.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil // the store is new
	}
	names, err := o.FS.List(o.Dir)
	if err != nil || !slices.ContainsFunc(names, layout.IsStore) {
		return err
	}
	db, logs, err := OpenToRead(o)
	if err != nil {
		return err
	}
	_, follows, err := storedPosition(db)
	if follows && len(logs.Losses()) > 0 {
		err = fmt.Errorf("%w: it belongs to a secondary, and --accept-damage works only for a primary; remove all files in the data directory, and start the secondary again: it rebuilds its store from the backup location", ErrDamaged)
	}
	return errors.Join(err, db.Close())
}

// openChanging opens the store and may change its files. It fails if commits are lost, unless o.AcceptDamage is set.
func (s *Store) openChanging(o Options) error {
	p := o.pebble(s)
	// If the directory is missing, pebble.Open creates it, makes the directory and its parents durable, and locks it.
	lock, err := LockDirectory(o.FS, o.Dir)
	isNew := errors.Is(err, fs.ErrNotExist)
	if err != nil && !isNew {
		return err
	}
	if err == nil {
		defer lock.Close() // Close releases one reference to the lock; Pebble holds another reference
		p.Lock = lock
	}
	if err := checkForeign(o); err != nil {
		return err
	}
	if !o.Memory {
		if err := s.inspectLogs(o, p); err != nil {
			return explain(err)
		}
	}
	s.db, err = pebble.Open(o.Dir, p)
	if cause, ok := errors.AsType[*fs.PathError](err); ok && isNew { // a new directory cannot be damaged
		return cause.Err
	}
	if err != nil {
		return s.openError(err, o)
	}
	if err := s.load(o, false); err != nil {
		return errors.Join(s.openError(err, o), s.db.Close())
	}
	go s.backlog.Run(s.ending, func() (layers, running int) {
		m := s.pebbleMetrics()
		if s.room.Update(int64(m.Total().TablesSize), o.Logf) {
			s.calls.Go(func() { _ = s.db.Compact(s.ending, []byte{0}, []byte{255}, false) }) // an error only means that the memory is not freed
		}
		return int(m.Levels[0].Sublevels), int(m.Compact.NumInProgress)
	})
	if s.memory {
		return nil
	}
	s.logs.Replayed()
	go s.marker.Run(s.writeMark, func(n edm.Ticks) { s.logs.Note(s.machine, n) })
	s.disk.Open()
	return nil
}

// inspectLogs opens the keeper of unshipped logs. It also makes Pebble use a guard, which checks each log before its
// replay.
func (s *Store) inspectLogs(o Options, p *pebble.Options) error {
	issued := func() int64 { return s.journal.last.Load() }
	keeper, err := logship.Open(logship.Options{FS: s.machine, Dir: o.Dir, Issued: issued, Full: s.disk.Full, Logf: o.Logf}, o.KeepLogs)
	if err != nil {
		return err
	}
	guard := logguard.Options{FS: o.FS, Dir: o.Dir, Issued: issued, Synced: o.Observer.Sync, Keeper: keeper, Logf: o.Logf}
	if o.AcceptDamage {
		guard.OnLoss = logguard.KeepReadable
	}
	s.shipping = keeper
	return s.guard(guard, p)
}

// Close closes the store. All other calls must have returned. Close moves the content of the log to data files, so that
// the next Open has nothing to replay.
//
// If a Pebble call waits for disk space, the store remains open and locked until the process ends.
func (s *Store) Close() error {
	if s.memory {
		s.end()
		s.backlog.WaitEnd()
		return s.db.Close()
	}
	// On a full disk, Close does not flush, and the next Open replays the log. If another directory has replaced the
	// data directory, a flush would create files there.
	flushed := s.disk.Refusal() == nil && s.flush(context.Background()) == nil
	s.end()
	if s.endCalls() != nil {
		return nil
	}
	s.disk.Close()
	s.backlog.WaitEnd()
	s.marker.End()
	s.copies.Close()
	err := s.db.Close()
	if err == nil && flushed {
		err = s.logs.ForgetAll()
	}
	if fulldisk.Scarce(err) {
		return nil // nothing is lost: the log has all confirmed commits
	}
	return err
}
