package pebblestore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/adapters/store/pebblestore/internal/backlog"
	"edgetable/adapters/store/pebblestore/internal/fulldisk"
	"edgetable/adapters/store/pebblestore/internal/logguard"
	"edgetable/adapters/store/pebblestore/internal/recordcopy"
	"edgetable/adapters/store/pebblestore/internal/room"
	"edgetable/adapters/store/pebblestore/logship"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Errors of [Open].
var (
	// ErrNewer means that the directory has a format that this version does not know.
	ErrNewer = errors.New("data directory was written by a newer edgetable; run that version")
	// ErrInUse means that the directory is locked, usually by another process.
	ErrInUse = errors.New("data directory is in use by another process; stop it, or name another directory")
	// ErrDamaged means that the directory cannot be opened as it is, and that a retry does not help. ErrLost is a special
	// case of ErrDamaged.
	ErrDamaged = logguard.ErrDamaged
	// ErrLost is the damage that Options.AcceptDamage accepts: confirmed commits are lost, but the store can serve its
	// other data.
	ErrLost = logguard.ErrLost
	// ErrForeign means that the directory belongs to another program.
	ErrForeign = errors.New("data directory was not written by edgetable")
)

// Open opens or creates a store. After a crash it first replays the log. On a full disk, the replay uses the space of
// the reserve file. If there is no reserve file, Open waits until there is space.
func Open(o Options) (*Store, error) {
	if o.Dir == "" && !o.Memory {
		return nil, errors.New("a store needs a data directory")
	}
	o = o.withDefaults()
	s := &Store{dir: o.Dir, memory: o.Memory, now: o.Now, room: room.New(o.MemoryLimit), fatal: o.Fatal, committed: o.Observer.Commit, tables: newTables(), seed: maphash.MakeSeed(), marker: logguard.NewMarker()}
	s.backlog = backlog.New(&s.stalls)
	s.ending, s.end = context.WithCancel(context.Background())
	s.journal = new(journal) // the method die may need the journal before the clock is known
	if !o.Memory {
		s.disk, s.machine = fulldisk.New(fulldisk.Options{
			FS: o.FS, Dir: o.Dir, Reserve: o.DiskReserve, Spare: o.Spare, Retry: pause, Logf: o.Logf,
		}), o.FS
		s.journal.stalled, s.journal.short = s.disk.Stalled, s.disk.Shortage
		o.FS = s.disk.FS()
	}
	opened := make(chan error, 1)
	go func() {
		err := s.open(o)
		if err != nil && s.disk != nil {
			s.disk.Close()
		}
		opened <- err
	}()
	if err := s.await(opened, o.Interrupt); err != nil {
		return nil, fmt.Errorf("open %s: %w", o.Dir, err)
	}
	return s, nil
}

// await waits until the method open has returned. If the channel interrupt is closed while the opening waits for disk
// space, await returns an error. Pebble cannot abort an opening. So the directory stays locked until there is space or
// the process ends.
func (s *Store) await(opened <-chan error, interrupt <-chan struct{}) error {
	select {
	case err := <-opened:
		return err
	case <-interrupt:
	}
	if s.memory {
		return <-opened
	}
	select {
	case err := <-opened:
		return err
	case <-s.disk.Stalled():
	}
	why := s.disk.Shortage()
	go func() {
		if <-opened == nil {
			_ = s.Close() // no caller has used the store, so an error does not matter
		}
	}()
	return why
}

