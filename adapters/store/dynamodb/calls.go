package dynamodb

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// getItem reads one item; nil is none.
func (s *Store) getItem(ctx context.Context, key item, c table.Consistency) (item, error) {
	var it item
	err := s.repeat(ctx, func(ctx context.Context) error {
		out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
			TableName:      s.table,
			Key:            key,
			ConsistentRead: aws.Bool(c == table.Strong),
		})
		if err == nil {
			it = out.Item
		}
		return err
	})
	return it, err
}

// batchGet reads items, whatever their number is up to maxReadBatch.
func (s *Store) batchGet(ctx context.Context, keys []item, c table.Consistency, each func(item)) error {
	for n := 0; len(keys) > 0; n++ {
		var out *dynamodb.BatchGetItemOutput
		err := s.repeat(ctx, func(ctx context.Context) (err error) {
			out, err = s.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
				RequestItems: map[string]types.KeysAndAttributes{
					*s.table: {Keys: keys, ConsistentRead: aws.Bool(c == table.Strong)},
				},
			})
			return err
		})
		if err != nil {
			return err
		}
		for _, it := range out.Responses[*s.table] {
			each(it)
		}
		left := out.UnprocessedKeys[*s.table].Keys
		if len(left) == len(keys) && !s.pause(ctx, n) {
			return table.ErrBusy
		}
		keys = left
	}
	return nil
}

// batchWrite puts and deletes items that nobody else writes.
func (s *Store) batchWrite(ctx context.Context, requests []types.WriteRequest) error {
	_, err := s.batchWritten(ctx, requests)
	return err
}

// batchWritten is batchWrite, and tells whether some of it may be done later still.
func (s *Store) batchWritten(ctx context.Context, requests []types.WriteRequest) (late bool, err error) {
	for n := 0; len(requests) > 0; n++ {
		var out *dynamodb.BatchWriteItemOutput
		now := requests[:batchLength(requests)]
		lost, err := s.repeated(ctx, func(ctx context.Context) (err error) {
			out, err = s.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
				RequestItems: map[string][]types.WriteRequest{*s.table: now},
			})
			return err
		})
		late = late || lost
		if err != nil {
			return late, err
		}
		left := out.UnprocessedItems[*s.table]
		if len(left) == len(now) && !s.pause(ctx, n) {
			return late, table.ErrBusy
		}
		requests = append(left, requests[len(now):]...)
	}
	return late, nil
}

// batchLength is how many of the requests go into one call.
func batchLength(requests []types.WriteRequest) int {
	n, size := 0, 0
	for n < min(len(requests), maxWriteBatch) {
		if put := requests[n].PutRequest; put != nil {
			size += ownSize + len(binaryOf(put.Item[attrData]))
			if n > 0 && size > maxBatchBytes {
				break
			}
		}
		n++
	}
	return n
}

func deleteRequest(hash, sort []byte) types.WriteRequest {
	return types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: keyOf(hash, sort)}}
}

// transact sends a transaction under a new token, and under that again and again
// while nobody knows what became of it. Once that is so, only success is believed:
// a refusal may be that of a copy which found what another copy had done. Its
// error is a *failure.
func (s *Store) transact(ctx context.Context, actions []types.TransactWriteItem) error {
	in := &dynamodb.TransactWriteItemsInput{TransactItems: actions, ClientRequestToken: s.token()}
	call := func(ctx context.Context) error {
		_, err := s.client.TransactWriteItems(ctx, in)
		return err
	}
	err := s.attempt(ctx, call)
	if classOf(err) != ambiguous {
		return err
	}
	for n := 0; n < maxRepeats && s.pause(ctx, n); n++ {
		switch e := s.attempt(ctx, call); {
		case e == nil:
			return nil
		case classOf(e) != ambiguous && classOf(e) != busy:
			return err
		}
	}
	return err
}

// token names a transaction: under the same one it is carried out once at most.
func (s *Store) token() *string { return aws.String(edm.Guid(s.newVersion()).String()) }
