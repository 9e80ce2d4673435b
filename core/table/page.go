package table

import (
	"bytes"
	"context"
	"slices"

	"edgetable/core/edm"
	"edgetable/core/key"
)

// pollBytes is how many bytes of rows a PageBuilder examines before it checks the deadline again.
const pollBytes = 64 << 10

// PageBuilder decides which rows a page contains and where the page ends. Every store that reads rows in key
// order uses it, so that the limits of a [ScanRequest] mean the same in all stores:
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
// Examine checks the limits before it examines a row. So a page can end only before an existing row, and Next is
// made from the key of this row ([ScanRequest.Continue]). A page that has finished its ranges has no Next.
// Examine examines the first row even if a limit is already exceeded, so that every page makes progress.
type PageBuilder struct {
	// Page is the result. Examine sets Next, Scanned and Examined; the caller sets Rows.
	Page Page
	// Eager is set if the next rows are already in memory, so that examining another row costs little. When the
	// page has all its rows, Examine then looks for a further row that matches the filter. If there is such a row,
	// the page ends before it. If not, the page has finished its ranges, and needs no Next.
	Eager bool
	// Traits are the declared options of the table, such as a rule of expiry. Now is the time at which the rule is
	// applied. The page leaves out the entities that have expired by then. If the field Ended of the request is
	// set, the page has only the expired entities.
	Traits *Traits
	Now    edm.Ticks
	// Pause is the function Pause of the request. A store that holds locks while it calls Examine sets nil,
	// because Pause may wait.
	Pause func(rows, size int) (end bool)

	request  *ScanRequest
	begun    bool // whether a row has been examined
	taken    int  // number of rows on the page
	size     int  // number of bytes in these rows
	polled   int  // value of Page.Scanned when the deadline was last checked
	unpolled int  // no limit needs a check while Page.Scanned is at most this value
}

// NewPageBuilder starts a page. The request must not change until the page is complete.
func NewPageBuilder(r *ScanRequest) PageBuilder { return PageBuilder{request: r} }

// Verdict is the decision of [PageBuilder.Examine] about a row.
type Verdict uint8

const (
	// Skip means that the page does not contain the row: it does not match the filter, or rows are only counted.
	Skip Verdict = iota
	// Take means that the page contains the row.
	Take
	// End means that the page ends before the examined row. Examine has then set Page.Next.
	End
)

// Examine decides about the next row. It keeps no reference to the row. It returns an error only if ctx has
// ended.
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

// checkLimits reports whether the page ends before a row of n bytes. The result does not depend on whether the row
// matches the filter. The first check of the deadline comes before the second row. So if the deadline passed long
// ago, the request examines only one row. After that, checkLimits checks the deadline once per 64 KiB of rows.
func (b *PageBuilder) checkLimits(ctx context.Context, n int) (ends bool, err error) {
	r := b.request
	ends = b.spent() || !b.Eager && b.HasAllRows()
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

// end ends the page before a row: it sets Next.
func (b *PageBuilder) end(row *Row) Verdict {
	b.Page.Next = b.request.Continue(row.Key)
	return End
}

// Continue returns the [Page].Next of a page that ends before the row with key k. In a descending scan, the
// result is the smallest key after k. The result does not share memory with k.
func (r *ScanRequest) Continue(k []byte) []byte {
	if !r.Descending {
		return bytes.Clone(k)
	}
	return append(append(make([]byte, 0, len(k)+1), k...), 0)
}

// Rest returns the parts of the ranges that remain to be read after a page with this Next.
func (r *ScanRequest) Rest(next []byte) []key.Range {
	if r.Descending {
		return key.Before(r.Ranges, next)
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

// Full reports whether the page must end before any further row. If so, the store need not read the next row.
func (b *PageBuilder) Full() bool { return b.spent() || b.HasAllRows() }

// spent reports whether the page has examined as many bytes as the request allows.
func (b *PageBuilder) spent() bool {
	return b.begun && b.request.ScanBytes > 0 && b.Page.Scanned >= b.request.ScanBytes
}

// HasAllRows reports whether the page has the maximum number of rows of the request.
func (b *PageBuilder) HasAllRows() bool { return b.request.Rows > 0 && b.taken >= b.request.Rows }

// Size returns the number of bytes in the rows of the page.
func (b *PageBuilder) Size() int { return b.size }
