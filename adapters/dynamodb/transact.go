package dynamodb

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/core/edm"
)

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
