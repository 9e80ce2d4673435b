package dynamodb

import (
	"context"

	"edgetable/core/table"
)

// Seams for tests.
var (
	Attribute = attribute
	Value     = value
	SizeOf    = sizeOf
)

// Inline is the size up to which an item of a Commit of n mutations is whole.
func Inline(n int) int { return min(maxItem, maxTransact/n) }

// BucketsOf returns the number of buckets of a table.
func (s *Store) BucketsOf(ctx context.Context, key table.RecordKey) (uint16, error) {
	r, err := s.tableRecord(ctx, key)
	if err != nil {
		return 0, err
	}
	return r.Spread.Buckets, nil
}
