// Package pager reads one page of a scan as one snapshot: with one statement, or in one read-only transaction.
package pager

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/adapters/store/postgres/ruled"
	"edgetable/adapters/store/postgres/statement"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

const (
	// firstRows is the number of rows that the first statement of Pager.Build reads. Each further statement reads twice
	// as many, up to maxRows.
	firstRows = 128
	maxRows   = 1024
	// readBytes is the approximate maximum size of the properties that one statement of Pager.Build returns.
	readBytes = 2 << 20
	// smallBytes is the maximum size of the properties of a small entity, in bytes. One statement of Pager.BuildAtOnce
	// reads up to 1,001 small entities.
	smallBytes = 2 << 10
)

// afterKeys sorts after every encoded key, because keys are UTF-8.
var afterKeys = []byte{0xff}

// Source contains what a Pager needs to read a page.
type Source struct {
	Conn    *pgconn.PgConn
	Name    []byte // name of the table
	Tables  *ruled.Tables
	Instant func() edm.Ticks                // function that returns the current time, for deciding which entities have expired
	Pause   func(rows, size int) (end bool) // see [table.PageBuilder]; may be nil
}

// Pager builds one page.
type Pager struct {
	conn     *pgconn.PgConn
	name     []byte
	tables   *ruled.Tables
	declared *ruled.Table // options of the table, or nil
	request  table.ScanRequest
	ranges   []key.Range // unread ranges, in scan order
	builder  table.PageBuilder
	arena    []byte // memory for the keys and properties of the page
	blank    []byte // placeholder for the properties of large entities

	ended bool   // the page is complete
	last  []byte // key of the last row that was read
	found int    // number of rows of the last read
	size  int    // total size of the properties in the rows of the last read
}

// New returns a Pager for one page of a scan. The Pager uses the cached options of the table.
func New(from Source, r table.ScanRequest) *Pager {
	p := &Pager{conn: from.Conn, name: from.Name, request: r, ranges: r.InOrder(), builder: table.NewPageBuilder(&r), tables: from.Tables}
	if p.declared = from.Tables.Find(string(from.Name)); p.declared != nil {
		// The clock is read before the snapshot is taken. Otherwise the snapshot might lack a write that delayed the
		// expiry of an entity.
		p.builder.Traits, p.builder.Now = p.declared.Traits, from.Instant()
	}
	p.builder.Pause = from.Pause
	return p
}

// FitsAtOnce reports whether [Pager.BuildAtOnce] may be able to build the requested page.
func FitsAtOnce(r *table.ScanRequest) bool {
	return r.Filter == nil && r.Rows > 0 && r.Rows < maxRows && len(r.Ranges) == 1 && !r.Ended
}

// BuildAtOnce builds a page without a filter, with one statement for small entities and one for large entities. If the
// result isComplete is false, the caller must use [Pager.Build] instead, for example because an entity changed between
// the two statements.
func (p *Pager) BuildAtOnce(ctx context.Context) (page table.Page, isComplete bool, err error) {
	isComplete, err = p.buildAtOnce(ctx)
	return p.builder.Page, isComplete, err
}

