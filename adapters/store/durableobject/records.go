package durableobject

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/table"
)

const (
	// maxKey is the maximum length of a record's key. With this limit, the names of objects are shorter than 1,024
	// bytes; an object cannot read a longer name.
	maxKey      = 900
	maxDocument = 64 << 10
)

func badKey(key string) bool { return key == "" || len(key) > maxKey }

func (s *Store) catalog(account string) Address { return Catalog(account, s.o.Catalog) }

// ReadRecord implements [table.Store].
func (s *Store) ReadRecord(ctx context.Context, k table.RecordKey, _ table.Consistency) (table.Record, error) {
	key := k.String()
	if badKey(key) {
		return table.Record{}, table.ErrNoRecord
	}
	r, err := s.send(ctx, s.catalog(k.Account), message.Key(nil, message.OpRead, key))
	if err != nil {
		return table.Record{}, err
	}
	where := r.Layout()
	d := r.Document()
	// Callers retain the record, so its fields are copied out of the longer answer.
	d.Key, _ = table.ParseRecordKey(key)
	d.Revision, d.Value = table.Revision(strings.Clone(string(d.Revision))), bytes.Clone(d.Value)
	if !r.Done() {
		return table.Record{}, message.ErrDamaged
	}
	if where.Buckets > 0 {
		s.cacheLayout(key, where)
	}
	return d, nil
}

// WriteRecord implements [table.Store]. If a deletion of the table is in progress, the catalog finishes it first.
func (s *Store) WriteRecord(ctx context.Context, d table.Record) (table.Revision, error) {
	key := d.Key.String()
	if badKey(key) {
		return "", table.ErrKeyTooLong
	}
	if len(d.Value) > maxDocument {
		return "", table.RequestBodyTooLarge.Err()
	}
	var where message.Layout
	if d.Key.Table != "" {
		where = message.Layout{Buckets: s.o.Buckets, Location: s.o.Location}
	}
	m := message.Write(make([]byte, 0, len(key)+len(d.Value)+128), &d, where)
	r, err := s.send(ctx, s.catalog(d.Key.Account), m)
	if refused, ok := errors.AsType[*table.Refused](err); ok {
		return "", refused.Err
	}
	if err != nil {
		return "", err
	}
	written := r.Ticks()
	if !r.Done() {
		return "", table.ErrUnknown
	}
	if where.Buckets > 0 && d.Revision == "" {
		s.cacheLayout(key, where)
	}
	return table.RevisionOf(written), nil
}

// ListRecords implements [table.Store].
func (s *Store) ListRecords(ctx context.Context, account, from string, limit int, _ table.Consistency) ([]table.Record, error) {
	prefix := table.TablesOf(account)
	from = prefix + from
	var list []table.Record
	for {
		m := message.List(nil, prefix, from, limit-len(list))
		r, err := s.send(ctx, s.catalog(account), m)
		if err != nil {
			return nil, err
		}
		part, more := r.Documents()
		if !r.Done() || more && len(part) == 0 && limit > 0 {
			return nil, message.ErrDamaged
		}
		if list = append(list, part...); !more || len(list) >= limit {
			return list, nil
		}
		from = list[len(list)-1].Key.String() + "\x00"
	}
}

// Drop implements [table.Store].
func (s *Store) Drop(ctx context.Context, k table.RecordKey, revision table.Revision) error {
	key := k.String()
	if badKey(key) {
		return table.ErrRevision
	}
	_, err := s.send(ctx, s.catalog(k.Account), message.Remove(nil, key, revision))
	return err
}
