package pebblestore

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/adapters/store/pebblestore/internal/logguard"
)

// OpenToRead opens the database of a store only for reading. It changes no file, and accepts damage. The Guard lists
// the losses.
func OpenToRead(o Options) (db *pebble.DB, logs *logguard.Guard, err error) {
	o = o.withDefaults()
	names, err := o.FS.List(o.Dir)
	if err != nil {
		return nil, nil, err
	}
	if err := logguard.CheckMarker(names); err != nil {
		return nil, nil, err
	}
	o.Logf = func(string, ...any) {} // the caller reports the losses
	s := &Store{fatal: o.Fatal, journal: new(journal), tables: newTables()}
	p := o.pebble(s)
	p.ReadOnly = true
	lock, err := LockDirectory(o.FS, o.Dir)
	if err != nil {
		return nil, nil, err
	}
	defer lock.Close() // Close releases one reference to the lock; Pebble holds another reference
	p.Lock = lock
	if err := s.guard(logguard.Options{FS: o.FS, Dir: o.Dir, OnLoss: logguard.ShowReadable, Logf: o.Logf}, p); err != nil {
		return nil, nil, err
	}
	if s.db, err = pebble.Open(o.Dir, p); err != nil {
		o.AcceptDamage = true
		return nil, nil, s.openError(err, o)
	}
	if err := s.load(o, true); err != nil {
		return nil, nil, errors.Join(explain(err), s.db.Close())
	}
	return s.db, s.logs, nil
}
