package postgres

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

const (
	// firstRows is how many rows a page with a filter reads first. Each further read
	// takes twice as many, up to maxRows.
	firstRows = 128
	maxRows   = 1024
	// readBytes is about the most that one read returns.
	readBytes = 8 << 20
)

// afterKeys follows every encoded key, because these are UTF-8.
var afterKeys = []byte{0xff}

// Scan implements [table.Store]. A page has one snapshot: it is one statement, or one
// transaction that only reads.
func (s *Store) Scan(ctx context.Context, name table.RecordKey, r table.ScanRequest) (table.Page, error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return table.Page{}, err
	}
	defer cancel()
	text := []byte(strings.Clone(name.String()))
	var page table.Page
	var live bool
	read := func(ctx context.Context, c *pgconn.PgConn) (err error) {
		begin := func() *pager {
			return &pager{Store: s, conn: c, name: text, request: r, ranges: r.Ranges, builder: table.NewPageBuilder(&r)}
		}
		if p := begin(); p.limit() == r.Rows+1 && len(r.Ranges) == 1 {
			whole, err := p.buildAtOnce(ctx)
			if err != nil || whole {
				page, live = p.builder.Page, true
				return err
			}
		}
		page, live, err = begin().build(ctx)
		return err
	}
	if err := s.eventual(ctx, r.Consistency, read); err != nil {
		return table.Page{}, err
	}
	if !live {
		return table.Page{}, table.ErrNoTable
	}
	return page, nil
}

// pager builds one page.
type pager struct {
	*Store
	conn    *pgconn.PgConn
	name    []byte
	request table.ScanRequest
	ranges  []key.Range // that are left
	builder table.PageBuilder

	ended bool // the page is complete
	found int  // rows of the last read
	last  []byte
	size  int // bytes of all rows read
	rows  int
}

// limit is how many rows the first read returns at most.
func (p *pager) limit() int {
	if p.request.Filter != nil || p.request.Rows <= 0 {
		return firstRows
	}
	limit := min(p.request.Rows+1, maxRows)
	if mean := p.meanRow.Load(); mean > 0 {
		limit = int(max(min(int64(limit), readBytes/mean), 16))
	}
	return limit
}

// buildAtOnce builds a page by one statement. It reports whether that was enough: without
// rows the table may be missing, and a further read would have another snapshot.
func (p *pager) buildAtOnce(ctx context.Context) (whole bool, err error) {
	limit := p.limit()
	if err := p.more(ctx, limit); err != nil {
		return false, err
	}
	p.noteMean()
	return p.rows > 0 && (p.ended || p.found < limit), nil
}

// noteMean notes the mean size of the rows, by which later pages choose their limits.
func (p *pager) noteMean() {
	if p.rows > 0 {
		p.meanRow.Store(int64(p.size/p.rows) + 1)
	}
}

func (p *pager) build(ctx context.Context) (page table.Page, live bool, err error) {
	limit := p.limit()
	if live, err = p.first(ctx, limit); err != nil {
		return page, false, err
	}
	if !live {
		p.ended = true
	}
	for !p.ended {
		if p.found < limit { // the range is finished
			if p.ranges = p.ranges[1:]; len(p.ranges) == 0 {
				break
			}
		} else {
			// The next key is at least one byte longer.
			p.ranges = slices.Concat([]key.Range{{Start: append(bytes.Clone(p.last), 0), End: p.ranges[0].End}}, p.ranges[1:])
			if limit = min(2*limit, maxRows); p.rows > 0 {
				limit = max(min(limit, readBytes/(p.size/p.rows+1)), 16)
			}
		}
		if err := p.more(ctx, limit); err != nil {
			return page, false, err
		}
	}
	if _, err := query(ctx, p.conn, commit, nil); err != nil {
		return page, false, err
	}
	p.noteMean()
	return p.builder.Page, live, nil
}

func (p *pager) rowsArgs(limit int) [][]byte {
	r := p.ranges[0]
	end := r.End
	if end == nil {
		end = afterKeys
	}
	return [][]byte{p.name, bytesOf(r.Start), end, int8Of(int64(limit))}
}

// first begins the transaction and reads the life and the first rows in one round trip.
func (p *pager) first(ctx context.Context, limit int) (live bool, err error) {
	b := new(pgconn.Batch)
	b.ExecStatement(begin.on(p.conn), nil, formats, formats)
	b.ExecStatement(lifeOf.on(p.conn), [][]byte{p.name}, formats, formats)
	b.ExecStatement(rowsUntil.on(p.conn), p.rowsArgs(limit), formats, formats)
	r := p.conn.ExecBatch(ctx, b)
	for i := 0; r.NextResult(); i++ {
		result := r.ResultReader()
		switch i {
		case 1:
			for result.NextRow() {
				live = true
			}
		case 2:
			err = p.take(ctx, result)
		}
		if _, e := result.Close(); e != nil {
			break
		}
	}
	if e := r.Close(); e != nil {
		err = e
	}
	return live, err
}

// more reads on.
func (p *pager) more(ctx context.Context, limit int) error {
	r := p.conn.ExecStatement(ctx, rowsUntil.on(p.conn), p.rowsArgs(limit), formats, formats)
	err := p.take(ctx, r)
	if _, e := r.Close(); e != nil {
		return e
	}
	return err
}

// take judges the rows of a read until the page ends.
func (p *pager) take(ctx context.Context, r *pgconn.ResultReader) error {
	p.found = 0
	var arena []byte
	for r.NextRow() {
		p.found++
		if p.ended {
			continue
		}
		v := r.Values()
		row := table.Row{Key: v[0], Timestamp: edm.Ticks(number(v[1])), Nonce: uint64(number(v[2])), Properties: edm.Properties(v[3])}
		n := len(v[0]) + len(v[3])
		p.rows++
		p.size += n
		verdict, err := p.builder.Examine(ctx, &row)
		switch {
		case err != nil:
			p.ended = true
			return err
		case verdict == table.End:
			p.ended = true
			continue
		case verdict == table.Take:
			if cap(arena)-len(arena) < n {
				arena = make([]byte, 0, max(n, 64<<10))
			}
			from := len(arena)
			arena = append(append(arena, v[0]...), v[3]...)
			middle := from + len(v[0])
			row.Key, row.Properties = arena[from:middle:middle], edm.Properties(arena[middle:len(arena):len(arena)])
			p.builder.Page.Rows = append(p.builder.Page.Rows, row)
		}
		p.last = append(p.last[:0], v[0]...)
	}
	return nil
}