func (p *Pager) buildAtOnce(ctx context.Context) (isComplete bool, err error) {
	if p.declared != nil && p.declared.Large.Load() {
		return false, nil
	}
	limit := p.request.Rows + 1
	small, args := statement.SmallRows, append(p.rowsArgs(limit), statement.Int4(smallBytes))
	if p.declared != nil {
		small, args = statement.RuledSmallRows, append(args, statement.Int8(int64(p.declared.Revision)))
	}
	var large []int // indexes of the large rows in the page
	r := p.conn.ExecStatement(ctx, small[p.request.Descending].On(p.conn), args, statement.Formats, statement.Formats)
	for r.NextRow() {
		p.found++
		if p.ended || err != nil {
			continue
		}
		v := r.Values()
		row := rowOf(v)
		if v[4] != nil && p.declared != nil { // only the properties of a large entity show whether it has expired
			p.declared.Large.Store(true)
			p.ended, p.found = true, 0
			continue
		}
		if v[4] != nil {
			row.Properties = p.unread(int(binary.BigEndian.Uint32(v[4])))
			large = append(large, len(p.builder.Page.Rows))
		}
		err = p.examine(ctx, &row)
	}
	if _, e := r.Close(); e != nil {
		return false, e
	}
	if err != nil || p.found == 0 || p.declared != nil && p.declared.Large.Load() {
		return false, err
	}
	if p.declared != nil && !p.ended && p.found == limit { // the statement returned the maximum number of rows, but some of the entities have expired
		p.builder.Page.Next = p.unreadRange().Start
		if p.request.Descending {
			p.builder.Page.Next = p.unreadRange().End
		}
		return len(p.builder.Page.Rows) > p.request.Rows/2, nil
	}
	if rows := len(p.builder.Page.Rows); len(large) > 0 && large[len(large)-1] == rows { // the last large entity did not fit into the page
		large = large[:len(large)-1]
	}
	if len(large) == 0 {
		return true, nil
	}
	return p.readLarge(ctx, large)
}

// readLarge reads the properties of large entities into their rows. It reports whether all these entities still have
// the Timestamps of their rows.
func (p *Pager) readLarge(ctx context.Context, large []int) (areUnchanged bool, err error) {
	rows, keys := p.builder.Page.Rows, make([][]byte, len(large))
	for i, n := range large {
		keys[i] = rows[n].Key
	}
	filled := 0
	_, err = statement.Query(ctx, p.conn, statement.LargeRows, func(v [][]byte) error {
		i, ok := slices.BinarySearchFunc(large, v[0], func(n int, k []byte) int {
			if p.request.Descending {
				return bytes.Compare(k, rows[n].Key)
			}
			return bytes.Compare(rows[n].Key, k)
		})
		if !ok {
			return nil
		}
		if row := &rows[large[i]]; row.Timestamp == edm.Ticks(statement.Number(v[1])) && len(row.Properties) == len(v[2]) {
			copy(row.Properties, v[2])
			filled++
		}
		return nil
	}, p.name, statement.Array(statement.OIDBytes, keys))
	return filled == len(large), err
}

// Build builds a page in a read-only transaction. It also reports whether the table exists, and whether the table has
// options that are not in the cache.
func (p *Pager) Build(ctx context.Context) (page table.Page, live, hidden bool, err error) {
	limit := firstRows
	if live, hidden, err = p.readFirst(ctx, limit); err != nil {
		return page, false, false, err
	}
	if !live || hidden {
		p.ended = true
	}
	for !p.ended {
		if p.found < limit && p.size < readBytes { // the whole range was read
			if p.ranges = p.ranges[1:]; len(p.ranges) == 0 {
				break
			}
		} else {
			p.ranges = slices.Concat([]key.Range{p.unreadRange()}, p.ranges[1:])
			limit = min(2*limit, maxRows)
		}
		if err := p.examineRows(ctx, p.conn.ExecStatement(ctx, p.rowsStatement().On(p.conn), p.rowsStatementArgs(limit), statement.Formats, statement.Formats)); err != nil {
			return page, false, false, err
		}
	}
	if _, err := statement.Query(ctx, p.conn, statement.Commit, nil); err != nil {
		return page, false, false, err
	}
	return p.builder.Page, live, hidden, nil
}

// unreadRange returns the part of the first range that follows the last key that was read.
func (p *Pager) unreadRange() key.Range {
	if p.request.Descending {
		return key.Range{Start: p.ranges[0].Start, End: bytes.Clone(p.last)}
	}
	return key.Range{Start: append(bytes.Clone(p.last), 0), End: p.ranges[0].End} // the smallest key above the last key is the last key with a zero byte appended
}

