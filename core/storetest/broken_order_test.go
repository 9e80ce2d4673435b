package storetest_test

import (
	"bytes"
	"context"
	"slices"

	"edgetable/core/key"
	"edgetable/core/table"
)

// oneWay always reads in ascending order.
type oneWay struct{ table.Store }

func (s oneWay) Scan(ctx context.Context, name table.RecordKey, r table.ScanRequest) (table.Page, error) {
	r.Descending = false
	return s.Store.Scan(ctx, name, r)
}

// keepsRow returns a position at which a descending scan reads the last row of the page again.
type keepsRow struct{ table.Store }

func (s keepsRow) Scan(ctx context.Context, name table.RecordKey, r table.ScanRequest) (table.Page, error) {
	page, err := s.Store.Scan(ctx, name, r)
	if r.Descending && page.Next != nil && len(page.Rows) > 0 {
		page.Next = append(bytes.Clone(page.Rows[len(page.Rows)-1].Key), 0)
	}
	return page, err
}

// tooFar returns the key of the next row as the position of a descending scan. Positions are exclusive, so the
// scan skips this row.
type tooFar struct{ table.Store }

func (s tooFar) Scan(ctx context.Context, name table.RecordKey, r table.ScanRequest) (table.Page, error) {
	page, err := s.Store.Scan(ctx, name, r)
	if r.Descending && page.Next != nil {
		page.Next = page.Next[:len(page.Next)-1]
	}
	return page, err
}

// fromStart reports the cost of reading the whole table for a descending scan.
type fromStart struct{ table.Store }

func (s fromStart) Scan(ctx context.Context, name table.RecordKey, r table.ScanRequest) (table.Page, error) {
	if !r.Descending || r.ScanBytes > 0 || r.Filter != nil || len(r.Ranges) > 1 {
		return s.Store.Scan(ctx, name, r)
	}
	all, err := s.Store.Scan(ctx, name, table.ScanRequest{Ranges: []key.Range{{}}})
	if err != nil {
		return all, err
	}
	page, err := s.Store.Scan(ctx, name, r)
	page.Examined, page.Scanned = all.Examined, all.Scanned
	page.Rows = slices.Clip(page.Rows)
	return page, err
}
