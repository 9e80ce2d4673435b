package dynamodb

import (
	"context"
	"errors"

	"edgetable/adapters/store/dynamodb/internal/attribute"
	"edgetable/adapters/store/dynamodb/internal/call"
	"edgetable/adapters/store/dynamodb/rebucket"
	"edgetable/core/table"
)

// record returns the record with the given key, even if its table is being deleted.
func (s *Store) record(ctx context.Context, key table.RecordKey, c table.Consistency) (*record, error) {
	it, err := s.db.Get(ctx, recordKey(key), c)
	if err != nil {
		return nil, err
	}
	if it == nil {
		return nil, table.ErrNoRecord
	}
	return readRecord(it)
}

// tableRecord reads the record of a table that exists and is not being deleted.
func (s *Store) tableRecord(ctx context.Context, key table.RecordKey) (*record, error) {
	r, err := s.record(ctx, key, table.Strong)
	if errors.Is(err, table.ErrNoRecord) || err == nil && !r.isLive() {
		return nil, table.ErrNoTable
	}
	return r, err
}

// ReadRecord implements [table.Store].
func (s *Store) ReadRecord(ctx context.Context, key table.RecordKey, c table.Consistency) (table.Record, error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return table.Record{}, err
	}
	defer cancel()
	r, err := s.record(ctx, key, c)
	if err != nil {
		return table.Record{}, err
	}
	if r.deleting {
		return table.Record{}, table.ErrNoRecord
	}
	return r.Record, nil
}

// WriteRecord implements [table.Store]. If the options of a table change, it returns only after all leases have ended,
// so that no process uses the old options.
func (s *Store) WriteRecord(ctx context.Context, new table.Record) (table.Revision, error) {
	if new.Traits.Feeds() {
		return "", table.ErrUnsupported
	}
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return "", err
	}
	defer cancel()
	r := record{Record: new}
	r.Revision = s.newRevision()
	if r.isTable() {
		r.Spread = rebucket.Spread{Incarnation: new.Incarnation, Buckets: s.buckets}
	}
	err = s.writeRecord(ctx, &r, new.Revision)
	if err == nil {
		return r.Revision, nil
	}
	if call.ClassOf(err) != call.Conditional {
		return "", err
	}
	old := call.OldItem(err)
	if old == nil {
		return "", table.ErrRevision
	}
	now, err := readRecord(old)
	switch {
	case err != nil:
		return "", err
	case now.deleting && new.Revision == "":
		return s.replaceDeleted(ctx, now, &r)
	case !now.deleting && now.Revision == new.Revision: // The revision is right, so the condition failed because the options differ.
		return r.Revision, s.declare(ctx, &r, new.Revision)
	}
	return "", table.ErrRevision
}

// declare writes a record with changed options. It waits until all leases have ended, even if the outcome of the write
// is unknown.
func (s *Store) declare(ctx context.Context, r *record, had table.Revision) error {
	var e call.Expression
	e.If(attrRevision, "=", ":had", attribute.String(string(had)))
	e.IfMissing(attrDeleting)
	e.Set(attrRevision, ":r", attribute.String(string(r.Revision)))
	e.Set(attrValue, ":v", attribute.Binary(r.Value))
	if r.Traits != nil {
		e.Set(attrTraits, ":l", attribute.Binary(r.Traits.Encode()))
	} else {
		e.Remove(attrTraits)
	}
	err := s.db.Write(ctx, call.Once, s.db.Update(recordKey(r.Key), &e))
	s.leases.remove(r.Key)
	if err != nil && call.ClassOf(err) != call.Ambiguous {
		return asRevision(err)
	}
	if s.leases.length > 0 && s.sleep(ctx, s.leases.length+leaseMargin) != nil {
		return table.ErrUnknown
	}
	return err
}

// writeRecord creates a record if the given revision is empty. Otherwise, it replaces the value of the stored record,
// which must have this revision and the options of r.
func (s *Store) writeRecord(ctx context.Context, r *record, had table.Revision) error {
	var e call.Expression
	if had == "" {
		e.IfMissing(attrHash)
		return s.db.Write(ctx, call.Once, s.db.Put(r.item(), &e))
	}
	e.If(attrRevision, "=", ":had", attribute.String(string(had)))
	if r.Traits != nil {
		e.If(attrTraits, "=", ":l", attribute.Binary(r.Traits.Encode()))
	} else {
		e.IfMissing(attrTraits)
	}
	e.Set(attrRevision, ":r", attribute.String(string(r.Revision)))
	e.Set(attrValue, ":v", attribute.Binary(r.Value))
	return s.db.Write(ctx, call.Once, s.db.Update(recordKey(r.Key), &e))
}

// ListRecords implements [table.Store].
func (s *Store) ListRecords(ctx context.Context, account, from string, limit int, c table.Consistency) ([]table.Record, error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	prefix := table.TablesOf(account)
	first, last := prefix+from, prefix+"\xff" // Keys are ASCII, so 0xff sorts after all of them.
	var list []table.Record
	for first <= last && len(first) <= maxSortKey {
		found, err := s.db.Query(ctx, call.Query{
			Hash: recordHash, First: []byte(first), Last: []byte(last), Rows: limit - len(list), Consistency: c,
		})
		if err != nil {
			return nil, err
		}
		records, err := liveRecords(found.Items)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			list = append(list, r.Record)
		}
		if found.Next == nil || len(list) == limit {
			break
		}
		first = string(found.Next) + "\x00"
	}
	return list, nil
}

func (s *Store) removeRecord(ctx context.Context, key table.RecordKey, revision table.Revision) error {
	return asRevision(s.db.Write(ctx, call.Once, s.deleteRecord(key, revision)))
}

// asRevision returns [table.ErrRevision] if a condition on the revision of a record failed.
func asRevision(err error) error {
	if call.ClassOf(err) == call.Conditional {
		return table.ErrRevision
	}
	return err
}

func (s *Store) deleteRecord(key table.RecordKey, revision table.Revision) call.Action {
	var e call.Expression
	e.If(attrRevision, "=", ":r", attribute.String(string(revision)))
	return s.db.Delete(recordKey(key), &e)
}

// replaceDeleted replaces the record of a table that is being deleted by the record of a new table. The error is
// ErrBeingDeleted if a process might still have a lease on the old table.
func (s *Store) replaceDeleted(ctx context.Context, old, r *record) (table.Revision, error) {
	if s.drops.unchanged(old.Key.String(), string(old.Revision), s.elapsed()) < s.leases.length+leaseMargin {
		return "", table.ErrBeingDeleted
	}
	var e call.Expression
	e.If(attrRevision, "=", ":r", attribute.String(string(old.Revision)))
	if err := s.db.Write(ctx, call.Once, s.db.Put(r.item(), &e)); err != nil {
		return "", asRevision(err)
	}
	return r.Revision, nil
}
