package storetest_test

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

type blindSwap struct{ table.Store }

func (s blindSwap) WriteRecord(ctx context.Context, d table.Record) (table.Revision, error) {
	now, _ := s.ReadRecord(ctx, d.Key, table.Strong)
	d.Revision = now.Revision
	return s.Store.WriteRecord(ctx, d)
}

// sameRevision is a broken store: all records have the same revision. In a similar bug, the revision counts the
// writes of a record. If a table is dropped and created again, its revisions then repeat.
type sameRevision struct{ table.Store }

func (s sameRevision) WriteRecord(ctx context.Context, d table.Record) (table.Revision, error) {
	if now, err := s.Store.ReadRecord(ctx, d.Key, table.Strong); err == nil && d.Revision == "1" {
		d.Revision = now.Revision
	}
	_, err := s.Store.WriteRecord(ctx, d)
	return "1", err
}

func (s sameRevision) ReadRecord(ctx context.Context, key table.RecordKey, c table.Consistency) (table.Record, error) {
	d, err := s.Store.ReadRecord(ctx, key, c)
	d.Revision = "1"
	return d, err
}

func (s sameRevision) Drop(ctx context.Context, key table.RecordKey, r table.Revision) error {
	if now, err := s.Store.ReadRecord(ctx, key, table.Strong); err == nil && r == "1" {
		r = now.Revision
	}
	return s.Store.Drop(ctx, key, r)
}

// renews is a broken store: each write of a table's record begins a new incarnation of the table.
type renews struct{ table.Store }

func (s renews) WriteRecord(ctx context.Context, r table.Record) (table.Revision, error) {
	if r.Revision != "" {
		if err := s.Drop(ctx, r.Key, r.Revision); err != nil {
			return "", err
		}
		r.Revision = ""
	}
	return s.Store.WriteRecord(ctx, r)
}

type listAfter struct{ table.Store }

func (s listAfter) ListRecords(ctx context.Context, account, from string, limit int, c table.Consistency) ([]table.Record, error) {
	return s.Store.ListRecords(ctx, account, from+"\x00", limit, c)
}

type anyETag struct{ table.Store }

func (s anyETag) Commit(ctx context.Context, name table.RecordKey, m []table.Mutation) (edm.Ticks, error) {
	m = slices.Clone(m)
	for i := range m {
		if m[i].Condition == table.Unchanged {
			m[i].Condition = table.Present
		}
	}
	return s.Store.Commit(ctx, name, m)
}

type mergeReplaces struct{ table.Store }

func (s mergeReplaces) Commit(ctx context.Context, name table.RecordKey, m []table.Mutation) (edm.Ticks, error) {
	m = slices.Clone(m)
	for i := range m {
		if m[i].Kind == table.Merge {
			m[i].Kind = table.Put
		}
	}
	return s.Store.Commit(ctx, name, m)
}

type noNonce struct{ table.Store }

func (s noNonce) Commit(ctx context.Context, name table.RecordKey, m []table.Mutation) (edm.Ticks, error) {
	m = slices.Clone(m)
	for i := range m {
		m[i].Nonce = 0
	}
	return s.Store.Commit(ctx, name, m)
}

type halfBatch struct{ table.Store }

func (s halfBatch) Commit(ctx context.Context, name table.RecordKey, m []table.Mutation) (edm.Ticks, error) {
	ticks, err := s.Store.Commit(ctx, name, m)
	if r := (*table.Refused)(nil); errors.As(err, &r) && r.Index > 0 {
		_, _ = s.Store.Commit(ctx, name, m[:r.Index])
	}
	return ticks, err
}

type lastIndex struct{ table.Store }

func (s lastIndex) Commit(ctx context.Context, name table.RecordKey, m []table.Mutation) (edm.Ticks, error) {
	ticks, err := s.Store.Commit(ctx, name, m)
	if r := (*table.Refused)(nil); errors.As(err, &r) {
		return ticks, &table.Refused{Index: len(m) - 1, Err: r.Err}
	}
	return ticks, err
}

// sharedRow is a broken store: two callers of Get receive the same memory.
type sharedRow struct {
	table.Store
	row table.Row
}

func (s *sharedRow) Get(ctx context.Context, name table.RecordKey, k []byte, c table.Consistency) (table.Row, error) {
	row, err := s.Store.Get(ctx, name, k, c)
	if err == nil && row.Timestamp == s.row.Timestamp {
		return s.row, nil
	}
	s.row = row
	return row, err
}

type deaf struct{ table.Store }

func (s deaf) Commit(ctx context.Context, name table.RecordKey, m []table.Mutation) (edm.Ticks, error) {
	return s.Store.Commit(context.WithoutCancel(ctx), name, m)
}

type coarse struct{ table.Store }

func (s coarse) Commit(ctx context.Context, name table.RecordKey, m []table.Mutation) (edm.Ticks, error) {
	ticks, err := s.Store.Commit(ctx, name, m)
	return ticks / 2 * 2, err
}

