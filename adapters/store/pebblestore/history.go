package pebblestore

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/adapters/store/pebblestore/internal/feedlog"
	"edgetable/adapters/store/pebblestore/internal/layout"
	"edgetable/adapters/store/pebblestore/internal/wholefile"
	"edgetable/core/edm"
)

// historyKey is the key of the store's [feedlog.History]. The file HISTORY contains its ID. A checkpoint lacks this
// file, so a copy of the store begins a new history.
var historyKey = layout.MetaKey("history")

const historyFile = "HISTORY"

func (s *Store) storedHistory() (h feedlog.History, ok bool, err error) {
	v, err := layout.Get(s.db, historyKey)
	if err != nil || v == nil {
		return h, false, err
	}
	if h, ok = feedlog.ParseHistory(v); !ok {
		err = errors.New("the history of the store is damaged")
	}
	return h, ok, err
}

// ownHistory returns the history of the store. A store that replays the log of another store has that store's history.
func (s *Store) ownHistory(ctx context.Context) (feedlog.History, error) {
	s.histories.Lock()
	defer s.histories.Unlock()
	h, ok, err := s.storedHistory()
	if err != nil || ok && s.history == h.ID {
		return h, err
	}
	if _, follows, err := s.Position(); err != nil || follows {
		return h, err
	}
	if ok && !s.memory {
		text, err := wholefile.Read(s.machine, s.machine.PathJoin(s.dir, historyFile))
		if err == nil && string(text) == hex.EncodeToString(h.ID[:]) {
			s.history = h.ID
			return h, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return h, err
		}
	}
	if err := s.admitDelete(false); err != nil {
		return h, err
	}
	h = feedlog.NewHistory()
	b := s.db.NewBatch()
	if err := errors.Join(s.noteHistory(h), b.Set(historyKey, h.Append(nil), nil)); err != nil {
		return h, errors.Join(err, b.Close())
	}
	if _, err := s.commitInternal(b); err != nil {
		return h, err
	}
	s.history = h.ID
	return h, ctx.Err()
}

// RenewHistory begins a new history if the store is a copy or may have lost commits. It must be called before the log
// is shipped to secondaries.
func (s *Store) RenewHistory(ctx context.Context) error {
	if _, ok, err := s.storedHistory(); err != nil || !ok {
		return err
	}
	_, err := s.ownHistory(ctx)
	return err
}

// LeaveHistory makes the next start begin an unrelated history. It must be called after a restore: clients may have
// read changes that the restored store lacks.
func (s *Store) LeaveHistory() error { return s.removeHistoryFile() }

// noteHistory writes the file HISTORY. The caller then writes the history to the database.
func (s *Store) noteHistory(h feedlog.History) error {
	if s.memory {
		return nil
	}
	return wholefile.Replace(s.machine, s.dir, historyFile, []byte(hex.EncodeToString(h.ID[:])))
}

// leaveHistory adds a new history to a batch. The new history continues the history of the replayed store, up to a
// commit number.
func (s *Store) leaveHistory(b *pebble.Batch, at edm.Ticks) error {
	h, ok, err := s.storedHistory()
	if err != nil || !ok {
		return err
	}
	h = h.Branch(at)
	return errors.Join(s.noteHistory(h), b.Set(historyKey, h.Append(nil), nil))
}

// removeHistoryFile removes the file HISTORY, so that a store that may have lost commits begins a new history.
func (s *Store) removeHistoryFile() error {
	err := s.machine.Remove(s.machine.PathJoin(s.dir, historyFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return wholefile.SyncDir(s.machine, s.dir)
}
