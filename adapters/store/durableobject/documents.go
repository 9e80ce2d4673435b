package durableobject

import (
	"context"
	"errors"
	"strconv"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/table"
)

const (
	// maxKey keeps names of objects below 1024 bytes, beyond which an object
	// does not know its own.
	maxKey      = 900
	maxDocument = 64 << 10
)

func badKey(key string) bool { return key == "" || len(key) > maxKey }

func (s *Store) catalog(key string) Object { return CatalogOf(key, s.o.Catalog) }

// ReadDocument implements [table.Store].
func (s *Store) ReadDocument(ctx context.Context, key string) (table.Document, error) {
	if badKey(key) {
		return table.Document{}, table.ErrNoDocument
	}
	r, err := s.send(ctx, s.catalog(key), message.Key(nil, message.OpRead, key))
	if err != nil {
		return table.Document{}, err
	}
	home := r.Home()
	d := r.Document()
	if !r.Done() {
		return table.Document{}, message.ErrDamaged
	}
	if home.Buckets > 0 {
		s.homes.put(key, home)
	}
	return d, nil
}

// WriteDocument implements [table.Store]. A record whose Layout changes is
// [table.ErrUnsupported]: buckets are found by the name of the table. A table
// that is being deleted is deleted first.
func (s *Store) WriteDocument(ctx context.Context, d table.Document) (table.Revision, error) {
	if badKey(d.Key) {
		return "", table.ErrKeyTooLong
	}
	if len(d.Value) > maxDocument {
		return "", table.RequestBodyTooLarge.Err()
	}
	var home message.Home
	if d.Layout != (table.Layout{}) {
		if home = (message.Home{Buckets: d.Layout.Buckets, Location: d.Layout.Location}); home.Buckets == 0 {
			home.Buckets = s.o.Buckets
		}
		if home.Location == "" {
			home.Location = s.o.Location
		}
		if home.Buckets > MaxBuckets || !validLocation(home.Location) {
			return "", table.ErrUnsupported
		}
	}
	m := message.Write(make([]byte, 0, len(d.Key)+len(d.Value)+128), &d, home)
	r, err := s.send(ctx, s.catalog(d.Key), m)
	if refused, ok := errors.AsType[*table.Refused](err); ok {
		return "", refused.Err
	}
	if err != nil {
		return "", err
	}
	revision := r.Uint64()
	if !r.Done() {
		return "", table.ErrUnknown
	}
	if home.Buckets > 0 && d.Revision == "" {
		s.homes.put(d.Key, home)
	}
	return table.Revision(strconv.FormatUint(revision, 36)), nil
}

// ListDocuments implements [table.Store].
func (s *Store) ListDocuments(ctx context.Context, prefix, from string, limit int) ([]table.Document, error) {
	account, _ := accountOf(prefix)
	if !ambiguous(prefix) {
		return s.list(ctx, account, prefix, from, limit)
	}
	list, err := s.list(ctx, "", prefix, from, limit)
	for _, account := range s.o.Accounts {
		var more []table.Document
		if err == nil && account != "" {
			more, err = s.list(ctx, account, prefix, from, limit)
			list = merge(list, more)
		}
	}
	if err != nil {
		return nil, err
	}
	return list[:min(len(list), limit)], nil
}

// merge makes one list of two that are in the order of their keys.
func merge(a, b []table.Document) []table.Document {
	list := make([]table.Document, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if b[0].Key < a[0].Key {
			a, b = b, a
		}
		list, a = append(list, a[0]), a[1:]
	}
	return append(append(list, a...), b...)
}

// list is the documents of one catalog.
func (s *Store) list(ctx context.Context, account, prefix, from string, limit int) ([]table.Document, error) {
	var list []table.Document
	for {
		m := message.List(nil, prefix, from, limit-len(list))
		r, err := s.send(ctx, Catalog(account, s.o.Catalog), m)
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
		from = list[len(list)-1].Key + "\x00"
	}
}

// Drop implements [table.Store].
func (s *Store) Drop(ctx context.Context, key string, revision table.Revision) error {
	if badKey(key) {
		return table.ErrRevision
	}
	_, err := s.send(ctx, s.catalog(key), message.Remove(nil, key, revision))
	return err
}
