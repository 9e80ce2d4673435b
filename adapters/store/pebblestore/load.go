package pebblestore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/adapters/store/pebblestore/internal/layout"
	"edgetable/adapters/store/pebblestore/internal/logguard"
	"edgetable/adapters/store/pebblestore/internal/recordcopy"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// guard makes Pebble use a [logguard.Guard] as its file system, and reads the second copy of the records.
func (s *Store) guard(o logguard.Options, p *pebble.Options) (err error) {
	s.logs = logguard.New(o)
	p.FS = s.logs
	path := o.FS.PathJoin(o.Dir, recordcopy.Name)
	if s.copied, err = recordcopy.Read(o.FS, path); err != nil {
		return err
	}
	if err := layout.CheckVersion(s.copied.Format); err != nil {
		return err
	}
	if n := s.copied.Damaged; n > 0 {
		o.Logf("edgetable: %d lines of %s are damaged: the file is rewritten", n, path)
	}
	return s.logs.Begin()
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
	s.journal.start(table.NewClock(o.Now, reserved, s.reserve), reserved)
	if err := s.loadTables(); err != nil || s.memory || readOnly {
		return err
	}
	if o.AcceptDamage && len(s.logs.Losses()) > 0 {
		if err := s.countOrphans(o.Logf); err != nil {
			return err
		}
	}
	if err := s.beginFeeds(reserved); err != nil {
		return err
	}
	if err := s.shipping.Begin(reserved, len(s.logs.Losses()) > 0); err != nil {
		return err
	}
	s.copies = recordcopy.New(s.machine, o.Dir, o.Logf)
	want, err := s.copyRecords()
	if err != nil {
		return err
	}
	return s.copies.Begin(o.FS, want, s.copied.Text)
}

// checkFormat checks the format version in the database, and changes an older version to layout.Version.
func (s *Store) checkFormat(readOnly bool) error {
	v, err := layout.Get(s.db, layout.FormatKey)
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
	case n >= layout.Version || readOnly:
		return layout.CheckVersion(n)
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
	return s.db.Set(layout.FormatKey, binary.BigEndian.AppendUint32(nil, layout.Version), &pebble.WriteOptions{Sync: !s.memory})
}

// reservation returns the highest Timestamp that earlier processes may have
// issued.
func (s *Store) reservation() (edm.Ticks, error) {
	v, err := layout.Get(s.db, layout.ClockKey)
	if v == nil || err != nil {
		return 0, err
	}
	if len(v) != 8 {
		return 0, errors.New("the record of the highest Timestamp that the store may issue is damaged")
	}
	return edm.Ticks(binary.BigEndian.Uint64(v)), nil
}

// reserve stores the highest Timestamp that the clock may issue. It needs no sync, because in the log, this write
// precedes every commit with such a Timestamp.
func (s *Store) reserve(t edm.Ticks) error {
	b := s.db.NewBatch()
	if err := b.Set(layout.ClockKey, binary.BigEndian.AppendUint64(nil, uint64(t)), nil); err != nil {
		return err
	}
	if err := s.applyUnsynced(b); err != nil {
		return err
	}
	return b.Close()
}

func (s *Store) loadTables() error {
	return forEachRecord(s.db, func(r *table.Record) error {
		s.tables.setLive(r)
		return nil
	})
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
