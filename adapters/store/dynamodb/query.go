package dynamodb

import (
	"context"
	"maps"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/core/table"
)

// query asks for items of one hash key in order of their sort keys.
type query struct {
	hash        []byte
	first, last []byte // both are in; last nil is no end
	rows        int    // at most
	consistency table.Consistency
	only        *projection // nil: all attributes
	filter      *prefilter  // nil: all
}

// answer is what a query found.
type answer struct {
	items []item
	next  []byte // the last sort key examined; nil: there are no more items
	// With a filter, how many items were examined and about how many bytes.
	examined, scanned int
}

// What queries have in common.
var (
	keyNames    = map[string]string{"#p": attrHash, "#s": attrSort}
	fromFirst   = aws.String("#p = :p AND #s >= :s")
	firstToLast = aws.String("#p = :p AND #s BETWEEN :s AND :e")
)

// projection names the attributes that are to be sent. They are paid for all.
type projection struct {
	text  *string
	names map[string]string // those of keys too
}

func newProjection(attrs ...string) *projection {
	var e expression
	for i, a := range attrs {
		if i > 0 {
			e.write(",")
		}
		e.name(a)
	}
	maps.Copy(e.names, keyNames)
	return &projection{e.String(), e.names}
}

var onlyKeys = newProjection(attrHash, attrSort)

// query makes one call.
func (s *Store) query(ctx context.Context, q query) (f answer, err error) {
	in := &dynamodb.QueryInput{
		TableName:      s.table,
		ConsistentRead: aws.Bool(q.consistency == table.Strong),
		Limit:          aws.Int32(int32(min(max(q.rows, 1), 1<<20))),
	}
	if first := q.first; len(first) > maxSortKey {
		// No item has such a key. Those behind it are those behind what fits.
		in.ExclusiveStartKey = keyOf(q.hash, first[:maxSortKey])
		q.first = first[:maxSortKey]
	}
	in.KeyConditionExpression = fromFirst
	in.ExpressionAttributeNames = keyNames
	in.ExpressionAttributeValues = item{":p": bin(q.hash), ":s": bin(q.first)}
	if q.last != nil {
		in.KeyConditionExpression = firstToLast
		in.ExpressionAttributeValues[":e"] = bin(q.last[:min(len(q.last), maxSortKey)])
	}
	if q.only != nil {
		in.ProjectionExpression, in.ExpressionAttributeNames = q.only.text, q.only.names
	}
	if q.filter != nil {
		in.ExpressionAttributeNames = maps.Clone(in.ExpressionAttributeNames)
		maps.Copy(in.ExpressionAttributeNames, q.filter.names)
		maps.Copy(in.ExpressionAttributeValues, q.filter.values)
		in.FilterExpression = q.filter.String()
		in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	}
	var out *dynamodb.QueryOutput
	if err := s.repeat(ctx, func(ctx context.Context) (err error) {
		out, err = s.client.Query(ctx, in)
		return err
	}); err != nil {
		return f, err
	}
	f.items = out.Items
	if out.LastEvaluatedKey != nil {
		f.next = binaryOf(out.LastEvaluatedKey[attrSort])
	}
	if q.filter != nil {
		f.examined = int(out.ScannedCount)
		f.scanned = scannedBytes(out, q.consistency)
	}
	return f, nil
}

// scannedBytes is what a query read, from the capacity it took: a unit for 4 KiB
// read strongly, half a unit otherwise.
func scannedBytes(out *dynamodb.QueryOutput, c table.Consistency) int {
	if out.ConsumedCapacity == nil || out.ConsumedCapacity.CapacityUnits == nil {
		return int(out.ScannedCount) << 10 // not every implementation tells
	}
	bytes := *out.ConsumedCapacity.CapacityUnits * (4 << 10)
	if c != table.Strong {
		bytes *= 2
	}
	return int(bytes)
}
