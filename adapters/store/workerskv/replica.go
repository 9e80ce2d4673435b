package workerskv

import (
	"context"
	"errors"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Replica reads what publishers write: a table.Store that refuses to be written
// to. All it says may be as old as the publishers are behind, and a minute.
type Replica struct {
	cells   cells
	primary table.Store
	calls   int
}

var _ table.Store = (*Replica)(nil)

// NewReplica makes a replica. From primary it reads tables that are not published,
// and the entities whose keys are too long for a name; without one there are no
// such tables, and [table.ErrKeyTooLong] for the entities. page is how many calls of
// the namespace a page of a scan may make, 0 is 500.
func NewReplica(ns Namespace, primary table.Store, page int) *Replica {
	return &Replica{cells: cells{ns: ns}, primary: primary, calls: calls(page)}
}

// ReadRecord implements [table.Store], as eventual as entities.
func (r *Replica) ReadRecord(ctx context.Context, key table.RecordKey) (table.Record, error) {
	if err := ctx.Err(); err != nil {
		return table.Record{}, err
	}
	return readDocument(ctx, &r.cells, key.String())
}

// ListRecords implements [table.Store]; see ReadRecord.
func (r *Replica) ListRecords(ctx context.Context, account, from string, limit int) ([]table.Record, error) {
	return listDocuments(ctx, &r.cells, account, from, limit)
}

// Get implements [table.Store].
func (r *Replica) Get(ctx context.Context, name table.RecordKey, k []byte, c table.Consistency) (table.Row, error) {
	if err := ctx.Err(); err != nil {
		return table.Row{}, err
	}
	if len(k) > MaxKey {
		if r.primary == nil {
			return table.Row{}, table.ErrKeyTooLong
		}
		return r.primary.Get(ctx, name, k, c)
	}
	d, err := readRecord(ctx, &r.cells, name.String())
	if r.primary != nil && errors.Is(err, table.ErrNoTable) {
		return r.primary.Get(ctx, name, k, c)
	}
	if err != nil {
		return table.Row{}, err
	}
	cell, err := r.cells.get(ctx, nameOf(entities(lifeOf(d.Incarnation)), k))
	if err != nil {
		return table.Row{}, err
	}
	if cell == nil {
		return table.Row{}, table.ErrNoEntity
	}
	return table.ParseRow(append([]byte(nil), k...), cell)
}

// Scan implements [table.Store].
func (r *Replica) Scan(ctx context.Context, name table.RecordKey, request table.ScanRequest) (table.Page, error) {
	if err := ctx.Err(); err != nil {
		return table.Page{}, err
	}
	d, err := readRecord(ctx, &r.cells, name.String())
	if r.primary != nil && errors.Is(err, table.ErrNoTable) {
		return r.primary.Scan(ctx, name, request)
	}
	if err != nil {
		return table.Page{}, err
	}
	s := scanner{cells: &r.cells, life: lifeOf(d.Incarnation), request: request, budget: budget{calls: r.calls}}
	s.long = func(ctx context.Context, request table.ScanRequest) (table.Page, error) {
		if r.primary == nil {
			return table.Page{}, table.ErrKeyTooLong
		}
		return r.primary.Scan(ctx, name, request)
	}
	return s.scan(ctx)
}

// Synced is the time before which all changes of the sources whose names begin
// with prefix are published, by what they recorded; it is not ok where none
// recorded anything.
func (r *Replica) Synced(ctx context.Context, prefix string) (until edm.Ticks, ok bool, err error) {
	b := budget{calls: r.calls}
	w := newWalk(&r.cells, &b, spaceSyncs+prefix, spaceSyncs+prefix, "", 1000)
	for {
		f, err := w.peek(ctx)
		if f == nil || err != nil {
			return until, ok, err
		}
		if !ok || f.stamp < until {
			until, ok = f.stamp, true
		}
		w.take(f)
	}
}

// WriteRecord implements [table.Store]: [table.ErrUnsupported].
func (r *Replica) WriteRecord(context.Context, table.Record) (table.Revision, error) {
	return "", errReadOnly
}

// Drop implements [table.Store]: [table.ErrUnsupported].
func (r *Replica) Drop(context.Context, table.RecordKey, table.Revision) error { return errReadOnly }

// Commit implements [table.Store]: [table.ErrUnsupported].
func (r *Replica) Commit(context.Context, table.RecordKey, []table.Mutation) (edm.Ticks, error) {
	return 0, errReadOnly
}

// Reader is a primary whose eventual reads are answered by a replica.
type Reader struct {
	table.Store // the primary
	Replica     *Replica
}

// Get implements [table.Store].
func (r Reader) Get(ctx context.Context, name table.RecordKey, k []byte, c table.Consistency) (table.Row, error) {
	if c == table.Eventual {
		return r.Replica.Get(ctx, name, k, c)
	}
	return r.Store.Get(ctx, name, k, c)
}

// Scan implements [table.Store].
func (r Reader) Scan(ctx context.Context, name table.RecordKey, request table.ScanRequest) (table.Page, error) {
	if request.Consistency == table.Eventual {
		return r.Replica.Scan(ctx, name, request)
	}
	return r.Store.Scan(ctx, name, request)
}
