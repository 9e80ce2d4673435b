package durableobject

import (
	"context"
	"errors"
	"slices"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/buckets"
	"edgetable/core/key"
	"edgetable/core/table"
)

// fanOut is the maximum number of objects that are called concurrently.
const fanOut = 32

// Scan implements [table.Store]. An object examines at most 8 MiB per message, so that other requests do not wait long.
//
// The object cannot call r.Expired, so Scan calls it for the rows in the answer. If the page then ends early, the work
// of one message is wasted.
func (s *Store) Scan(ctx context.Context, t table.RecordKey, r table.ScanRequest) (page table.Page, err error) {
	name := t.String()
	err = s.retryMoved(name, func() error {
		whole := message.Scan{Ranges: r.Ranges, Descending: r.Descending}
		first := s.objectAt(name, 0, whole.Position())
		if first.Buckets > 1 {
			inner := r
			inner.Ended = false // the objects decide which rows have expired
			page, err = buckets.Scan(ctx, &source{s, first, r.Ended}, first.Buckets, inner, buckets.Options{FanOut: fanOut})
		} else {
			page, err = s.scanOne(ctx, first, r)
		}
		return err
	})
	return page, err
}

// scanOne reads a page of a table with one bucket. It asks the range at the start of the page, then the following
// ranges until the page is full.
func (s *Store) scanOne(ctx context.Context, p message.Destination, r table.ScanRequest) (table.Page, error) {
	filter, ended := r.Filter, r.Ended
	r.Filter, r.Ended = nil, false                                              // the objects filter the rows, and decide which rows have expired
	bounded := r.Rows > 0 || r.Bytes > 0 || r.ScanBytes > 0 || r.Expired != nil // whether the page may end before all ranges are read
	page := table.NewPageBuilder(&r)
	for asked := 1; ; asked++ {
		m := message.Scan{
			Ranges: r.Ranges, Filter: filter, Descending: r.Descending, Count: r.Count, Ended: ended,
			Rows: remaining(r.Rows, len(page.Page.Rows)), Bytes: remaining(r.Bytes, page.Size()), ScanBytes: remaining(r.ScanBytes, page.Page.Scanned),
		}
		reader, err := s.scan(ctx, p, &m)
		if bounded && errors.Is(err, table.ErrBusy) && asked > 1 {
			return page.Page, nil // return the rows of the ranges that were read; the next page begins at the range that is busy
		}
		if err != nil {
			return table.Page{}, err
		}
		next, goesOn, err := addPage(ctx, &page, reader, r.Count)
		if err != nil {
			return table.Page{}, err
		}
		page.Page.Next = next
		if next == nil {
			return page.Page, nil
		}
		if r.Ranges = r.Rest(next); len(r.Ranges) == 0 {
			page.Page.Next = nil
			return page.Page, nil
		}
		full := page.Full() || r.Bytes > 0 && page.Size() >= r.Bytes || page.Page.Scanned >= maxPage || bounded && asked == mostAsked
		if !goesOn || full || ctx.Err() != nil || r.Expired != nil && r.Expired() {
			return page.Page, nil
		}
		m.Ranges = r.Ranges
		p = s.objectAt(p.Table, 0, m.Position())
	}
}

// maxPage is the approximate maximum number of bytes that are examined for a page of several ranges. It equals the
// maximum for one range.
const maxPage = 8 << 20

// mostAsked is the maximum number of ranges that are asked for a page. The free plan permits 50 calls, and a range that
// is not in the cache takes two calls.
const mostAsked = 20

// remaining returns the unused part of a limit, at least 1. If limit is 0, there is no limit, and the result is 0.
func remaining(limit, used int) int {
	if limit <= 0 {
		return 0
	}
	return max(limit-used, 1)
}

