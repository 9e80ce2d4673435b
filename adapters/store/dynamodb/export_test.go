package dynamodb

import (
	"context"
	"time"

	"edgetable/core/table"
)

// SizeOf is an internal function that tests of package dynamodb_test call.
var SizeOf = sizeOf

// Inline returns the maximum size of an entity that a Commit of n mutations stores in one
// item.
func Inline(n int) int { return min(maxItem, maxTransact/n) }

// BucketsOf returns the number of buckets of a table.
func (s *Store) BucketsOf(ctx context.Context, key table.RecordKey) (uint16, error) {
	r, err := s.tableRecord(ctx, key)
	if err != nil {
		return 0, err
	}
	return r.Spread.Buckets, nil
}

// SetLookTime sets the timeout of a read of the heartbeats.
func (s *Secondary) SetLookTime(d time.Duration) { s.look.timeout = d }