func (s *Store) open(o Options) error {
	if err := checkForeign(o); err != nil && !hasLockFile(o) {
		return err // this check must precede the creation of files in the directory
	}
	if o.AcceptDamage && !o.Memory {
		if err := tryRead(o); err != nil { // this check must precede the change of files
			return err
		}
		if err := s.removeHistoryFile(); err != nil { // must be first: after a kill of this start, the next start may be unable to see the lost commits
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
	if err != nil || !slices.ContainsFunc(names, isStore) {
		return err
	}
	r, err := openToRead(o)
	if err != nil {
		return err
	}
	_, follows, err := r.Position()
	if follows && len(r.logs.Lost()) > 0 {
		err = fmt.Errorf("%w: it belongs to a secondary, and --accept-damage works only for a primary; remove all files in the data directory, and start the secondary again: it rebuilds its store from the backup location", ErrDamaged)
	}
	return errors.Join(err, r.db.Close())
}

// openChanging opens the store and may change its files. It fails if commits are lost, unless o.AcceptDamage is set.
func (s *Store) openChanging(o Options) error {
	p := o.pebble(s)
	// If the directory does not exist, pebble.Open must create it, because Pebble also makes
	// the directory and its parents durable. Pebble then locks the directory itself.
	lock, err := lockDirectory(o)
	isNew := errors.Is(err, fs.ErrNotExist)
	if err != nil && !isNew {
		return err
	}
	if err == nil {
		defer lock.Close() // releases only this reference: Pebble also has a reference and keeps the lock
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
		if s.room.Judge(int64(m.Total().TablesSize), o.Logf) {
			s.calls.Go(func() { _ = s.db.Compact(s.ending, []byte{0}, []byte{255}, false) }) // an error only means that the memory stays in use
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

// lockDirectory locks the data directory. It returns ErrInUse, unless the lock file cannot be created.
func lockDirectory(o Options) (*pebble.Lock, error) {
	lock, err := pebble.LockDirectory(o.Dir, o.FS)
	if err == nil || errors.Is(err, fs.ErrPermission) || errors.As(err, new(*fs.PathError)) || errors.Is(err, fs.ErrNotExist) {
		return lock, err
	}
	return nil, ErrInUse
}

// openError converts an error in Pebble or in load to the error that Open returns.
func (s *Store) openError(err error, o Options) error {
	if strings.Contains(err.Error(), "unknown format major version") {
		return fmt.Errorf("%w: %w", ErrNewer, err)
	}
	if s.logs != nil && !o.AcceptDamage {
		if damage := s.logs.Damage(); damage != nil {
			return damage
		}
	}
	return explain(err)
}

// inspectLogs opens the keeper of unshipped logs, and makes Pebble use a guard, which checks each log before its
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

// guard makes Pebble use a [logguard.Guard] as its file system, and reads the second copy of the records.
func (s *Store) guard(o logguard.Options, p *pebble.Options) (err error) {
	s.logs = logguard.New(o)
	p.FS = s.logs
	path := o.FS.PathJoin(o.Dir, recordcopy.Name)
	if s.copied, err = recordcopy.Read(o.FS, path); err != nil {
		return err
	}
	if n := s.copied.Format; n > formatVersion {
		return newer(n)
	}
	if n := s.copied.Damaged; n > 0 {
		o.Logf("edgetable: %d lines of %s are damaged: the file is rewritten", n, path)
	}
	return s.logs.Begin()
}

func newer(format uint32) error {
	return fmt.Errorf("%w (its format is %d, this version supports up to %d)", ErrNewer, format, formatVersion)
}

// checkForeign returns an error for a directory that has other files and no store, for example because of a mistyped
// name.
func checkForeign(o Options) error {
	names, err := o.FS.List(o.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := logguard.CheckMarker(names); err != nil {
		return err
	}
	foreign := ""
	for _, name := range names {
		switch {
		case isStore(name):
			return nil
		case name == "accounts", name == "accounts.used": // files of 'edgetable account', which may run before the server's first start
		case name != "LOCK" && name != "lost+found": // some file systems create lost+found
			foreign = name
		}
	}
	if foreign != "" {
		return fmt.Errorf("%w: it contains %q and no store; name an empty directory or a new one", ErrForeign, foreign)
	}
	return err
}

// isStore reports whether a file of this name shows that its directory contains a store. An interrupted first start may
// also leave such a file.
func isStore(name string) bool {
	return strings.HasPrefix(name, "marker.") || name == "MANIFEST-000001"
}

// hasLockFile reports whether a process has opened the directory as a store. That process may still be creating the
// first files, so the files that isStore looks for may be missing.
func hasLockFile(o Options) bool {
	_, err := o.FS.Stat(o.FS.PathJoin(o.Dir, "LOCK"))
	return err == nil
}

// load checks the format and reads the data that the store keeps in memory. If readOnly is true, load changes nothing.
func (s *Store) load(o Options, readOnly bool) error {
	if err := s.checkFormat(readOnly); err != nil {
		return err
	}
	if err := s.loadIdentity(readOnly); err != nil {
		return err
	}
	if s.logs != nil {
		if err := s.restoreRecords(readOnly, o.Logf); err != nil {
			return err
		}
	}
	reserved, err := s.reservation()
	if err != nil {
		return err
	}
	if p, follows, err := s.Position(); err != nil {
		return err
	} else if follows {
		reserved = max(reserved, p.Number)
	}
	// The replayed commits are durable, because Pebble has moved them to data files. So the journal treats all
	// commits up to the reserved number as durable.
	if s.logs != nil {
		reserved = max(reserved, s.logs.Highest()) // a damaged log may have lost the last reservation
	}
	s.journal.begin(table.NewClock(o.Now, reserved, s.reserve), reserved)
	if err := s.loadTables(); err != nil || s.memory || readOnly {
		return err
	}
	if o.AcceptDamage && len(s.logs.Lost()) > 0 {
		if err := s.countOrphans(o.Logf); err != nil {
			return err
		}
	}
	if err := s.beginFeeds(reserved); err != nil {
		return err
	}
	if err := s.shipping.Begin(reserved, len(s.logs.Lost()) > 0); err != nil {
		return err
	}
	s.copies = recordcopy.New(s.machine, o.Dir, o.Logf)
	want, err := s.copyRecords()
	if err != nil {
		return err
	}
	return s.copies.Begin(o.FS, want, s.copied.Text)
}

// checkFormat checks the format version in the database, and changes an older version to formatVersion.
func (s *Store) checkFormat(readOnly bool) error {
	v, err := getValue(s.db, formatKey)
	if err != nil {
		return err
	}
	if v == nil {
		return s.initialize(readOnly)
	}
	n := uint32(0)
	if len(v) == 4 {
		n = binary.BigEndian.Uint32(v)
	}
	switch {
	case n == 0:
		return ErrForeign
	case n > formatVersion:
		return newer(n)
	case n == formatVersion || readOnly:
		return nil
	}
	return s.setFormat()
}

// initialize writes the format version into an empty database, or into a database that has lost its format version.
func (s *Store) initialize(readOnly bool) error {
	it, err := s.db.NewIter(nil)
	if err != nil {
		return err
	}
	empty := !it.First()
	if err := errors.Join(it.Error(), it.Close()); err != nil {
		return err
	}
	ours := s.logs != nil && s.copied.Format > 0
	switch {
	case !empty && !ours && s.logs != nil && s.logs.Listed():
		return errors.New("the format version of the store is lost, and perhaps its tables")
	case !empty && !ours:
		return ErrForeign
	case ours:
		if err := s.logs.Lose("the format version of the store is lost, together with the data written at the same time"); err != nil {
			return err
		}
	}
	if readOnly {
		return nil
	}
	return s.setFormat()
}

func (s *Store) setFormat() error {
	return s.db.Set(formatKey, binary.BigEndian.AppendUint32(nil, formatVersion), &pebble.WriteOptions{Sync: !s.memory})
}

// reservation returns the highest Timestamp that earlier processes may have
// issued.
func (s *Store) reservation() (edm.Ticks, error) {
	v, err := getValue(s.db, clockKey)
	if v == nil || err != nil {
		return 0, err
	}
	if len(v) != 8 {
		return 0, errors.New("the record of the highest Timestamp that the store may issue is damaged")
	}
	return edm.Ticks(binary.BigEndian.Uint64(v)), nil
}

// reserve stores the highest Timestamp that the clock may issue. It need not sync the log, because the log has this
// write before every commit with a newly reserved Timestamp.
func (s *Store) reserve(t edm.Ticks) error {
	b := s.db.NewBatch()
	if err := b.Set(clockKey, binary.BigEndian.AppendUint64(nil, uint64(t)), nil); err != nil {
		return err
	}
	if err := s.applyUnsynced(b); err != nil {
		return err
	}
	return b.Close()
}

func (s *Store) loadTables() error {
	return forEachKey(s.db, []byte{spaceRecords}, func(k, v []byte) error {
		r, err := table.ParseRecord(string(k[1:]), v)
		if err == nil {
			s.tables.setLive(&r)
		}
		return err
	})
}

// Close closes the store. All other calls must have returned. Close moves the content of the log to data files, so that
// the next Open has nothing to replay. If a Pebble call (such as a backup) waits for disk space, Close leaves the store
// open and locked until the process ends. Close does not make this call fail, because Pebble ends the process if it
// cannot begin a new log.
func (s *Store) Close() error {
	if s.memory {
		s.end()
		s.backlog.WaitEnd()
		return s.db.Close()
	}
	// On a full disk Close does not flush, and the next Open replays the log.
	flushed := !s.disk.Full() && s.flush(context.Background()) == nil
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
