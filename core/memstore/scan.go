package memstore

import (
	"bytes"
	"context"

	"edgetable/core/table"
)

// pollBytes is how much a scan examines between two looks at the clock.
const pollBytes = 64 << 10

// Scan implements [table.Store]. Whether the page is full is asked before a row
// is examined, never after: so Next is the key of a row that exists, and a page
// that finished has none. The first row is examined whatever the budget, so
// that every page gets on.
func (s *Store) Scan(ctx context.Context, name table.RecordKey, r table.ScanRequest) (table.Page, error) {
	var page table.Page
	rows, err := s.snapshot(ctx, name)
	if err != nil {
		return page, err
	}
	size, polled := 0, 0 // bytes in the page; Scanned at the last look at the clock
	for _, rg := range r.Ranges {
		for k, row := range rows.from(string(rg.Start)) {
			if rg.End != nil && k >= string(rg.End) {
				break
			}
			n := len(row.Key) + len(row.Properties)
			full := r.Rows > 0 && len(page.Rows) == r.Rows ||
				r.ScanBytes > 0 && page.Scanned >= r.ScanBytes
			// The clock is asked before the second row, so that a deadline long
			// past costs one, then before each that would go beyond 64 KiB.
			if page.Scanned > 0 && (polled == 0 || page.Scanned+n-polled > pollBytes) {
				if err := ctx.Err(); err != nil {
					return table.Page{}, err
				}
				full = full || r.Expired != nil && r.Expired()
				polled = page.Scanned
			}
			if full {
				page.Next = bytes.Clone(row.Key)
				return page, nil
			}
			page.Scanned += n
			if r.Filter != nil && !r.Filter.Match(row.Key, row.Timestamp, row.Properties) {
				continue
			}
			if r.Bytes > 0 && size+n > r.Bytes && len(page.Rows) > 0 {
				page.Next = bytes.Clone(row.Key)
				return page, nil
			}
			size += n
			page.Rows = append(page.Rows, clone(row))
		}
	}
	return page, nil
}
