package stores

import (
	"context"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/core/table"
)

// markDamaged wraps a corruption error of Pebble with [table.ErrDamaged], which means that a retry would fail too.
func markDamaged(err error) error {
	if err == nil || !pebble.IsCorruptionError(err) {
		return err
	}
	return fmt.Errorf("%w: %w", table.ErrDamaged, err)
}

// Get implements [table.Store].
func (l Leading) Get(ctx context.Context, t table.RecordKey, key []byte, c table.Consistency) (table.Row, error) {
	row, err := l.Store.Get(ctx, t, key, c)
	return row, markDamaged(err)
}

// Scan implements [table.Store].
func (l Leading) Scan(ctx context.Context, t table.RecordKey, r table.ScanRequest) (table.Page, error) {
	page, err := l.Store.Scan(ctx, t, r)
	return page, markDamaged(err)
}
