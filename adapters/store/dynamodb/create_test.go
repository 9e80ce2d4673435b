package dynamodb_test

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/adapters/store/dynamodb"
)

// TestCreate checks that Create accepts an existing table with the right keys, and
// refuses one with other keys.
func TestCreate(t *testing.T) {
	t.Parallel()
	client := newClient(nil)
	name := newTable(t)
	if err := dynamodb.Create(t.Context(), client, name); err != nil {
		t.Errorf("Create again: %v", err)
	}
	other := "edgetable-" + rand.Text()
	_, err := client.CreateTable(t.Context(), &sdk.CreateTableInput{
		TableName:            aws.String(other),
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := dynamodb.Create(t.Context(), client, other); err == nil || !strings.Contains(err.Error(), "both binary") {
		t.Errorf("Create over a table of others: %v", err)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for why, o := range map[string]dynamodb.Options{
		"no client":      {Table: "t"},
		"no table":       {Client: newClient(nil)},
		"a long request": {Client: newClient(nil), Table: "t", Deadline: 3600e9},
	} {
		if _, err := dynamodb.New(o); err == nil {
			t.Errorf("%s: no error", why)
		}
	}
}
