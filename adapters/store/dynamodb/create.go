package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Create creates a DynamoDB table for a [Store], billed on demand, and waits until it is ready. An existing table with
// the right keys is not an error.
func Create(ctx context.Context, client *dynamodb.Client, name string) error {
	attribute := func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeB}
	}
	keys := []types.KeySchemaElement{
		{AttributeName: aws.String(attrHash), KeyType: types.KeyTypeHash},
		{AttributeName: aws.String(attrSort), KeyType: types.KeyTypeRange},
	}
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:            aws.String(name),
		AttributeDefinitions: []types.AttributeDefinition{attribute(attrHash), attribute(attrSort)},
		KeySchema:            keys,
		BillingMode:          types.BillingModePayPerRequest,
	})
	if exists := (*types.ResourceInUseException)(nil); err != nil && !errors.As(err, &exists) {
		return err
	}
	for {
		out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(name)})
		// Some servers of DynamoDB might not know a new table yet.
		if missing := (*types.ResourceNotFoundException)(nil); err != nil && !errors.As(err, &missing) {
			return err
		}
		if err == nil {
			if err := checkKeys(out.Table, keys); err != nil {
				return err
			}
			if out.Table.TableStatus == types.TableStatusActive {
				return nil
			}
		}
		if err := sleep(ctx, 500*time.Millisecond); err != nil {
			return err
		}
	}
}

func checkKeys(t *types.TableDescription, keys []types.KeySchemaElement) error {
	right := len(t.KeySchema) == len(keys)
	for i := 0; right && i < len(keys); i++ {
		right = aws.ToString(t.KeySchema[i].AttributeName) == aws.ToString(keys[i].AttributeName) &&
			t.KeySchema[i].KeyType == keys[i].KeyType
	}
	for _, a := range t.AttributeDefinitions {
		right = right && a.AttributeType == types.ScalarAttributeTypeB
	}
	if !right {
		return fmt.Errorf("dynamodb: the keys of table %s must be %s and %s, both binary", aws.ToString(t.TableName), attrHash, attrSort)
	}
	return nil
}
