package dynamodb

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/core/table"
)

// Drop implements [table.Store]. The record of a table is first marked as being
// deleted, in one transaction with a note for [Store.Purge]: from then on nobody
// gets a lease on it. When all leases have ended, the record is removed and the
// name is free. If the process ends in between, the name is freed by a
// WriteRecord that has watched the mark long enough, or by Purge.
//
// A context that ends while leases run leaves [table.ErrUnknown]: the table is
// gone, but until the last lease has ended some may not know.
func (s *Store) Drop(ctx context.Context, key table.RecordKey, revision table.Revision) error {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	r, err := s.record(ctx, key)
	switch {
	case errors.Is(err, table.ErrNoRecord), err == nil && (r.Revision != revision || r.deleting):
		return table.ErrRevision
	case err != nil:
		return err
	case !r.isTable():
		return s.removeRecord(ctx, key, revision)
	}
	if r, err = s.mark(ctx, r); err != nil {
		return err
	}
	s.forget(key)
	if s.lease > 0 && s.sleep(ctx, s.lease+leaseMargin) != nil {
		return table.ErrUnknown
	}
	// The table is gone for everybody. If this fails, its name is freed later.
	_ = s.repeat(ctx, func(ctx context.Context) error { return s.deleteRecord(ctx, key, r.Revision) })
	return nil
}

// mark makes the record that of a table being deleted, if it has its revision
// still, and notes what there is to purge: where a run rebuckets the table, its
// copy too.
func (s *Store) mark(ctx context.Context, r *record) (*record, error) {
	for n := 0; ; n++ {
		marked := &record{Record: r.Record, life: r.life, deleting: true}
		marked.Revision, marked.Value = s.newRevision(), nil
		var e expression
		e.compare(attrRevision, " = ", ":r", str(string(r.Revision)))
		e.write(" AND ")
		actions := []types.TransactWriteItem{{Put: &types.Put{TableName: s.table, Item: marked.item()}}, s.notePurge(marked, marked.life)}
		if r.move.none() {
			e.missing(attrTarget)
		} else {
			e.compare(attrTarget, " = ", ":a", bin(r.move.target.incarnation[:]))
			actions = append(actions, s.notePurge(marked, r.move.target))
		}
		put := actions[0].Put
		put.ConditionExpression, put.ExpressionAttributeNames, put.ExpressionAttributeValues = e.String(), e.names, e.values
		err := s.transact(ctx, actions)
		switch c := classOf(err); {
		case err == nil:
			return marked, nil
		case c == cancelled:
			// A run may have begun or ended since the record was read, which changes
			// its revision only in the end.
			now, err := s.record(ctx, r.Key)
			if errors.Is(err, table.ErrNoRecord) || err == nil && (now.Revision != r.Revision || now.deleting) {
				return nil, table.ErrRevision
			}
			if err != nil {
				return nil, err
			}
			if r = now; n == maxRepeats || !s.pause(ctx, n) {
				return nil, table.ErrBusy
			}
		case c == busy && ctx.Err() != nil:
			return nil, ctx.Err()
		case c != busy || n == maxRepeats || !s.pause(ctx, n):
			return nil, outcome(err)
		}
	}
}

// removeRecord deletes a document that has this revision.
func (s *Store) removeRecord(ctx context.Context, key table.RecordKey, revision table.Revision) error {
	err := s.once(ctx, func(ctx context.Context) error { return s.deleteRecord(ctx, key, revision) })
	if err == nil {
		return nil
	}
	if classOf(err) == conditional {
		return table.ErrRevision
	}
	return outcome(err)
}

// deleteRecord is one call.
func (s *Store) deleteRecord(ctx context.Context, key table.RecordKey, revision table.Revision) error {
	var e expression
	e.compare(attrRevision, " = ", ":r", str(string(revision)))
	_, err := s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName:                 s.table,
		Key:                       documentKey(key),
		ConditionExpression:       e.String(),
		ExpressionAttributeNames:  e.names,
		ExpressionAttributeValues: e.values,
	})
	return err
}

// succeed writes the record of a new table in place of one that is being deleted,
// if whoever deletes it has been gone for as long as a lease can last.
func (s *Store) succeed(ctx context.Context, old, r *record) (table.Revision, error) {
	if s.drops.unchanged(old.Key.String(), string(old.Revision), s.elapsed()) < s.lease+leaseMargin {
		return "", table.ErrBeingDeleted
	}
	var e expression
	e.compare(attrRevision, " = ", ":r", str(string(old.Revision)))
	switch err := s.putRecord(ctx, r, &e); {
	case err == nil:
		return r.Revision, nil
	case classOf(err) == conditional:
		return "", table.ErrRevision
	default:
		return "", outcome(err)
	}
}
