package pebblestore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/batchrepr"

	"edgetable/adapters/store/pebblestore/internal/feedlog"
	"edgetable/adapters/store/pebblestore/internal/layout"
	"edgetable/adapters/store/pebblestore/internal/logguard"
	"edgetable/adapters/store/pebblestore/internal/recordcopy"
	"edgetable/core/commitlog"
	"edgetable/core/edm"
	"edgetable/core/table"
)

var errRecordOfLog = errors.New("a commit of the log cannot be read")

// Replay atomically applies commits of another store, sorted by number, and stores the position after them. It can
// apply the same commits twice. No other write must run at the same time.
//
// If ctx is done while Replay waits for disk space, it returns an error, although the commits may still be applied.
func (s *Store) Replay(ctx context.Context, p commitlog.Position, commits []commitlog.Commit) error {
	return s.interruptible(ctx.Done(), func() error { return s.replay(ctx, p, commits) })
}

func (s *Store) replay(ctx context.Context, p commitlog.Position, commits []commitlog.Commit) error {
	position, err := json.Marshal(p)
	if err != nil {
		return err
	}
	r := replay{batch: s.db.NewBatch(), records: map[string][]byte{}, fed: map[table.Incarnation]edm.Ticks{}}
	defer r.batch.Close()
	first := p.Number
	for _, c := range commits {
		first = min(first, c.Number)
		if err := r.add(c.Record); err != nil {
			return fmt.Errorf("%w: number %d: %w", errRecordOfLog, c.Number, err)
		}
	}
	if err := r.batch.Set(positionKey, position, nil); err != nil {
		return err
	}
	s.catalog.Lock()
	defer s.catalog.Unlock()
	if err := ctx.Err(); err != nil { // a later Replay may already have applied later commits
		return err
	}
	for _, i := range r.dropped {
		s.copies.Add(recordcopy.Drop(i))
	}
	live, err := r.changedRecords()
	if err != nil {
		return err
	}
	u := undo{snapshot: s.db.NewSnapshot()}
	defer s.releaseSnapshot(u)
	e, err := s.journal.registerReplay(first, p.Number, u)
	if err != nil {
		return err
	}
	s.catalog.last.Store(int64(p.Number))
	for k, next := range live {
		if l := s.tables.find(k); l != nil && l.incarnation != next.Incarnation {
			s.tables.setDead(k)
		}
	}
	if err := s.applyReplay(r.batch, p.Number); err != nil {
		s.die(err) // some tables are already marked as dead, which cannot be undone
		return err
	}
	s.journal.done(e)
	s.tables.notifyWaiters(r.fed)
	for _, next := range live {
		if next.Revision != "" {
			s.tables.setLive(&next)
		}
	}
	again := false
	for k, v := range r.records {
		if v != nil {
			again = s.copies.Add(recordcopy.Record(k, v)) || again
		}
	}
	if again {
		return s.rewriteCopies()
	}
	return nil
}

func (s *Store) applyReplay(b *pebble.Batch, to edm.Ticks) error {
	defer s.exitOnPanic()
	m := logguard.Mark{Number: to, Synced: s.marker.Synced()}
	if err := b.LogData(m.Append(make([]byte, 0, logguard.MarkLength)), nil); err != nil {
		return err
	}
	if err := s.db.Apply(b, pebble.Sync); err != nil {
		return err
	}
	s.logs.Applied()
	s.marker.SawSync(to)
	return nil
}

// replay is a batch with the changes of many commits.
type replay struct {
	batch   *pebble.Batch
	records map[string][]byte // new value of each changed record, by the text of its key; nil removes the record
	dropped []table.Incarnation
	fed     map[table.Incarnation]edm.Ticks // number of the last line that the replay adds to each change feed
}

