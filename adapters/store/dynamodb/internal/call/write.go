package call

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/core/edm"
)

// errReadOnly means that this process must not write, because another Region writes to the global table.
var errReadOnly = &Error{Refused, errors.New("dynamodb: a secondary must not write")}

const allOld = types.ReturnValuesOnConditionCheckFailureAllOld

// Put returns an action that writes a whole item.
func (t *Table) Put(it Item, e *Expression) Action {
	return Action{Put: &types.Put{
		TableName: t.name, Item: it, ConditionExpression: e.Condition(),
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values, ReturnValuesOnConditionCheckFailure: allOld,
	}}
}

// Update returns an action that changes attributes of an item.
func (t *Table) Update(key Item, e *Expression) Action {
	return Action{Update: &types.Update{
		TableName: t.name, Key: key, UpdateExpression: e.Update(), ConditionExpression: e.Condition(),
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values, ReturnValuesOnConditionCheckFailure: allOld,
	}}
}

// Delete returns an action that removes an item.
func (t *Table) Delete(key Item, e *Expression) Action {
	return Action{Delete: &types.Delete{
		TableName: t.name, Key: key, ConditionExpression: e.Condition(),
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values, ReturnValuesOnConditionCheckFailure: allOld,
	}}
}

// Check returns an action of a transaction that checks a condition and changes nothing.
func (t *Table) Check(key Item, e *Expression) Action {
	return Action{ConditionCheck: &types.ConditionCheck{
		TableName: t.name, Key: key, ConditionExpression: e.Condition(),
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
	}}
}

// Write sends one action outside a transaction, at half the price.
func (t *Table) Write(ctx context.Context, p Policy, a Action) error {
	return t.repeat(ctx, p, func(ctx context.Context) error { return t.single(ctx, &a) })
}

// WriteAtOnce is like Write, but makes a single attempt.
func (t *Table) WriteAtOnce(ctx context.Context, a *Action) error {
	return t.attempt(ctx, func(ctx context.Context) error { return t.single(ctx, a) })
}

func (t *Table) single(ctx context.Context, a *Action) (err error) {
	switch {
	case t.ReadOnly:
		return errReadOnly
	case a.Put != nil:
		_, err = t.Client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: t.name, Item: a.Put.Item, ConditionExpression: a.Put.ConditionExpression,
			ExpressionAttributeNames: a.Put.ExpressionAttributeNames, ExpressionAttributeValues: a.Put.ExpressionAttributeValues,
			ReturnValuesOnConditionCheckFailure: allOld,
		})
	case a.Update != nil:
		_, err = t.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: t.name, Key: a.Update.Key,
			UpdateExpression: a.Update.UpdateExpression, ConditionExpression: a.Update.ConditionExpression,
			ExpressionAttributeNames: a.Update.ExpressionAttributeNames, ExpressionAttributeValues: a.Update.ExpressionAttributeValues,
			ReturnValuesOnConditionCheckFailure: allOld,
		})
	default:
		_, err = t.Client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName: t.name, Key: a.Delete.Key, ConditionExpression: a.Delete.ConditionExpression,
			ExpressionAttributeNames: a.Delete.ExpressionAttributeNames, ExpressionAttributeValues: a.Delete.ExpressionAttributeValues,
			ReturnValuesOnConditionCheckFailure: allOld,
		})
	}
	return err
}

// Transact sends a transaction with a new token. If the outcome is unknown, it retries with the same token. A retry
// that is refused leaves the outcome unknown, because the first request may have caused the refusal.
func (t *Table) Transact(ctx context.Context, actions []Action) error {
	if t.ReadOnly {
		return errReadOnly
	}
	in := &dynamodb.TransactWriteItemsInput{TransactItems: actions, ClientRequestToken: t.token()}
	send := func(ctx context.Context) error {
		_, err := t.Client.TransactWriteItems(ctx, in)
		return err
	}
	err := t.attempt(ctx, send)
	if ClassOf(err) == Ambiguous && t.pause(ctx, 1) && t.repeat(ctx, Idempotent, send) == nil {
		return nil
	}
	return err
}

// token returns a random token for a transaction. DynamoDB executes at most one transaction per token.
func (t *Table) token() *string {
	var v [16]byte
	binary.BigEndian.PutUint64(v[:8], t.Rand())
	binary.BigEndian.PutUint64(v[8:], t.Rand())
	return aws.String(edm.Guid(v).String())
}

var errUnprocessed = &Error{Busy, errors.New("dynamodb: nothing of a batch was processed")}

// BatchWrite puts and deletes items that no other process writes. The result mayApplyLater is true if DynamoDB may
// still apply some of the writes after the call, or may apply them twice.
func (t *Table) BatchWrite(ctx context.Context, requests []types.WriteRequest) (mayApplyLater bool, err error) {
	if t.ReadOnly {
		return false, errReadOnly
	}
	for len(requests) > 0 {
		first := requests[:batchLength(requests)]
		err := t.Retry(ctx, Idempotent, func(ctx context.Context) error {
			var out *dynamodb.BatchWriteItemOutput
			err := t.attempt(ctx, func(ctx context.Context) (err error) {
				out, err = t.Client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
					RequestItems: map[string][]types.WriteRequest{t.Name: first},
				})
				return err
			})
			mayApplyLater = mayApplyLater || ClassOf(err) == Ambiguous
			if err != nil {
				return err
			}
			left := out.UnprocessedItems[t.Name]
			if len(left) == len(first) {
				return errUnprocessed
			}
			requests = append(left, requests[len(first):]...)
			return nil
		})
		if err != nil {
			return mayApplyLater, err
		}
	}
	return mayApplyLater, nil
}

const (
	maxWriteBatch = 25      // maximum number of items in a BatchWriteItem
	maxBatchBytes = 4 << 20 // maximum number of bytes in a BatchWriteItem: a quarter of DynamoDB's limit
)

func batchLength(requests []types.WriteRequest) int {
	n, size := 0, 0
	for n < min(len(requests), maxWriteBatch) {
		if put := requests[n].PutRequest; put != nil {
			for _, v := range put.Item {
				if b, ok := v.(*types.AttributeValueMemberB); ok {
					size += len(b.Value)
				}
			}
			if n > 0 && size > maxBatchBytes {
				break
			}
		}
		n++
	}
	return n
}

// DeleteRequest returns a delete request for BatchWrite.
func DeleteRequest(hash, sort []byte) types.WriteRequest {
	return types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: Key(hash, sort)}}
}

// PutRequest returns a put request for BatchWrite.
func PutRequest(it Item) types.WriteRequest {
	return types.WriteRequest{PutRequest: &types.PutRequest{Item: it}}
}

func (t *Table) repeat(ctx context.Context, p Policy, call func(ctx context.Context) error) error {
	return t.Retry(ctx, p, func(ctx context.Context) error { return t.attempt(ctx, call) })
}
