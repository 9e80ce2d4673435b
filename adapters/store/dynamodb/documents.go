package dynamodb

import (
	"context"
	"errors"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/core/table"
)

// The catalog is one hash key: documents are few, small, and cached where it
// counts. Documents are listed by their keys, which are the sort keys.

var documentHash = []byte{kindDocument}

func documentKey(key table.RecordKey) item { return keyOf(documentHash, []byte(key.String())) }

// record is a document as its item holds it.
type record struct {
	table.Record
	life     life // zero unless it is the record of a table
	born     table.Incarnation
	move     move
	deleting bool
}

func (r *record) isTable() bool { return r.Key.Table != "" }

// item is the record of a table at rest.
func (r *record) item() item {
	it := documentKey(r.Key)
	it[attrValue] = bin(r.Value)
	it[attrRevision] = str(string(r.Revision))
	if r.isTable() {
		it[attrIncarnation] = bin(r.Incarnation[:])
		it[attrBuckets] = num(r.life.buckets)
	}
	if r.deleting {
		it[attrDeleting] = &types.AttributeValueMemberBOOL{Value: true}
	}
	return it
}

func readRecord(it item) (*record, error) {
	var r record
	var ok bool
	r.Key, ok = table.ParseRecordKey(string(binaryOf(it[attrSort])))
	r.Value = binaryOf(it[attrValue])
	r.Revision = table.Revision(text(it[attrRevision]))
	if !ok || r.Revision == "" {
		return nil, errItem
	}
	if r.isTable() {
		buckets, err := strconv.ParseUint(number(it[attrBuckets]), 10, 16)
		if err != nil || buckets == 0 || copy(r.Incarnation[:], binaryOf(it[attrIncarnation])) != len(r.Incarnation) {
			return nil, errItem
		}
		r.life = life{r.Incarnation, uint16(buckets)}
		r.born = r.origin(it)
		if r.move, err = readMove(it); err != nil {
			return nil, err
		}
	}
	_, r.deleting = it[attrDeleting]
	return &r, nil
}

// record reads a document by a strong read, also one that is being deleted.
func (s *Store) record(ctx context.Context, key table.RecordKey) (*record, error) {
	it, err := s.getItem(ctx, documentKey(key), table.Strong)
	if err != nil {
		return nil, err
	}
	if it == nil {
		return nil, table.ErrNoRecord
	}
	return readRecord(it)
}

// tableRecord reads the record of a table that is there.
func (s *Store) tableRecord(ctx context.Context, name table.RecordKey) (*record, error) {
	r, err := s.record(ctx, name)
	if errors.Is(err, table.ErrNoRecord) || err == nil && (r.deleting || !r.isTable()) {
		return nil, table.ErrNoTable
	}
	return r, err
}

// ReadRecord implements [table.Store].
func (s *Store) ReadRecord(ctx context.Context, key table.RecordKey) (table.Record, error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return table.Record{}, err
	}
	defer cancel()
	r, err := s.record(ctx, key)
	if err != nil {
		return table.Record{}, err
	}
	if r.deleting {
		return table.Record{}, table.ErrNoRecord
	}
	return r.Record, nil
}

// WriteRecord implements [table.Store].
func (s *Store) WriteRecord(ctx context.Context, d table.Record) (table.Revision, error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return "", err
	}
	defer cancel()
	r := record{Record: d}
	r.Revision = s.newRevision()
	if r.isTable() {
		r.life = life{d.Incarnation, s.buckets}
	}
	err = s.writeRecord(ctx, &r, d.Revision)
	if err == nil {
		return r.Revision, nil
	}
	if classOf(err) != conditional {
		return "", outcome(err)
	}
	old := oldItem(err)
	if old == nil {
		return "", table.ErrRevision
	}
	now, err := readRecord(old)
	switch {
	case err != nil:
		return "", err
	case now.deleting && d.Revision == "":
		return s.succeed(ctx, now, &r)
	}
	return "", table.ErrRevision
}

// writeRecord writes a document where there is none, or the value of one that has
// the revision.
func (s *Store) writeRecord(ctx context.Context, r *record, had table.Revision) error {
	if had == "" {
		var e expression
		e.missing(attrHash)
		return s.putRecord(ctx, r, &e)
	}
	c := newChange()
	c.condition.compare(attrRevision, " = ", ":had", str(string(had)))
	c.update.write("SET ")
	c.update.compare(attrRevision, " = ", ":r", str(string(r.Revision)))
	c.update.write(", ")
	c.update.compare(attrValue, " = ", ":v", bin(r.Value))
	return s.once(ctx, func(ctx context.Context) error { return s.updateRecord(ctx, r.Key, c) })
}

// putRecord writes a document whole, on a condition.
func (s *Store) putRecord(ctx context.Context, r *record, e *expression) error {
	it := r.item()
	return s.once(ctx, func(ctx context.Context) error {
		_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName:                           s.table,
			Item:                                it,
			ConditionExpression:                 e.String(),
			ExpressionAttributeNames:            e.names,
			ExpressionAttributeValues:           e.values,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
		return err
	})
}

// updateRecord is one call.
func (s *Store) updateRecord(ctx context.Context, key table.RecordKey, c *change) error {
	_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                           s.table,
		Key:                                 documentKey(key),
		UpdateExpression:                    c.update.String(),
		ConditionExpression:                 c.condition.String(),
		ExpressionAttributeNames:            c.update.names,
		ExpressionAttributeValues:           c.update.values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	return err
}

// ListRecords implements [table.Store].
func (s *Store) ListRecords(ctx context.Context, account, from string, limit int) ([]table.Record, error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	prefix := table.TablesOf(account)
	first, last := prefix+from, prefix+"\xff" // keys are ASCII
	var list []table.Record
	for first <= last && len(first) <= maxSortKey {
		found, err := s.query(ctx, query{
			hash: documentHash, first: []byte(first), last: []byte(last), rows: limit - len(list),
		})
		if err != nil {
			return nil, err
		}
		for _, it := range found.items {
			r, err := readRecord(it)
			if err != nil {
				return nil, err
			}
			if !r.deleting {
				list = append(list, r.Record)
			}
		}
		if found.next == nil || len(list) == limit {
			break
		}
		first = string(found.next) + "\x00"
	}
	return list, nil
}
