package dynamodb

import (
	"context"

	"edgetable/core/table"
)

// Get implements [table.Store].
func (s *Store) Get(ctx context.Context, name table.RecordKey, k []byte, c table.Consistency) (table.Row, error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return table.Row{}, err
	}
	defer cancel()
	var row table.Row
	err = s.reading(ctx, name, func(ctx context.Context, l *lease) error {
		if len(k) > maxSortKey {
			return table.ErrKeyTooLong
		}
		e, err := s.find(ctx, l, k, c)
		if err == nil && e == nil {
			err = table.ErrNoEntity
		}
		if err == nil {
			row = e.Row
		}
		return err
	})
	if err != nil {
		return table.Row{}, err
	}
	return row, nil
}

// entity reads an entity with its chunks; nil is none.
func (s *Store) entity(ctx context.Context, l life, k []byte, c table.Consistency) (*stored, error) {
	bucket := l.bucket(k)
	for n := 0; ; n++ {
		it, err := s.getItem(ctx, keyOf(l.hash(kindEntity, bucket), k), c)
		if it == nil || err != nil {
			return nil, err
		}
		e, err := readEntity(it)
		if err != nil || e.chunks.none() {
			return e, err
		}
		if err := s.load(ctx, l.hash(kindChunk, bucket), []*stored{e}, c); err != nil {
			return nil, err
		}
		if e.Properties != nil {
			return e, nil
		}
		// Somebody has replaced the entity since its item was read, or a replica
		// lacks its chunks or shows that item still.
		if c == table.Eventual {
			c = table.Strong
		} else if !s.pause(ctx, n) {
			return nil, errStale
		}
	}
}
