package postgres

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/adapters/store/postgres/lend"
	"edgetable/adapters/store/postgres/pager"
	"edgetable/adapters/store/postgres/statement"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// slice is how long a scan may use a connection before it must yield the connection to a waiting scan of another
// account.
const slice = 5 * time.Millisecond

// Scan implements [table.Store]. A page is one snapshot: it is read with one statement, or in one read-only
// transaction.
func (s *Store) Scan(ctx context.Context, name table.RecordKey, r table.ScanRequest) (table.Page, error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return table.Page{}, err
	}
	defer cancel()
	client, text := lend.Client{Use: lend.Pages, Account: strings.Clone(name.Account)}, []byte(strings.Clone(name.String()))
	var page table.Page
	var live bool
	read := func(ctx context.Context, c *pgconn.PgConn) (err error) {
		since := time.Now()
		begin := func() *pager.Pager {
			from := pager.Source{Conn: c, Name: text, Tables: &s.ruled, Instant: s.clock.Instant}
			if r.Pause != nil {
				// The Pause function of the request may wait, which would hold the connection and the snapshot. This
				// function ends the page if another account is waiting.
				from.Pause = func(int, int) bool { return time.Since(since) > slice && s.wanted(client, r.Consistency) }
			}
			return pager.New(from, r)
		}
		if pager.FitsAtOnce(&r) {
			at, isComplete, err := begin().BuildAtOnce(ctx)
			if err != nil || isComplete {
				page, live = at, true
				return err
			}
		}
		for hidden := true; hidden && err == nil; {
			page, live, hidden, err = begin().Build(ctx)
			if hidden && err == nil {
				err = s.cacheDeclaration(ctx, c, text)
			}
		}
		return err
	}
	if err := s.eventual(ctx, r.Consistency, client, read); err != nil {
		return table.Page{}, err
	}
	if !live {
		return table.Page{}, table.ErrNoTable
	}
	return page, nil
}

func (s *Store) cacheDeclaration(ctx context.Context, c *pgconn.PgConn, name []byte) error {
	_, err := statement.Query(ctx, c, statement.Declared, func(v [][]byte) error {
		_, err := s.ruled.Note(string(name), edm.Ticks(statement.Number(v[0])), v[1])
		return err
	}, name)
	return err
}
