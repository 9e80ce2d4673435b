package stores

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/spf13/cobra"

	"edgetable/adapters/store/dynamodb"
	"edgetable/functions/edgetable/cli"
)

func (p *program) dynamodbCommand() *cobra.Command {
	return cli.Group("dynamodb", "Make a DynamoDB table, or change the number of buckets of a table", "", p.createCommand(), p.heartbeatCommand(), p.rebucketCommand())
}

func (p *program) createCommand() *cobra.Command {
	var o dynamodbFlags
	c := &cobra.Command{
		Use: "create", Short: "Create the DynamoDB table, if you do not use infra/aws",
		Long: "The table is billed on demand. An existing table is not changed. On AWS, prefer infra/aws, which\n" +
			"also sets up backups, alarms and deletion protection.",
		Example: "  edgetable dynamodb create --dynamodb-table edgetable --dynamodb-region eu-central-1",
		RunE:    func(c *cobra.Command, _ []string) error { return p.createDynamoDB(c.Context(), &o) },
	}
	cli.Section(c, "Flags", o.register)
	return c
}

func (p *program) createDynamoDB(ctx context.Context, o *dynamodbFlags) error {
	if err := o.check(); err != nil {
		return err
	}
	client, err := o.client(ctx, 1)
	if err != nil {
		return err
	}
	defer p.NoteSlow(o.describe(client))()
	_, err = client.DescribeTable(ctx, &sdk.DescribeTableInput{TableName: aws.String(o.table)})
	exists := err == nil
	if err := dynamodb.Create(ctx, client, o.table); err != nil {
		return fmt.Errorf("%s: %w", o.describe(client), err)
	}
	if exists {
		fmt.Fprintln(p.Out, o.describe(client), "already exists, with the right keys")
	} else {
		fmt.Fprintln(p.Out, o.describe(client), "was created")
	}
	return nil
}
