package call

import (
	"bytes"
	"context"
	"maps"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/adapters/store/dynamodb/internal/attribute"
	"edgetable/core/table"
)

// MaxReadBatch is the maximum number of items in a BatchGet.
const MaxReadBatch = 100

// read executes a read, and retries it after a failure. The error never has the class Ambiguous, because a read has no
// effect.
func (t *Table) read(ctx context.Context, call func(ctx context.Context) error) error {
	err := t.Retry(ctx, Idempotent, call)
	if ClassOf(err) == Ambiguous {
		return &Error{Refused, err.(*Error).Err}
	}
	return err
}

// Get reads one item. It returns nil if there is no item.
func (t *Table) Get(ctx context.Context, key Item, c table.Consistency) (it Item, err error) {
	err = t.read(ctx, func(ctx context.Context) error {
		return t.attempt(ctx, func(ctx context.Context) error {
			out, err := t.Client.GetItem(ctx, &dynamodb.GetItemInput{
				TableName: t.name, Key: key, ConsistentRead: aws.Bool(c == table.Strong),
			})
			if err == nil {
				it = out.Item
			}
			return err
		})
	})
	return it, err
}

// BatchGet reads up to MaxReadBatch items. It passes every item that exists to a function, in any order.
func (t *Table) BatchGet(ctx context.Context, keys []Item, c table.Consistency, each func(Item)) error {
	for len(keys) > 0 {
		err := t.read(ctx, func(ctx context.Context) error {
			var out *dynamodb.BatchGetItemOutput
			if err := t.attempt(ctx, func(ctx context.Context) (err error) {
				out, err = t.Client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
					RequestItems: map[string]types.KeysAndAttributes{t.Name: {Keys: keys, ConsistentRead: aws.Bool(c == table.Strong)}},
				})
				return err
			}); err != nil {
				return err
			}
			for _, it := range out.Responses[t.Name] {
				each(it)
			}
			left := out.UnprocessedKeys[t.Name].Keys
			if len(left) == len(keys) {
				return errUnprocessed
			}
			keys = left
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Query describes a query for items with one hash key, in the order of their sort keys.
type Query struct {
	Hash        []byte
	First, Last []byte // lowest and highest sort key, both included; if Last is nil, there is no highest key
	Descending  bool   // if true, the items are in descending order, and an item with the key Last is excluded
	Rows        int    // maximum number of items that DynamoDB examines
	Consistency table.Consistency
	Projection  *Projection // attributes to return; nil means all
	Filter      *Filter     // condition for the items to return; nil means all items
}

// Answer is the result of a Query.
type Answer struct {
	Items []Item
	Next  []byte // the last sort key examined; nil if there are no more items
	// Examined is the number of items that DynamoDB read, before it applied the Filter. Scanned is their approximate
	// size in bytes.
	Examined, Scanned int
}

// Projection names the attributes that DynamoDB returns. DynamoDB also charges for the other attributes of an item.
type Projection struct {
	text  *string
	names map[string]string // attribute names by placeholder, including the two key attributes
}

// NewProjection returns a Projection of store attributes.
func NewProjection(attrs ...string) *Projection {
	var e Expression
	text := ""
	for i, a := range attrs {
		if i > 0 {
			text += ","
		}
		text += e.name(a)
	}
	maps.Copy(e.names, keyNames)
	return &Projection{&text, e.names}
}

// Filter is a filter expression. It is safe for concurrent use.
type Filter struct {
	Text   string
	Names  map[string]string
	Values Item
}

var (
	keyNames    = map[string]string{"#p": Hash, "#s": Sort}
	fromFirst   = aws.String("#p = :p AND #s >= :s")
	firstToLast = aws.String("#p = :p AND #s BETWEEN :s AND :e")
)

// Input returns a query in the form of the SDK.
func (t *Table) Input(q Query) *dynamodb.QueryInput {
	in := &dynamodb.QueryInput{
		TableName:      t.name,
		ConsistentRead: aws.Bool(q.Consistency == table.Strong),
		Limit:          aws.Int32(int32(min(max(q.Rows, 1), 1<<20))),
	}
	if len(q.First) > MaxSort {
		// All stored keys are shorter than q.First. A stored key that is above the first MaxSort bytes of q.First is
		// therefore also above q.First.
		q.First = q.First[:MaxSort]
		if !q.Descending {
			in.ExclusiveStartKey = Key(q.Hash, q.First)
		}
	}
	if q.Descending {
		in.ScanIndexForward = aws.Bool(false)
		if q.Last != nil && len(q.Last) <= MaxSort {
			in.ExclusiveStartKey = Key(q.Hash, q.Last)
		}
	}
	in.KeyConditionExpression, in.ExpressionAttributeNames = fromFirst, keyNames
	in.ExpressionAttributeValues = Item{":p": attribute.Binary(q.Hash), ":s": attribute.Binary(q.First)}
	if q.Last != nil {
		in.KeyConditionExpression = firstToLast
		in.ExpressionAttributeValues[":e"] = attribute.Binary(q.Last[:min(len(q.Last), MaxSort)])
	}
	if q.Projection != nil {
		in.ProjectionExpression, in.ExpressionAttributeNames = q.Projection.text, q.Projection.names
	}
	if q.Filter != nil {
		in.ExpressionAttributeNames = maps.Clone(in.ExpressionAttributeNames)
		maps.Copy(in.ExpressionAttributeNames, q.Filter.Names)
		maps.Copy(in.ExpressionAttributeValues, q.Filter.Values)
		in.FilterExpression = &q.Filter.Text
		in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	}
	return in
}

// isEmpty reports whether the range contains no stored key because q.First is too long. DynamoDB rejects such a query,
// whose start key would be its highest possible key.
func (q *Query) isEmpty() bool {
	return len(q.First) > MaxSort && q.Last != nil && bytes.Compare(q.First[:MaxSort], q.Last[:min(len(q.Last), MaxSort)]) >= 0
}

// Query reads one page of a query. It makes one call, or no call if the result must be empty.
func (t *Table) Query(ctx context.Context, q Query) (a Answer, err error) {
	if q.isEmpty() {
		return a, nil
	}
	in := t.Input(q)
	var out *dynamodb.QueryOutput
	if err := t.read(ctx, func(ctx context.Context) error {
		return t.attempt(ctx, func(ctx context.Context) (err error) {
			out, err = t.Client.Query(ctx, in)
			return err
		})
	}); err != nil {
		return a, err
	}
	a.Items = out.Items
	if b, ok := out.LastEvaluatedKey[Sort].(*types.AttributeValueMemberB); ok {
		a.Next = b.Value
	}
	if q.Filter != nil {
		a.Examined = int(out.ScannedCount)
		a.Scanned = scannedBytes(out, q.Consistency)
	}
	return a, nil
}

// scannedBytes uses the consumed capacity to compute how many bytes a query has read. A unit is 4 KiB of a strongly
// consistent read, or 8 KiB of an eventually consistent read.
func scannedBytes(out *dynamodb.QueryOutput, c table.Consistency) int {
	if out.ConsumedCapacity == nil || out.ConsumedCapacity.CapacityUnits == nil {
		return int(out.ScannedCount) << 10 // Some implementations of DynamoDB do not report the capacity. In this case, each item counts as 1 KiB.
	}
	bytes := *out.ConsumedCapacity.CapacityUnits * (4 << 10)
	if c != table.Strong {
		bytes *= 2
	}
	return int(bytes)
}