// addPage adds the rows of one range to a page. It returns the position at which the page continues, or nil if the page
// is complete. The result goesOn reports whether the page continues in another range.
func addPage(ctx context.Context, page *table.PageBuilder, reader message.Reader, counts bool) (next []byte, goesOn bool, err error) {
	count := reader.PageRows()
	page.Page.Rows = slices.Grow(page.Page.Rows, count)
	before := page.Page.Examined
	for range count {
		row, examined := reader.Row()
		if !reader.OK() {
			return nil, false, message.ErrDamaged
		}
		page.Page.Scanned += examined - len(row.Key) - len(row.Properties) // bytes of rows that the filter rejected
		switch verdict, err := page.Examine(ctx, &row); {
		case err != nil:
			return nil, false, err
		case verdict == table.End:
			return page.Page.Next, false, nil
		case verdict == table.Take:
			page.Page.Rows = append(page.Page.Rows, row)
		}
	}
	next, goesOn, examined, rows := reader.PageEnd()
	if counts {
		page.Page.Count += reader.Size()
	}
	if !reader.Done() {
		return nil, false, message.ErrDamaged
	}
	page.Page.Scanned += examined
	page.Page.Examined = before + rows
	return next, goesOn, nil
}

func (s *Store) scan(ctx context.Context, p message.Destination, m *message.Scan) (message.Reader, error) {
	return s.sendToRange(ctx, p, m.Position(), func(p *message.Destination) []byte {
		return message.AppendScan(make([]byte, 0, 256), p, m)
	})
}

// source implements [buckets.Source] for a table.
type source struct {
	*Store
	table message.Destination // the destination of the first bucket
	ended bool                // whether the scan includes expired entities
}

// destination returns the destination of a position in a bucket. It uses the layout with which the scan began, even if
// the cache now has another one.
func (s *source) destination(bucket uint16, position []byte) message.Destination {
	p := s.table
	if known := s.objectAt(p.Table, bucket, position); known.Buckets == p.Buckets && known.Location == p.Location {
		return known
	}
	p.Bucket, p.Range = bucket, 0
	return p
}

var _ buckets.Waves = (*source)(nil)

// Read implements [buckets.Source].
func (s *source) Read(ctx context.Context, number uint16, r key.Range, l buckets.Limit) (buckets.Chunk, error) {
	m := s.scanOf(r, l)
	reader, err := s.scan(ctx, s.destination(number, m.Position()), m)
	if err != nil {
		return buckets.Chunk{}, err
	}
	return chunk(reader)
}

func (s *source) scanOf(r key.Range, l buckets.Limit) *message.Scan {
	return &message.Scan{Ranges: []key.Range{r}, Filter: l.Filter, ScanBytes: l.Bytes, ScanRows: l.Rows, Strict: l.Strict, Descending: l.Descending, Ended: s.ended}
}

// ReadWave implements [buckets.Waves]. It retries each read that got no answer.
func (s *source) ReadWave(ctx context.Context, reads []buckets.Read) error {
	calls := make([]Call, len(reads))
	for i := range reads {
		m := s.scanOf(reads[i].Range, reads[i].Limit)
		p := s.destination(reads[i].Bucket, m.Position())
		calls[i] = Call{AddressOf(&p), message.AppendScan(nil, &p, m)}
	}
	for i, answer := range s.o.Caller.Call(ctx, calls) {
		err := answer.Err
		var reader message.Reader
		if err == nil {
			reader, err = s.result(answer.Message, false, false)
		}
		switch r := &reads[i]; {
		case err == nil:
			r.Chunk, err = chunk(reader)
		case errors.Is(err, ErrOverloaded):
			err = table.ErrBusy
		case answer.Err != nil || needsRetry(err):
			r.Chunk, err = s.Read(ctx, r.Bucket, r.Range, r.Limit)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// chunk parses the answer to a scan.
func chunk(reader message.Reader) (c buckets.Chunk, err error) {
	c.Rows = make([]table.Row, reader.PageRows())
	for i := range c.Rows {
		row, examined := reader.Row()
		c.Rows[i] = row
		c.Scanned += examined
	}
	next, _, examined, rows := reader.PageEnd()
	c.Scanned += examined
	c.Examined, c.Next = rows, next
	if !reader.Done() {
		return c, message.ErrDamaged
	}
	return c, nil
}

// needsRetry reports whether an error says that a range does not have the requested keys, or does not
// serve them yet.
func needsRetry(err error) bool {
	_, moved := errors.AsType[*message.RangedError](err)
	return moved || errors.Is(err, message.ErrAgain)
}
