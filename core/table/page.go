package table

import (
	"bytes"
	"context"
	"slices"

	"edgetable/core/edm"
	"edgetable/core/key"
)

// pollBytes is how many bytes a PageBuilder examines between two checks of the deadline.
const pollBytes = 64 << 10

// PageBuilder decides which rows a page holds and where it ends. Every store that
// reads rows in key order uses it, so that the limits of a [ScanRequest] mean the
// same everywhere:
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
// Examine checks the limits before it examines a row. So a page ends only before a row that exists, from
// whose key Next is made ([ScanRequest.Continue]), and a page that finished its ranges has no Next. The
// first row is examined whatever the limits are, so that every page makes progress.
type PageBuilder struct {
	// Page is the result. Examine sets Next, Scanned and Examined; the caller sets Rows.
	Page Page
	// Eager says that the next rows are in memory already, so that it costs little to examine one more. Then
	// a page that has all its rows does not end until another row passes the filter. If no other row does,
	// the page finishes its ranges and needs no Next.
	Eager bool
	// Traits are the traits of the table. By their rule of expiry, the page leaves out entities that have ended
	// at the instant Now. If the request asks for ended entities, the page has only these.
	Traits *Traits
	Now    edm.Ticks
	// Pause is the Pause of the request, or nil if the store holds locks while it calls Examine.
	Pause func(rows, size int) (end bool)

	request  *ScanRequest
	begun    bool // whether a row was examined
	taken    int  // number of rows taken
	size     int  // bytes in the taken rows
	polled   int  // Page.Scanned at the last check of the deadline
	unpolled int  // while Page.Scanned is at most this, look need not be called
}

// NewPageBuilder starts a page. The request must not change while it is built.
func NewPageBuilder(r *ScanRequest) PageBuilder { return PageBuilder{request: r} }

// Verdict is the result of [PageBuilder.Examine] for a row.
type Verdict uint8

const (
	// Skip says that the row does not pass the filter, or is only counted.
	Skip Verdict = iota
	// Take says that the row belongs to the page.
	Take
	// End says that the page ends before the row, at Page.Next.
	End
)

// Examine decides about the next row. It keeps no reference to the row. It returns an error only if ctx
// has ended.
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

// look reports whether the page ends before a row of n bytes, whether or not the row passes the filter. It checks
// the deadline before the second row, so that a request whose deadline has passed long ago costs a single row.
// After that it checks the deadline once per 64 KiB of rows.
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

// end sets Next so that the page ends before a row.
func (b *PageBuilder) end(row *Row) Verdict {
	b.Page.Next = b.request.Continue(row.Key)
	return End
}

// Continue returns the [Page].Next of a page that ends before the row with key k. The result does not
// share memory with k. In a descending scan it is the smallest key after k.
func (r *ScanRequest) Continue(k []byte) []byte {
	if !r.Descending {
		return bytes.Clone(k)
	}
	return append(append(make([]byte, 0, len(k)+1), k...), 0)
}

// Rest returns the parts of the ranges that remain after a page with this Next.
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

// Full reports whether Examine will end the page whatever the next row is. Then the store need not read
// that row.
func (b *PageBuilder) Full() bool { return b.spent() || b.HasAllRows() }

// spent reports whether the request's ScanBytes are used up.
func (b *PageBuilder) spent() bool {
	return b.begun && b.request.ScanBytes > 0 && b.Page.Scanned >= b.request.ScanBytes
}

// HasAllRows reports whether the page has as many rows as the request allows.
func (b *PageBuilder) HasAllRows() bool { return b.request.Rows > 0 && b.taken >= b.request.Rows }

// Size returns the number of bytes in the rows taken.
func (b *PageBuilder) Size() int { return b.size }
