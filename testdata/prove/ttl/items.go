package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// items is a DynamoDB table whose TTL attribute has the name ".ttl", as in the template of infra/aws.
type items struct {
	client *sdk.Client
	name   string
}

func key(id int) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{".p": &types.AttributeValueMemberB{Value: []byte(strconv.Itoa(id))}}
}

// create creates the table if it does not exist, and waits until TTL is active. According to AWS this takes an hour
// at most.
func (t *items) create(ctx context.Context) error {
	_, err := t.client.CreateTable(ctx, &sdk.CreateTableInput{
		TableName: &t.name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String(".p"), AttributeType: types.ScalarAttributeTypeB}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String(".p"), KeyType: types.KeyTypeHash}},
	})
	if exists := (*types.ResourceInUseException)(nil); err != nil && !errors.As(err, &exists) {
		return err
	}
	if err := sdk.NewTableExistsWaiter(t.client).Wait(ctx, &sdk.DescribeTableInput{TableName: &t.name}, 5*time.Minute); err != nil {
		return err
	}
	for asked := false; ; asked = true {
		out, err := t.client.DescribeTimeToLive(ctx, &sdk.DescribeTimeToLiveInput{TableName: &t.name})
		if err != nil {
			return err
		}
		switch out.TimeToLiveDescription.TimeToLiveStatus {
		case types.TimeToLiveStatusEnabled:
			return nil
		case types.TimeToLiveStatusDisabled:
			if asked {
				return fmt.Errorf("TTL of %s cannot be turned on", t.name)
			}
			if _, err := t.client.UpdateTimeToLive(ctx, &sdk.UpdateTimeToLiveInput{
				TableName: &t.name, TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String(".ttl"), Enabled: aws.Bool(true)},
			}); err != nil {
				return err
			}
		}
		if err := until(ctx, time.Now().Add(time.Second)); err != nil {
			return err
		}
	}
}

func (t *items) remove(ctx context.Context) error {
	_, err := t.client.DeleteTable(ctx, &sdk.DeleteTableInput{TableName: &t.name})
	return err
}

// Put implements the interface table: it writes an item that expired a minute ago.
func (t *items) Put(ctx context.Context, id int) error {
	it := key(id)
	it[".ttl"] = &types.AttributeValueMemberN{Value: strconv.FormatInt(time.Now().Unix()-60, 10)}
	_, err := t.client.PutItem(ctx, &sdk.PutItemInput{TableName: &t.name, Item: it})
	return err
}

// Again is a method of the interface table. It writes the item only if the item still exists.
func (t *items) Again(ctx context.Context, id int) (there bool, err error) {
	_, err = t.client.PutItem(ctx, &sdk.PutItemInput{
		TableName: &t.name, Item: key(id),
		ConditionExpression: aws.String("attribute_exists(#p)"), ExpressionAttributeNames: map[string]string{"#p": ".p"},
	})
	if gone := (*types.ConditionalCheckFailedException)(nil); errors.As(err, &gone) {
		return false, nil
	}
	return err == nil, err
}

// Missing implements the interface table: it reads each item with strong consistency.
func (t *items) Missing(ctx context.Context, ids []int) (missing []int, err error) {
	for _, id := range ids {
		out, err := t.client.GetItem(ctx, &sdk.GetItemInput{TableName: &t.name, Key: key(id), ConsistentRead: aws.Bool(true)})
		if err != nil {
			return missing, err
		}
		if len(out.Item) == 0 {
			missing = append(missing, id)
		}
	}
	return missing, nil
}
