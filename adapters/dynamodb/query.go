package dynamodb

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"edgetable/core/table"
)

// query asks for items of one hash key in order of their sort keys.
type query struct {
	hash        []byte
	first, last []byte // both are in; last nil is no end
	rows        int    // at most
	consistency table.Consistency
	keysOnly    bool
}

// query makes one call. next is the last sort key examined, nil where there are
// no more items.
func (s *Store) query(ctx context.Context, q query) (items []item, next []byte, err error) {
	in := &dynamodb.QueryInput{
		TableName:      s.table,
		ConsistentRead: aws.Bool(q.consistency == table.Strong),
		Limit:          aws.Int32(int32(min(max(q.rows, 1), 1<<20))),
	}
	var e expression
	e.compare(attrHash, " = ", ":p", bin(q.hash))
	e.write(" AND ")
	if first := q.first; len(first) > maxSortKey {
		// No item has such a key. Those behind it are those behind what fits.
		in.ExclusiveStartKey = keyOf(q.hash, first[:maxSortKey])
		q.first = first[:maxSortKey]
	}
	if q.last == nil {
		e.compare(attrSort, " >= ", ":s", bin(q.first))
	} else {
		e.name(attrSort)
		e.write(" BETWEEN ")
		e.value(":s", bin(q.first))
		e.write(" AND ")
		e.value(":e", bin(q.last[:min(len(q.last), maxSortKey)]))
	}
	if q.keysOnly {
		var keys expression
		keys.name(attrHash)
		keys.write(",")
		keys.name(attrSort)
		in.ProjectionExpression = keys.String()
	}
	in.KeyConditionExpression = e.String()
	in.ExpressionAttributeNames = e.names
	in.ExpressionAttributeValues = e.values
	var out *dynamodb.QueryOutput
	if err := s.repeat(ctx, func(ctx context.Context) (err error) {
		out, err = s.client.Query(ctx, in)
		return err
	}); err != nil {
		return nil, nil, err
	}
	if out.LastEvaluatedKey != nil {
		next = binaryOf(out.LastEvaluatedKey[attrSort])
	}
	return out.Items, next, nil
}
