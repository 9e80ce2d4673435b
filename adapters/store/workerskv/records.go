package workerskv

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// A record is stored as a cell. The stamp of the cell is the revision of the record:
//
//	stamp (8) · version (1) · incarnation (12) · zero (3) · value
const (
	recordVersion   = 1
	maxRecord       = 64 << 10
	incarnationSize = 12
	recordReserved  = 3
)

func encodeRecord(r *table.Record, stamp edm.Ticks) []byte {
	b := make([]byte, 0, stampSize+1+incarnationSize+recordReserved+len(r.Value))
	b = append(appendStamp(b, stamp), recordVersion)
	b = append(b, r.Incarnation[:]...)
	b = append(b, make([]byte, recordReserved)...)
	return append(b, r.Value...)
}

// decodeRecord parses a record. The result shares no memory with body.
func decodeRecord(key string, body []byte) (r table.Record, err error) {
	k, ok := table.ParseRecordKey(strings.Clone(key))
	const head = stampSize + 1 + incarnationSize + recordReserved
	if !ok || len(body) < head || body[stampSize] != recordVersion {
		return r, errCell
	}
	for _, b := range body[stampSize+1+incarnationSize : head] {
		if b != 0 {
			return r, errNewer
		}
	}
	r.Key = k
	r.Revision = table.RevisionOf(stampOf(body))
	copy(r.Incarnation[:], body[stampSize+1:])
	r.Value = bytes.Clone(body[head:])
	return r, nil
}

// recordName returns the name of a record. ok is false if the key of the record is too long.
func recordName(key table.RecordKey) (name string, ok bool) {
	name = spaceRecords + key.String()
	return name, len(name) <= maxName
}

func readRecord(ctx context.Context, ns Namespace, key table.RecordKey) (table.Record, error) {
	name, ok := recordName(key)
	if !ok {
		return table.Record{}, table.ErrNoRecord
	}
	body, err := readCell(ctx, ns, name)
	if err != nil {
		return table.Record{}, err
	}
	if body == nil {
		return table.Record{}, table.ErrNoRecord
	}
	return decodeRecord(name[len(spaceRecords):], body)
}

func readTable(ctx context.Context, ns Namespace, key table.RecordKey) (table.Record, error) {
	r, err := readRecord(ctx, ns, key)
	if errors.Is(err, table.ErrNoRecord) {
		err = table.ErrNoTable
	}
	return r, err
}

func listRecords(ctx context.Context, ns Namespace, account, from string, limit int) ([]table.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var records []table.Record
	b := budget{calls: math.MaxInt}
	prefix := spaceRecords + table.TablesOf(account)
	w := newWalk(ns, &b, prefix, prefix+from, "", limit)
	for len(records) < limit {
		f, err := w.peek(ctx)
		if f == nil || err != nil {
			return records, err
		}
		body, err := w.body(ctx, f)
		if err != nil {
			return nil, err
		}
		w.skipCell()
		if body == nil {
			continue
		}
		r, err := decodeRecord(strings.TrimPrefix(f.name, spaceRecords), body)
		if err != nil {
			return nil, err
		}
		records = append(records, r)
	}
	return records, nil
}

// ReadRecord implements [table.Store]. Like an entity, the record may be up to a minute old.
func (s *Store) ReadRecord(ctx context.Context, key table.RecordKey, _ table.Consistency) (table.Record, error) {
	if err := ctx.Err(); err != nil {
		return table.Record{}, err
	}
	return readRecord(ctx, s.o.Namespace, key)
}

// ListRecords implements [table.Store]; see ReadRecord.
func (s *Store) ListRecords(ctx context.Context, account, from string, limit int, _ table.Consistency) ([]table.Record, error) {
	return listRecords(ctx, s.o.Namespace, account, from, limit)
}

// WriteRecord implements [table.Store]. It compares the revision with the state that KV returns, which may be old. Of
// two writes within a minute, both may succeed; the last one wins.
func (s *Store) WriteRecord(ctx context.Context, r table.Record) (table.Revision, error) {
	if r.Traits != nil {
		return "", table.ErrUnsupported
	}
	name, ok := recordName(r.Key)
	if !ok {
		return "", table.ErrKeyTooLong
	}
	if len(r.Value) > maxRecord {
		return "", table.RequestBodyTooLarge.Err()
	}
	old, err := s.demand(ctx, r.Key, r.Revision)
	if err != nil {
		return "", err
	}
	if old.Revision != "" {
		r.Incarnation = old.Incarnation
	}
	t := s.timestamp(old.Revision.Written())
	if err := writeCell(ctx, s.o.Namespace, name, encodeRecord(&r, t)); err != nil {
		return "", err
	}
	s.release(r.Key)
	return table.RevisionOf(t), nil
}

// demand reads a record. It returns table.ErrRevision unless the record has the given revision. If revision is "",
// the record must not exist.
func (s *Store) demand(ctx context.Context, key table.RecordKey, revision table.Revision) (table.Record, error) {
	r, err := s.ReadRecord(ctx, key, table.Strong)
	if err != nil && !errors.Is(err, table.ErrNoRecord) {
		return r, err
	}
	if r.Revision != revision {
		return r, table.ErrRevision
	}
	return r, nil
}

// Drop implements [table.Store]. It deletes the record and writes a note. [Store.Purge] later deletes the entities,
// because there may be millions, and other isolates may write more for a minute.
func (s *Store) Drop(ctx context.Context, key table.RecordKey, want table.Revision) error {
	if want == "" {
		return table.ErrRevision
	}
	r, err := s.demand(ctx, key, want)
	if err != nil {
		return err
	}
	if err := s.writeNote(ctx, &r); err != nil {
		return err
	}
	s.release(key)
	return writeCell(ctx, s.o.Namespace, spaceRecords+key.String(), nil)
}
