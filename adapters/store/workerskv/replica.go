package workerskv

import (
	"context"
	"errors"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Replica reads the tables that publishers write. It implements [table.Store] and refuses writes. A reply may be as old
// as the delay of the publishers plus a minute.
type Replica struct {
	ns      Namespace
	primary table.Store
	calls   int
}

var _ table.Store = (*Replica)(nil)

// NewReplica returns a Replica. It reads unpublished tables, and entities whose keys are too long for KV, from primary.
// If primary is nil, such tables do not exist, and such entities cause [table.ErrKeyTooLong].
//
// maxCalls is the maximum number of KV calls for a page of a scan; 0 means 500.
func NewReplica(ns Namespace, primary table.Store, maxCalls int) *Replica {
	return &Replica{ns: ns, primary: primary, calls: callsPerPage(maxCalls)}
}

// ReadRecord implements [table.Store]. Like reads of entities, it may return an old state.
func (r *Replica) ReadRecord(ctx context.Context, key table.RecordKey, _ table.Consistency) (table.Record, error) {
	if err := ctx.Err(); err != nil {
		return table.Record{}, err
	}
	return readRecord(ctx, r.ns, key)
}

// ListRecords implements [table.Store]; see ReadRecord.
func (r *Replica) ListRecords(ctx context.Context, account, from string, limit int, _ table.Consistency) ([]table.Record, error) {
	return listRecords(ctx, r.ns, account, from, limit)
}

// Get implements [table.Store].
func (r *Replica) Get(ctx context.Context, t table.RecordKey, k []byte, c table.Consistency) (table.Row, error) {
	if err := ctx.Err(); err != nil {
		return table.Row{}, err
	}
	if len(k) > maxKey {
		if r.primary == nil {
			return table.Row{}, table.ErrKeyTooLong
		}
		return r.primary.Get(ctx, t, k, c)
	}
	d, err := readTable(ctx, r.ns, t)
	if r.primary != nil && errors.Is(err, table.ErrNoTable) {
		return r.primary.Get(ctx, t, k, c)
	}
	if err != nil {
		return table.Row{}, err
	}
	return readEntity(ctx, r.ns, entityPrefix(d.Incarnation), k)
}

// Scan implements [table.Store].
func (r *Replica) Scan(ctx context.Context, t table.RecordKey, request table.ScanRequest) (table.Page, error) {
	if err := ctx.Err(); err != nil {
		return table.Page{}, err
	}
	if request.Descending {
		return table.Page{}, errAscending
	}
	d, err := readTable(ctx, r.ns, t)
	if r.primary != nil && errors.Is(err, table.ErrNoTable) {
		return r.primary.Scan(ctx, t, request)
	}
	if err != nil {
		return table.Page{}, err
	}
	s := scanner{ns: r.ns, prefix: entityPrefix(d.Incarnation), request: request, budget: budget{calls: r.calls}}
	s.scanLongKeys = func(ctx context.Context, request table.ScanRequest) (table.Page, error) {
		if r.primary == nil {
			return table.Page{}, table.ErrKeyTooLong
		}
		return r.primary.Scan(ctx, t, request)
	}
	return s.scan(ctx)
}

// Synced returns a time before which all changes are published: the lowest time that [Publisher.Synced] has recorded
// for sources with this prefix. ok is false if there is none.
func (r *Replica) Synced(ctx context.Context, prefix string) (until edm.Ticks, ok bool, err error) {
	b := budget{calls: r.calls}
	w := newWalk(r.ns, &b, spaceSyncs+prefix, spaceSyncs+prefix, "", 1000)
	for {
		f, err := w.peek(ctx)
		if f == nil || err != nil {
			return until, ok, err
		}
		if !ok || f.stamp < until {
			until, ok = f.stamp, true
		}
		w.skipCell()
	}
}

// WriteRecord implements [table.Store]. It returns [table.ErrUnsupported].
func (r *Replica) WriteRecord(context.Context, table.Record) (table.Revision, error) {
	return "", errReadOnly
}

// Drop implements [table.Store]. It returns [table.ErrUnsupported].
func (r *Replica) Drop(context.Context, table.RecordKey, table.Revision) error { return errReadOnly }

// Commit implements [table.Store]. It returns [table.ErrUnsupported].
func (r *Replica) Commit(context.Context, table.RecordKey, []table.Mutation) (edm.Ticks, error) {
	return 0, errReadOnly
}

// Reader is a store that sends reads with eventual consistency to a replica, and all other operations to the primary.
type Reader struct {
	table.Store // the primary store
	Replica     *Replica
}

// Get implements [table.Store].
func (r Reader) Get(ctx context.Context, t table.RecordKey, k []byte, c table.Consistency) (table.Row, error) {
	if c == table.Eventual {
		return r.Replica.Get(ctx, t, k, c)
	}
	return r.Store.Get(ctx, t, k, c)
}

// Scan implements [table.Store].
func (r Reader) Scan(ctx context.Context, t table.RecordKey, request table.ScanRequest) (table.Page, error) {
	if request.Consistency == table.Eventual && !request.Descending {
		return r.Replica.Scan(ctx, t, request)
	}
	return r.Store.Scan(ctx, t, request)
}
