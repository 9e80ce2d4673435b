package durableobject

import (
	"context"
	"errors"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/buckets"
	"edgetable/core/key"
	"edgetable/core/table"
)

// fanOut is the number of buckets called concurrently.
const fanOut = 32

// Scan implements [table.Store]. For a table in one bucket it is one message, and the
// page is a snapshot. It examines at most 8 MiB, even if the request allows more, so
// that it does not occupy the object for long.
//
// The object can neither call Expired nor rely on its clock, so Expired is called here,
// for the rows that the object examined. A page that ends early wastes work, at most
// 8 MiB.
func (s *Store) Scan(ctx context.Context, t table.RecordKey, r table.ScanRequest) (page table.Page, err error) {
	name := t.String()
	err = s.follow(name, func(home message.Home) error {
		if home.Buckets > 1 {
			src := source{s, name, home}
			page, err = buckets.Scan(ctx, &src, home.Buckets, r, buckets.Options{FanOut: fanOut})
		} else {
			page, err = s.scanOne(ctx, name, home, r)
		}
		return err
	})
	return page, err
}

// scanOne has the only bucket make the page.
func (s *Store) scanOne(ctx context.Context, name string, home message.Home, r table.ScanRequest) (table.Page, error) {
	p := placeOf(name, home, 0)
	reader, err := s.scan(ctx, &p, &message.Scan{Ranges: r.Ranges, Filter: r.Filter, Rows: r.Rows, Bytes: r.Bytes, ScanBytes: r.ScanBytes})
	if err != nil {
		return table.Page{}, err
	}
	r.Filter = nil // the bucket has judged the rows
	page := table.NewPageBuilder(&r)
	count := reader.PageRows()
	page.Page.Rows = make([]table.Row, 0, count)
	for range count {
		row, examined := reader.Row()
		if !reader.OK() {
			return table.Page{}, message.ErrDamaged
		}
		page.Page.Scanned += examined - len(row.Key) - len(row.Properties) // of rows that did not pass
		switch verdict, err := page.Examine(ctx, &row); {
		case err != nil:
			return table.Page{}, err
		case verdict == table.End:
			return page.Page, nil
		case verdict == table.Take:
			page.Page.Rows = append(page.Page.Rows, row)
		}
	}
	next, examined, rows := reader.PageEnd()
	if !reader.Done() {
		return table.Page{}, message.ErrDamaged
	}
	page.Page.Next = next
	page.Page.Scanned += examined
	page.Page.Examined = rows
	return page.Page, nil
}

func (s *Store) scan(ctx context.Context, p *message.Place, m *message.Scan) (message.Reader, error) {
	return s.send(ctx, bucket(p), message.AppendScan(make([]byte, 0, 256), p, m))
}

// source reads the buckets of a table.
type source struct {
	*Store
	name string
	home message.Home
}

var _ buckets.Waves = (*source)(nil)

// Read implements [buckets.Source].
func (s *source) Read(ctx context.Context, number uint16, r key.Range, l buckets.Limit) (buckets.Chunk, error) {
	p := placeOf(s.name, s.home, number)
	reader, err := s.scan(ctx, &p, scanOf(r, l))
	if err != nil {
		return buckets.Chunk{}, err
	}
	return chunk(reader)
}

func scanOf(r key.Range, l buckets.Limit) *message.Scan {
	return &message.Scan{Ranges: []key.Range{r}, Filter: l.Filter, ScanBytes: l.Bytes, ScanRows: l.Rows, Strict: l.Strict}
}

// ReadWave implements [buckets.Waves]. It repeats reads without an answer one by one.
func (s *source) ReadWave(ctx context.Context, reads []buckets.Read) error {
	calls := make([]Call, len(reads))
	for i := range reads {
		p := placeOf(s.name, s.home, reads[i].Bucket)
		calls[i] = Call{bucket(&p), message.AppendScan(nil, &p, scanOf(reads[i].Range, reads[i].Limit))}
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
		case answer.Err != nil:
			r.Chunk, err = s.Read(ctx, r.Bucket, r.Range, r.Limit)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// chunk reads the answer to a scan.
func chunk(reader message.Reader) (c buckets.Chunk, err error) {
	c.Rows = make([]table.Row, reader.PageRows())
	for i := range c.Rows {
		row, examined := reader.Row()
		c.Rows[i] = row
		c.Scanned += examined
	}
	next, examined, rows := reader.PageEnd()
	c.Scanned += examined
	c.Examined, c.Next = rows, next
	if !reader.Done() {
		return c, message.ErrDamaged
	}
	return c, nil
}
