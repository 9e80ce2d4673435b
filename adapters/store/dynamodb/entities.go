package dynamodb

import (
	"bytes"
	"context"

	"edgetable/adapters/store/dynamodb/internal/call"
	"edgetable/adapters/store/dynamodb/rebucket"
	"edgetable/core/table"
)

// Get implements [table.Store].
func (s *Store) Get(ctx context.Context, name table.RecordKey, k []byte, c table.Consistency) (table.Row, error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return table.Row{}, err
	}
	defer cancel()
	e, err := readTable(ctx, s, name, c, func(ctx context.Context, v view, c table.Consistency) (*stored, error) {
		if len(k) > maxSortKey {
			return nil, table.ErrKeyTooLong
		}
		e, err := s.entity(ctx, v.Spread, k, c)
		if e != nil && v.traits.Ended(&e.Row, v.now) {
			return nil, nil
		}
		return e, err
	}, agreeEntities)
	if err != nil {
		return table.Row{}, err
	}
	if e == nil {
		return table.Row{}, table.ErrNoEntity
	}
	return e.Row, nil
}

func agreeEntities(a, b *stored) (*stored, bool) {
	return b, a == nil && b == nil || a != nil && b != nil && sameState(&a.Row, &b.Row)
}

func sameState(a, b *table.Row) bool {
	return bytes.Equal(a.Key, b.Key) && a.Timestamp == b.Timestamp && a.Nonce == b.Nonce
}

// entity returns the stored entity with the given key, including the properties in its chunks. It returns nil if there
// is no such entity.
func (s *Store) entity(ctx context.Context, p rebucket.Spread, k []byte, c table.Consistency) (*stored, error) {
	bucket := p.Bucket(k)
	var e *stored
	err := s.db.Retry(ctx, call.WhileStale, func(ctx context.Context) error {
		it, err := s.db.Get(ctx, call.Key(hashKey(kindEntity, p, bucket), k), c)
		if it == nil || err != nil {
			e = nil
			return err
		}
		if e, err = readEntity(it); err != nil || e.chunks.none() {
			return err
		}
		if err := s.load(ctx, hashKey(kindChunk, p, bucket), []*stored{e}, c); err != nil {
			return err
		}
		if e.Properties == nil {
			// The entity may have been replaced after its item was read, or the replica may be out of date.
			c = table.Strong
			return errStale
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}