func (r *replay) add(record []byte) error {
	if len(record) < batchrepr.HeaderLen {
		return errors.New("it is too short")
	}
	b := batchrepr.Read(record)
	for {
		kind, k, v, more, err := b.Next()
		if err != nil || !more {
			return err
		}
		switch kind {
		case pebble.InternalKeyKindLogData:
			continue
		case pebble.InternalKeyKindSet:
			err = r.batch.Set(k, v, nil)
			r.change(k, append([]byte{}, v...))
		case pebble.InternalKeyKindDelete:
			err = r.batch.Delete(k, nil)
			r.change(k, nil)
		case pebble.InternalKeyKindRangeDelete:
			err = r.batch.DeleteRange(k, v, nil)
			if len(k) == layout.PrefixLength && k[0] == layout.Entities {
				r.dropped = append(r.dropped, table.Incarnation(k[1:]))
			}
		default:
			err = fmt.Errorf("the commit has an operation of the unknown kind %d", kind)
		}
		if err != nil {
			return err
		}
	}
}

func (r *replay) change(k, v []byte) {
	if len(k) > 0 && k[0] == layout.Records {
		r.records[string(k[1:])] = v
	}
	if i, n, ok := feedlog.ParseKey(k); ok {
		r.fed[i] = n
	}
}

// changedRecords returns the new record of each changed key. For a removed record, it returns the zero Record.
func (r *replay) changedRecords() (map[table.RecordKey]table.Record, error) {
	list := map[table.RecordKey]table.Record{}
	for text, v := range r.records {
		k, ok := table.ParseRecordKey(text)
		if !ok {
			return nil, errRecordOfLog
		}
		var record table.Record
		if v != nil {
			var err error
			if record, err = table.ParseRecord(text, v); err != nil {
				return nil, err
			}
		}
		list[k] = record
	}
	return list, nil
}

// Drops reports whether a commit drops the table with the given key. The parameter record is the commit's record in the
// log.
func Drops(record []byte, key table.RecordKey) bool {
	if len(record) < batchrepr.HeaderLen {
		return false
	}
	want := layout.RecordKey(key.String())
	b := batchrepr.Read(record)
	for {
		kind, k, _, more, err := b.Next()
		if err != nil || !more {
			return false
		}
		if kind == pebble.InternalKeyKindDelete && string(k) == string(want) {
			return true
		}
	}
}

// Promote ends the replay of another store's log, so that the store accepts writes with Timestamps higher than the
// given one. The store begins a new history, which continues the other store's history.
//
// The parameter keepLogs is as in Options.KeepLogs. The parameter timeline is the ID of the store's new timeline in the
// backup location, or "". If the process is killed, the next start finds the timeline by this ID.
func (s *Store) Promote(above edm.Ticks, keepLogs int64, timeline string) error {
	if err := s.beginTimeline(above, keepLogs, timeline); err != nil {
		return err
	}
	h, ok, err := s.storedHistory()
	if err != nil || !ok {
		return err
	}
	b := s.db.NewBatch() // leaveHistory has written the history, but not as a commit; stores that replay this log see only commits
	if err := b.Set(historyKey, h.Append(nil), nil); err != nil {
		return err
	}
	_, err = s.commitInternal(b)
	return err
}

func (s *Store) beginTimeline(above edm.Ticks, keepLogs int64, next string) error {
	p, follows, err := s.Position()
	if err != nil || !follows {
		return err
	}
	s.journal.numbers.Lock()
	defer s.journal.numbers.Unlock()
	err = s.shipping.Change(keepLogs, func(t *commitlog.Timeline) {
		*t = commitlog.Timeline{Parent: p.Timeline, ForkedAt: p.Number, LogAfter: p.Number, Next: next}
	})
	if err != nil {
		return err
	}
	// If the process is killed before the last step, the next start still replays the log of the other store. The store can then be promoted again.
	if err := s.raise(max(above, p.Number)); err != nil {
		return err
	}
	b := s.db.NewBatch()
	if err := errors.Join(b.Delete(positionKey, nil), s.leaveHistory(b, p.Number)); err != nil {
		return errors.Join(err, b.Close())
	}
	return errors.Join(s.db.Apply(b, pebble.Sync), b.Close())
}