func (s coarse) Get(ctx context.Context, name table.RecordKey, k []byte, c table.Consistency) (table.Row, error) {
	row, err := s.Store.Get(ctx, name, k, c)
	row.Timestamp = row.Timestamp / 2 * 2
	return row, err
}

type oneByOne struct{ table.Store }

func (s oneByOne) Commit(ctx context.Context, name table.RecordKey, m []table.Mutation) (ticks edm.Ticks, err error) {
	for i := range m {
		if ticks, err = s.Store.Commit(ctx, name, m[i:i+1]); err != nil {
			return 0, err
		}
		runtime.Gosched()
	}
	return ticks, nil
}

// stale is a broken store: it returns an entity from its cache even after the table was dropped.
type stale struct {
	table.Store
	row table.Row
}

func (s *stale) Get(ctx context.Context, name table.RecordKey, k []byte, c table.Consistency) (table.Row, error) {
	row, err := s.Store.Get(ctx, name, k, c)
	if errors.Is(err, table.ErrNoTable) && bytes.Equal(k, s.row.Key) {
		return s.row, nil
	}
	if err == nil {
		s.row = row
	}
	return row, err
}

// undead is a broken store: a new table contains the entities of the dropped table that had the same name.
type undead struct {
	table.Store
	rows []table.Row
}

func (s *undead) Drop(ctx context.Context, key table.RecordKey, r table.Revision) error {
	page, _ := s.Scan(ctx, key, wholeTable)
	s.rows = page.Rows
	return s.Store.Drop(ctx, key, r)
}

func (s *undead) WriteRecord(ctx context.Context, d table.Record) (table.Revision, error) {
	r, err := s.Store.WriteRecord(ctx, d)
	for _, row := range s.rows {
		_, _ = s.Commit(ctx, d.Key, []table.Mutation{{Key: row.Key, Properties: row.Properties}})
	}
	return r, err
}

var wholeTable = table.ScanRequest{Ranges: []key.Range{{}}}

// checkThenAct is a broken store. A Commit checks its conditions, and takes effect later. Between these two steps,
// another Commit may take effect.
type checkThenAct struct{ table.Store }

func (s checkThenAct) Commit(ctx context.Context, name table.RecordKey, m []table.Mutation) (edm.Ticks, error) {
	for i, one := range m {
		var old *table.Row
		row, err := s.Get(ctx, name, one.Key, table.Strong)
		switch {
		case err == nil:
			old = &row
		case !errors.Is(err, table.ErrNoEntity):
			return 0, err
		}
		if _, err := table.Apply(old, one, 1); err != nil {
			return 0, &table.Refused{Index: i, Err: err}
		}
	}
	for range 20 {
		runtime.Gosched()
	}
	m = slices.Clone(m)
	for i := range m {
		m[i].Condition = table.Always
	}
	return s.Store.Commit(ctx, name, m)
}

// slowDrop is a broken store: until a Drop has returned, only some callers find the table.
type slowDrop struct {
	table.Store
	mu       sync.Mutex
	dropping map[table.RecordKey]bool
	count    int
}

func (s *slowDrop) Drop(ctx context.Context, key table.RecordKey, r table.Revision) error {
	d, err := s.ReadRecord(ctx, key, table.Strong)
	if err != nil || d.Revision != r {
		return s.Store.Drop(ctx, key, r)
	}
	s.mu.Lock()
	if s.dropping == nil {
		s.dropping = make(map[table.RecordKey]bool)
	}
	busy := s.dropping[key]
	s.dropping[key] = true
	s.mu.Unlock()
	if busy {
		return table.ErrBusy
	}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.dropping[key] = false
	}()
	for range 50 {
		runtime.Gosched()
	}
	return s.Store.Drop(ctx, key, r)
}

func (s *slowDrop) Get(ctx context.Context, name table.RecordKey, k []byte, c table.Consistency) (table.Row, error) {
	s.mu.Lock()
	s.count++
	dead := s.dropping[name] && s.count%2 == 0
	s.mu.Unlock()
	if dead && ctx.Err() == nil {
		return table.Row{}, table.ErrNoTable
	}
	return s.Store.Get(ctx, name, k, c)
}

// plain is a store without optional features: it refuses conditions, batches, rules of expiry, and descending scans.
type plain struct{ table.Store }

func (s plain) Scan(ctx context.Context, name table.RecordKey, r table.ScanRequest) (table.Page, error) {
	if r.Descending {
		return table.Page{}, table.ErrUnsupported
	}
	return s.Store.Scan(ctx, name, r)
}

func (s plain) WriteRecord(ctx context.Context, r table.Record) (table.Revision, error) {
	if r.Traits != nil {
		return "", table.ErrUnsupported
	}
	return s.Store.WriteRecord(ctx, r)
}

func (s plain) Commit(ctx context.Context, name table.RecordKey, m []table.Mutation) (edm.Ticks, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if len(m) > 1 || m[0].Condition != table.Always {
		return 0, table.ErrUnsupported
	}
	return s.Store.Commit(ctx, name, m)
}
