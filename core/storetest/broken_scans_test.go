package storetest_test

import (
	"cmp"
	"context"
	"runtime"
	"slices"

	"edgetable/core/key"
	"edgetable/core/table"
)

// skips is a broken store: the position after a page lies after the next row, so a scan skips this row.
type skips struct{ table.Store }

func (s skips) Scan(ctx context.Context, name table.RecordKey, r table.ScanRequest) (table.Page, error) {
	page, err := s.Store.Scan(ctx, name, r)
	if page.Next != nil {
		page.Next = append(page.Next, 0)
	}
	return page, err
}

type repeats struct{ table.Store }

func (s repeats) Scan(ctx context.Context, name table.RecordKey, r table.ScanRequest) (table.Page, error) {
	page, err := s.Store.Scan(ctx, name, r)
	if page.Next != nil && len(page.Rows) > 0 {
		page.Next = page.Rows[len(page.Rows)-1].Key
	}
	return page, err
}

// needsRow is a broken store. A scan continues at a position, which is usually the key of a row. If this row was
// deleted, the store skips the row after it.
type needsRow struct{ table.Store }

func (s needsRow) Scan(ctx context.Context, name table.RecordKey, r table.ScanRequest) (table.Page, error) {
	start := r.Ranges[0].Start
	if _, err := s.Get(ctx, name, start, table.Strong); len(start) > 0 && err != nil {
		if page, err := s.Store.Scan(ctx, name, table.ScanRequest{Ranges: r.Ranges, Rows: 1}); err == nil && page.Next != nil {
			r.Ranges = key.From(r.Ranges, page.Next)
		}
	}
	return s.Store.Scan(ctx, name, r)
}

type byUTF8 struct{ table.Store }

func (s byUTF8) Scan(ctx context.Context, name table.RecordKey, r table.ScanRequest) (table.Page, error) {
	page, err := s.Store.Scan(ctx, name, r)
	slices.SortFunc(page.Rows, func(a, b table.Row) int {
		ap, ar := key.Decode(a.Key)
		bp, br := key.Decode(b.Key)
		return cmp.Or(cmp.Compare(ap, bp), cmp.Compare(ar, br))
	})
	return page, err
}

type noFilter struct{ table.Store }

func (s noFilter) Scan(ctx context.Context, name table.RecordKey, r table.ScanRequest) (table.Page, error) {
	r.Filter = nil
	return s.Store.Scan(ctx, name, r)
}

type noBudget struct{ table.Store }

func (s noBudget) Scan(ctx context.Context, name table.RecordKey, r table.ScanRequest) (table.Page, error) {
	r.ScanBytes, r.Expired = 0, nil
	return s.Store.Scan(ctx, name, r)
}

// rowByRow is a broken store: it reads each row of a page at a different moment.
type rowByRow struct{ table.Store }

func (s rowByRow) Scan(ctx context.Context, name table.RecordKey, r table.ScanRequest) (table.Page, error) {
	if r.Rows > 0 || r.Bytes > 0 || r.ScanBytes > 0 {
		return s.Store.Scan(ctx, name, r)
	}
	expired := r.Expired
	r.Rows, r.Expired = 1, nil
	var all table.Page
	for {
		page, err := s.Store.Scan(ctx, name, r)
		if err != nil {
			return page, err
		}
		runtime.Gosched()
		all.Rows = append(all.Rows, page.Rows...)
		all.Scanned += page.Scanned
		all.Examined += page.Examined
		all.Count += page.Count
		if page.Next == nil {
			return all, nil
		}
		if expired != nil && expired() {
			all.Next = page.Next
			return all, nil
		}
		r.Ranges = r.Rest(page.Next)
	}
}
