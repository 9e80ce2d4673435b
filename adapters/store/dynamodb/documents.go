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

func documentKey(key string) item { return keyOf(documentHash, []byte(key)) }

// record is a document as its item holds it.
type record struct {
	table.Document
	life     life // zero unless it is the record of a table
	born     table.Incarnation
	move     move
	deleting bool
}

func (r *record) isTable() bool { return r.Layout != (table.Layout{}) }

// item is the record of a table at rest.
func (r *record) item() item {
	it := documentKey(r.Key)
	it[attrValue] = bin(r.Value)
	it[attrRevision] = str(string(r.Revision))
	if r.isTable() {
		it[attrIncarnation] = bin(r.Layout.Incarnation[:])
		it[attrLayout] = num(r.Layout.Buckets)
		it[attrBuckets] = num(r.life.buckets)
		it[attrLocation] = str(r.Layout.Location)
	}
	if r.deleting {
		it[attrDeleting] = &types.AttributeValueMemberBOOL{Value: true}
	}
	return it
}

func readRecord(it item) (*record, error) {
	var r record
	r.Key = string(binaryOf(it[attrSort]))
	r.Value = binaryOf(it[attrValue])
	r.Revision = table.Revision(text(it[attrRevision]))
	if r.Key == "" || r.Revision == "" {
		return nil, errItem
	}
	if id, ok := it[attrIncarnation]; ok {
		layout, err := strconv.ParseUint(number(it[attrLayout]), 10, 16)
		if err != nil {
			return nil, errItem
		}
		buckets, err := strconv.ParseUint(number(it[attrBuckets]), 10, 16)
		if err != nil || buckets == 0 || copy(r.Layout.Incarnation[:], binaryOf(id)) != len(r.Layout.Incarnation) {
			return nil, errItem
		}
		r.Layout.Buckets, r.Layout.Location = uint16(layout), text(it[attrLocation])
		r.life = life{r.Layout.Incarnation, uint16(buckets)}
		r.born = r.origin(it)
		if r.move, err = readMove(it); err != nil {
			return nil, err
		}
	}
	_, r.deleting = it[attrDeleting]
	return &r, nil
}

// record reads a document by a strong read, also one that is being deleted.
func (s *Store) record(ctx context.Context, key string) (*record, error) {
	if key == "" || len(key) > maxSortKey {
		return nil, table.ErrNoDocument
	}
	it, err := s.getItem(ctx, documentKey(key), table.Strong)
	if err != nil {
		return nil, err
	}
	if it == nil {
		return nil, table.ErrNoDocument
	}
	return readRecord(it)
}

// tableRecord reads the record of a table that is there.
func (s *Store) tableRecord(ctx context.Context, name string) (*record, error) {
	r, err := s.record(ctx, name)
	if errors.Is(err, table.ErrNoDocument) || err == nil && (r.deleting || !r.isTable()) {
		return nil, table.ErrNoTable
	}
	return r, err
}

// ReadDocument implements [table.Store].
func (s *Store) ReadDocument(ctx context.Context, key string) (table.Document, error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return table.Document{}, err
	}
	defer cancel()
	r, err := s.record(ctx, key)
	if err != nil {
		return table.Document{}, err
	}
	if r.deleting {
		return table.Document{}, table.ErrNoDocument
	}
	return r.Document, nil
}

// WriteDocument implements [table.Store]. Where a Layout changes it is
// [table.ErrUnsupported]: who has the old one cached would not notice.
func (s *Store) WriteDocument(ctx context.Context, d table.Document) (table.Revision, error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return "", err
	}
	defer cancel()
	if d.Key == "" || len(d.Key) > maxSortKey {
		return "", table.ErrKeyTooLong
	}
	r := record{Document: d}
	r.Revision = s.newRevision()
	if r.isTable() {
		r.life = life{d.Layout.Incarnation, d.Layout.Buckets}
		if r.life.buckets == 0 {
			r.life.buckets = s.buckets
		}
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
	case now.Revision == d.Revision && !now.deleting:
		return "", table.ErrUnsupported // it is the Layout that differs
	}
	return "", table.ErrRevision
}

// writeRecord writes a document where there is none, or the value of one that has
// the revision and the same layout.
func (s *Store) writeRecord(ctx context.Context, r *record, had table.Revision) error {
	if had == "" {
		var e expression
		e.missing(attrHash)
		return s.putRecord(ctx, r, &e)
	}
	c := newChange()
	c.condition.compare(attrRevision, " = ", ":had", str(string(had)))
	c.condition.write(" AND ")
	if r.isTable() {
		c.condition.compare(attrIncarnation, " = ", ":i", bin(r.Layout.Incarnation[:]))
		c.condition.write(" AND ")
		c.condition.compare(attrLayout, " = ", ":b", num(r.Layout.Buckets))
	} else {
		c.condition.missing(attrIncarnation)
	}
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
func (s *Store) updateRecord(ctx context.Context, key string, c *change) error {
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

// ListDocuments implements [table.Store].
func (s *Store) ListDocuments(ctx context.Context, prefix, from string, limit int) ([]table.Document, error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	first := max(prefix, from, "\x00") // no sort key is empty
	last := prefix + "\xff"            // keys are ASCII
	var list []table.Document
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
				list = append(list, r.Document)
			}
		}
		if found.next == nil || len(list) == limit {
			break
		}
		first = string(found.next) + "\x00"
	}
	return list, nil
}
