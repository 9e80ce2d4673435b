package dynamodb

import (
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/adapters/store/dynamodb/internal/attribute"
	"edgetable/adapters/store/dynamodb/internal/call"
	"edgetable/adapters/store/dynamodb/rebucket"
	"edgetable/core/table"
)

// All records of the catalog have the same hash key, because they are few and small. The sort key is the record's key,
// so a query returns the records in order.

var recordHash = []byte{kindRecord}

func recordKey(key table.RecordKey) item { return call.Key(recordHash, []byte(key.String())) }

type record struct {
	table.Record
	rebucket.Location // location of the table; zero for other records
	// origin is the incarnation with which the table was created. Rebucket does not change the origin. If the origin
	// has changed, the table was dropped and created again.
	origin   table.Incarnation
	deleting bool
}

func (r *record) isTable() bool { return r.Key.Table != "" }

func (r *record) isLive() bool { return r.isTable() && !r.deleting }

// item returns the item of a record. It must not be called for a table that is being moved, because the item lacks the
// description of the move.
func (r *record) item() item {
	it := recordKey(r.Key)
	it[attrValue] = attribute.Binary(r.Value)
	it[attrRevision] = attribute.String(string(r.Revision))
	if r.isTable() {
		it[attrIncarnation] = attribute.Binary(r.Spread.Incarnation[:])
		it[attrBuckets] = attribute.Number(r.Spread.Buckets)
	}
	if r.Traits != nil {
		it[attrTraits] = attribute.Binary(r.Traits.Encode())
	}
	if r.deleting {
		it[attrDeleting] = &types.AttributeValueMemberBOOL{Value: true}
	}
	return it
}

func readRecord(it item) (*record, error) {
	var r record
	var ok bool
	r.Key, ok = table.ParseRecordKey(string(attribute.Bytes(it[attrSort])))
	r.Value = attribute.Bytes(it[attrValue])
	r.Revision = table.Revision(attribute.Text(it[attrRevision]))
	if !ok || r.Revision == "" {
		return nil, errItem
	}
	for name := range it {
		if !strings.Contains(ownOfRecord, name) {
			return nil, newer(name)
		}
	}
	if r.isTable() {
		var err error
		if a, ok := it[attrTraits]; ok {
			if r.Traits, err = table.ParseTraits(attribute.Bytes(a)); err != nil {
				return nil, err
			}
		}
		if r.Spread, err = readSpread(it, attrIncarnation, attrBuckets); err != nil {
			return nil, err
		}
		r.Incarnation, r.origin = r.Spread.Incarnation, r.Spread.Incarnation
		copy(r.origin[:], attribute.Bytes(it[attrOrigin]))
		if r.Move, err = readMove(it); err != nil {
			return nil, err
		}
	}
	_, r.deleting = it[attrDeleting]
	return &r, nil
}

// liveRecords parses a page of records, and omits the records of tables that are being deleted.
func liveRecords(items []item) (list []*record, err error) {
	for _, it := range items {
		r, err := readRecord(it)
		if err != nil {
			return nil, err
		}
		if !r.deleting {
			list = append(list, r)
		}
	}
	return list, nil
}

func readSpread(it item, incarnation, buckets string) (p rebucket.Spread, err error) {
	n, err := strconv.ParseUint(attribute.Digits(it[buckets]), 10, 16)
	if err != nil || n == 0 || copy(p.Incarnation[:], attribute.Bytes(it[incarnation])) != len(p.Incarnation) {
		return p, errItem
	}
	p.Buckets = uint16(n)
	return p, nil
}

func readMove(it item) (m rebucket.Move, err error) {
	if _, ok := it[attrTarget]; !ok {
		return m, nil
	}
	if m.Target, err = readSpread(it, attrTarget, attrSpread); err != nil {
		return m, err
	}
	m.Owner = attribute.Text(it[attrOwner])
	if a, ok := it[attrSeal]; ok {
		n, err := strconv.ParseUint(attribute.Digits(a), 10, 8)
		if err != nil || n < uint64(rebucket.Sealing) || n > uint64(rebucket.Sealed) {
			return m, errItem
		}
		m.Seal = rebucket.Seal(n)
		m.Beat, _ = strconv.Atoi(attribute.Digits(it[attrBeat]))
	}
	return m, nil
}
