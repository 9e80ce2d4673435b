package storetest_test

import (
	"bytes"
	"context"
	"slices"

	"edgetable/core/key"
	"edgetable/core/table"
)

// oneWay is a broken store: it reads in ascending order even in a descending scan.
type oneWay struct{ table.Store }

func (s oneWay) Scan(ctx context.Context, name table.RecordKey, r table.ScanRequest) (table.Page, error) {
	r.Descending = false
	return s.Store.Scan(ctx, name, r)
}

// keepsRow is a broken store: in a descending scan, the next page begins with the last row of the previous
// page.
type keepsRow struct{ table.Store }

func (s keepsRow) Scan(ctx context.Context, name table.RecordKey, r table.ScanRequest) (table.Page, error) {
	page, err := s.Store.Scan(ctx, name, r)
	if r.Descending && page.Next != nil && len(page.Rows) > 0 {
		page.Next = append(bytes.Clone(page.Rows[len(page.Rows)-1].Key), 0)
	}
	return page, err
}

// tooFar is a broken store. In a descending scan, positions are exclusive, so the position after a page
// must be above the next row. This store returns the key of the next row itself, so the scan skips this
// row.
type tooFar struct{ table.Store }

func (s tooFar) Scan(ctx context.Context, name table.RecordKey, r table.ScanRequest) (table.Page, error) {
	page, err := s.Store.Scan(ctx, name, r)
	if r.Descending && page.Next != nil {
		page.Next = page.Next[:len(page.Next)-1]
	}
	return page, err
}

// fromStart is a broken store: for a descending scan, it reports the cost of reading the whole table.
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