// rowsArgs returns the arguments of a statement that reads rows from the start of the first range.
func (p *Pager) rowsArgs(limit int) [][]byte {
	r := p.ranges[0]
	end := r.End
	if end == nil {
		end = afterKeys
	}
	return [][]byte{p.name, statement.Bytes(r.Start), end, statement.Int8(int64(limit))}
}

func (p *Pager) rowsStatementArgs(limit int) [][]byte {
	return append(p.rowsArgs(limit), statement.Int8(readBytes))
}

func (p *Pager) rowsStatement() statement.Prepared {
	if p.declared != nil {
		return statement.RuledSomeRows[p.request.Descending]
	}
	return statement.SomeRows[p.request.Descending]
}

// readFirst begins the transaction, looks for the table and reads the first rows, in one round trip.
func (p *Pager) readFirst(ctx context.Context, limit int) (live, hidden bool, err error) {
	of := statement.LifeOf
	if p.declared != nil {
		of = statement.Declared
	}
	b := new(pgconn.Batch)
	b.ExecStatement(statement.Begin.On(p.conn), nil, statement.Formats, statement.Formats)
	b.ExecStatement(of.On(p.conn), [][]byte{p.name}, statement.Formats, statement.Formats)
	b.ExecStatement(p.rowsStatement().On(p.conn), p.rowsStatementArgs(limit), statement.Formats, statement.Formats)
	r := p.conn.ExecBatch(ctx, b)
	for i := 0; r.NextResult(); i++ {
		result := r.ResultReader()
		switch i {
		case 1:
			for result.NextRow() {
				live = true
				if v := result.Values(); p.declared == nil {
					hidden = statement.Number(v[0]) < 0
				} else if now, e := p.tables.Note(string(p.name), edm.Ticks(statement.Number(v[0])), v[1]); e != nil {
					err = e
				} else {
					p.builder.Traits = now.Rules()
				}
			}
		case 2:
			if e := p.examineRows(ctx, result); err == nil {
				err = e
			}
			continue
		}
		if _, e := result.Close(); e != nil {
			break
		}
	}
	if e := r.Close(); e != nil {
		err = e
	}
	return live, hidden, err
}

func (p *Pager) examineRows(ctx context.Context, r *pgconn.ResultReader) (err error) {
	p.found, p.size = 0, 0
	for r.NextRow() {
		v := r.Values()
		p.found++
		p.size += len(v[3])
		if !p.ended && err == nil {
			row := rowOf(v)
			err = p.examine(ctx, &row)
		}
	}
	if _, e := r.Close(); e != nil {
		return e
	}
	return err
}

// rowOf converts a result to a row. The row shares the memory of pgx, which pgx reuses for the next row.
func rowOf(v [][]byte) table.Row {
	return table.Row{Key: v[0], Timestamp: edm.Ticks(statement.Number(v[1])), Nonce: uint64(statement.Number(v[2])), Properties: edm.Properties(v[3])}
}

// examine adds a row to the page if the row matches the filter. It may also end the page without adding the row.
func (p *Pager) examine(ctx context.Context, row *table.Row) error {
	verdict, err := p.builder.Examine(ctx, row)
	switch {
	case err != nil || verdict == table.End:
		p.ended = true
		return err
	case verdict == table.Take:
		row.Key, row.Properties = p.copyBytes(row.Key), p.copyBytes(row.Properties)
		p.builder.Page.Rows = append(p.builder.Page.Rows, *row)
	}
	p.last = append(p.last[:0], row.Key...)
	return nil
}

// unread returns a placeholder of n bytes for the properties of a large entity.
func (p *Pager) unread(n int) edm.Properties {
	if cap(p.blank) < n {
		p.blank = make([]byte, n)
	}
	return p.blank[:n]
}

func (p *Pager) copyBytes(b []byte) []byte {
	n := len(b)
	if cap(p.arena)-len(p.arena) < n {
		p.arena = make([]byte, 0, max(n, 64<<10))
	}
	from := len(p.arena)
	p.arena = append(p.arena, b...)
	return p.arena[from : from+n : from+n]
}
