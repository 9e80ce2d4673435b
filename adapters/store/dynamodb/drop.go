package dynamodb

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/adapters/store/dynamodb/internal/attribute"
	"edgetable/adapters/store/dynamodb/internal/call"
	"edgetable/adapters/store/dynamodb/rebucket"
	"edgetable/core/table"
)

// Drop implements [table.Store].
//
// One transaction marks the record of the table as being deleted, and writes a note for [Store.Purge]. From then on, no
// process gets a lease on the table. When all leases have ended, Drop removes the record, so that the name can be used
// again. If the process ends earlier, Purge frees the name, or WriteRecord reuses it.
//
// If the context ends before all leases have ended, the error is [table.ErrUnknown]. The table is then deleted, but
// other processes may use it until their leases end.
func (s *Store) Drop(ctx context.Context, key table.RecordKey, revision table.Revision) error {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	r, err := s.record(ctx, key, table.Strong)
	switch {
	case errors.Is(err, table.ErrNoRecord), err == nil && (r.Revision != revision || r.deleting):
		return table.ErrRevision
	case err != nil:
		return err
	case !r.isTable():
		return s.removeRecord(ctx, key, revision)
	}
	declared := r.Traits != nil
	if r, err = s.markDeleted(ctx, r); err != nil {
		return err
	}
	s.leases.remove(key)
	if s.leases.length > 0 && s.sleep(ctx, s.leases.length+leaseMargin) != nil {
		return table.ErrUnknown
	}
	// All leases on the table have ended. If this write fails, WriteRecord or Purge frees the name later.
	_ = s.db.Write(ctx, call.Idempotent, s.deleteRecord(key, r.Revision))
	if declared { // If this call fails too, a new table with the same name ignores the stored progress, which belongs to another incarnation.
		_, _ = s.db.BatchWrite(ctx, []types.WriteRequest{call.DeleteRequest(upkeepHash, []byte(key.String()))})
	}
	return nil
}

// markDeleted marks a record as being deleted, if its revision is unchanged. In the same transaction, it writes notes
// that make Purge remove the table and its unfinished copy, if there is one.
func (s *Store) markDeleted(ctx context.Context, r *record) (marked *record, err error) {
	revision := r.Revision
	err = s.db.Retry(ctx, call.Once, func(ctx context.Context) error {
		marked = &record{Record: r.Record, Location: rebucket.Location{Spread: r.Spread}, deleting: true}
		marked.Revision, marked.Value, marked.Traits = s.newRevision(), nil, nil
		var e call.Expression
		e.If(attrRevision, "=", ":r", attribute.String(string(revision)))
		notes := []call.Action{s.notePurge(marked, r.Spread)}
		if r.None() {
			e.IfMissing(attrTarget)
		} else {
			e.If(attrTarget, "=", ":a", attribute.Binary(r.Target.Incarnation[:]))
			notes = append(notes, s.notePurge(marked, r.Target))
		}
		err := s.db.Transact(ctx, append(notes, s.db.Put(marked.item(), &e)))
		if call.ClassOf(err) != call.Cancelled {
			return err
		}
		// A run of Rebucket may have begun or ended since the record was read.
		now, readErr := s.record(ctx, r.Key, table.Strong)
		switch {
		case errors.Is(readErr, table.ErrNoRecord), readErr == nil && (now.Revision != revision || now.deleting):
			return table.ErrRevision
		case readErr != nil:
			return readErr
		}
		r = now
		return &call.Error{Class: call.Stale, Err: err}
	})
	return marked, err
}
