package table

import (
	"bytes"
	"context"
	"slices"

	"edgetable/core/edm"
	"edgetable/core/key"
)

// pollBytes is the number of bytes that a PageBuilder examines between two checks of the deadline.
const pollBytes = 64 << 10

// PageBuilder selects the rows of a page and determines where the page ends. Every store that reads rows in key order
// uses it, so the limits of a [ScanRequest] have the same meaning in all stores:
//
//	b := table.NewPageBuilder(&request)
//	for … { // each row of the ranges, in the order of the request
//		switch verdict, err := b.Examine(ctx, &row); {
//		case err != nil:
//			return table.Page{}, err
//		case verdict == table.Take:
//			b.Page.Rows = append(b.Page.Rows, row) // in memory of its own
//		case verdict == table.End:
//			return b.Page, nil
//		}
//	}
//	return b.Page, nil
//
// Examine checks the limits before it examines a row, so a page ends before an existing row, whose key determines Next
// ([ScanRequest.Continue]). A page that has finished its ranges has no Next. Examine examines the first row even if a
// limit is already exceeded, so every page makes progress.
type PageBuilder struct {
	// Page is the page that is built. Examine sets its fields Next, Scanned and Examined. The caller sets Rows.
	Page Page
	// Eager means that the next rows are already in memory. When the page has all its rows, Examine then looks for
	// another match. Without another match, the page needs no Next.
	Eager bool
	// Traits are the traits of the table. The page omits entities that have expired at the time Now. If the request has
	// Ended set, the page instead omits entities that have not expired.
	Traits *Traits
	Now    edm.Ticks
	// Pause is the request's Pause. A store that holds locks while it calls Examine sets Pause to nil, because Pause
	// may block.
	Pause func(rows, size int) (end bool)

	request  *ScanRequest
	begun    bool // whether a row has been examined
	taken    int  // number of rows on the page
	size     int
	polled   int // value of Page.Scanned at the last check of the deadline
	unpolled int // the limits need not be checked while Page.Scanned is at most this value
}

// NewPageBuilder starts a page. The request must not change until the page is complete.
func NewPageBuilder(r *ScanRequest) PageBuilder { return PageBuilder{request: r} }

// Verdict is the result of [PageBuilder.Examine] for a row.
type Verdict uint8

const (
	// Skip means that the row is not on the page, because it does not match the filter or because rows are only
	// counted.
	Skip Verdict = iota
	// Take means that the row is on the page.
	Take
	// End means that the page ends before the row. Page.Next is set.
	End
)

// Examine examines the next row. It does not retain the row, and returns an error only if ctx is done.
func (b *PageBuilder) Examine(ctx context.Context, row *Row) (Verdict, error) {
	r, n := b.request, len(row.Key)+len(row.Properties)
	if b.Page.Scanned+n > b.unpolled {
		if ends, err := b.checkLimits(ctx, n); err != nil || ends {
			return b.end(row), err
		}
	}
	takes := r.Filter == nil || r.Filter.Match(row.Key, row.Timestamp, row.Properties)
	if b.Traits != nil || r.Ended {
		takes = takes && b.Traits.Ended(row, b.Now) == r.Ended
	}
	if takes && (b.HasAllRows() || r.Bytes > 0 && b.taken > 0 && b.size+n > r.Bytes) {
		return b.end(row), nil
	}
	b.Page.Scanned += n
	b.Page.Examined++
	if !takes {
		return Skip, nil
	}
	if r.Count {
		b.Page.Count++
		return Skip, nil
	}
	b.taken++
	b.size += n
	if b.HasAllRows() {
		b.unpolled = 0
	}
	return Take, nil
}

// checkLimits reports whether the page ends before a row of n bytes, even one that the filter does not match. It checks
// the deadline before the second row, and then once per 64 KiB.
func (b *PageBuilder) checkLimits(ctx context.Context, n int) (ends bool, err error) {
	r := b.request
	ends = b.isSpent() || !b.Eager && b.HasAllRows()
	if b.begun && (b.polled == 0 || b.Page.Scanned+n-b.polled > pollBytes) {
		if err := ctx.Err(); err != nil {
			return true, err
		}
		ends = ends || r.Expired != nil && r.Expired() || b.Pause != nil && b.Pause(b.Page.Examined, b.Page.Scanned)
		b.polled = b.Page.Scanned
		b.unpolled = b.polled + pollBytes
		if r.ScanBytes > 0 {
			b.unpolled = min(b.unpolled, r.ScanBytes)
		}
	}
	b.begun = true
	return ends, nil
}

// end sets Next so that the page ends before a row.
func (b *PageBuilder) end(row *Row) Verdict {
	b.Page.Next = b.request.Continue(row.Key)
	return End
}

// Continue returns the [Page].Next of a page that ends before the row with key k: k or, in a descending scan, the
// smallest key after k. The result does not share memory with k.
func (r *ScanRequest) Continue(k []byte) []byte {
	if !r.Descending {
		return bytes.Clone(k)
	}
	return append(append(make([]byte, 0, len(k)+1), k...), 0)
}

// Rest returns the parts of the ranges that follow a page with the given Next.
func (r *ScanRequest) Rest(next []byte) []key.Range {
	if r.Descending {
		return key.RangesBefore(r.Ranges, next)
	}
	return key.From(r.Ranges, next)
}

// InOrder returns the ranges in the order in which the scan reads them.
func (r *ScanRequest) InOrder() []key.Range {
	if !r.Descending {
		return r.Ranges
	}
	list := slices.Clone(r.Ranges)
	slices.Reverse(list)
	return list
}

// Full reports whether the page must end before any further row. The store then need not read the next row.
func (b *PageBuilder) Full() bool { return b.isSpent() || b.HasAllRows() }

// isSpent reports whether the page has examined ScanBytes bytes.
func (b *PageBuilder) isSpent() bool {
	return b.begun && b.request.ScanBytes > 0 && b.Page.Scanned >= b.request.ScanBytes
}

// HasAllRows reports whether the page has the maximum number of rows.
func (b *PageBuilder) HasAllRows() bool { return b.request.Rows > 0 && b.taken >= b.request.Rows }

// Size returns the number of bytes in the rows of the page.
func (b *PageBuilder) Size() int { return b.size }
