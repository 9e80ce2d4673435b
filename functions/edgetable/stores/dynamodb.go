package stores

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/logging"
	"github.com/spf13/pflag"

	"edgetable/adapters/setting"
	"edgetable/adapters/store/dynamodb"
	"edgetable/core/table"
	"edgetable/functions/edgetable/cli"
)

type dynamodbFlags struct {
	table, region, endpoint string
	lease                   time.Duration
}

func (o *dynamodbFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.table, "dynamodb-table", "", "`name` of the DynamoDB table")
	f.StringVar(&o.region, "dynamodb-region", "", "AWS `Region` of the DynamoDB table; default the Region of the environment or the profile")
	f.StringVar(&o.endpoint, "dynamodb-endpoint", "", "`URL` of the server, if it is not AWS, such as DynamoDB Local")
}

// registerLease adds --dynamodb-lease, for commands that read or write tables.
func (o *dynamodbFlags) registerLease(f *pflag.FlagSet) {
	cli.DurationFlag(f, &o.lease, "dynamodb-lease", 2*time.Second, 0, dynamodb.MaxLease, "how long a process may cache that a table exists; deleting a table takes at least this time; all processes on the DynamoDB table need the same value; 0 disables the cache")
}

func (o *dynamodbFlags) check() error {
	if o.endpoint != "" {
		if u, err := url.Parse(o.endpoint); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return cli.Misuse("--dynamodb-endpoint must be a URL such as http://127.0.0.1:8000, not %q", o.endpoint)
		} else if u.User != nil { // this is an error, because messages and the log would contain the password
			return cli.Misuse("--dynamodb-endpoint must not contain a user or password: set the credentials as for the AWS CLI")
		}
	}
	if o.table == "" {
		return cli.Misuse("name the DynamoDB table with --dynamodb-table")
	}
	return nil
}

// client returns a client for the Region. It finds credentials in the same places as the AWS CLI.
func (o *dynamodbFlags) client(ctx context.Context, connections int) (*sdk.Client, error) {
	// A query of a whole table reads all its buckets concurrently. Keeping idle connections is cheaper than opening new
	// ones.
	options := []func(*config.LoadOptions) error{config.WithLogger(sdkLog{}), config.WithHTTPClient(awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, connections
	}))}
	if o.region != "" {
		options = append(options, config.WithRegion(o.region))
	}
	c, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, err
	}
	if c.Region == "" {
		return nil, errors.New("no AWS Region is set: set it with --dynamodb-region or $AWS_REGION")
	}
	if _, err := c.Credentials.Retrieve(ctx); ctx.Err() != nil {
		return nil, ctx.Err()
	} else if err != nil {
		return nil, fmt.Errorf("there are no AWS credentials: set $AWS_ACCESS_KEY_ID and $AWS_SECRET_ACCESS_KEY "+
			"(to any values for DynamoDB Local), $AWS_PROFILE, or a role of the machine: %w", err)
	}
	return sdk.NewFromConfig(c, func(d *sdk.Options) {
		if o.endpoint != "" {
			d.BaseEndpoint = aws.String(o.endpoint)
		}
	}), nil
}

// describe describes the DynamoDB table for messages.
func (o *dynamodbFlags) describe(c *sdk.Client) string {
	if o.endpoint != "" {
		return fmt.Sprintf("the DynamoDB table %s at %s", o.table, o.endpoint)
	}
	return fmt.Sprintf("the DynamoDB table %s in %s", o.table, c.Options().Region)
}

// open opens the store and reads from it, so that wrong settings are reported at startup.
func (o *dynamodbFlags) open(ctx context.Context, client *sdk.Client, options dynamodb.Options) (*dynamodb.Store, error) {
	options.Client, options.Table, options.Lease = client, o.table, setting.NegativeIfZero(o.lease)
	store, err := dynamodb.New(options)
	if err != nil {
		return nil, err
	}
	return store, o.reach(ctx, client, store)
}

// openReplica is like open, for a replica of a DynamoDB table to which another Region writes.
func (o *dynamodbFlags) openReplica(ctx context.Context, client *sdk.Client, options dynamodb.Options) (*dynamodb.Secondary, error) {
	options.Client, options.Table, options.Lease = client, o.table, setting.NegativeIfZero(o.lease)
	store, err := dynamodb.NewSecondary(options, client.Options().Region)
	if err != nil {
		return nil, err
	}
	return store, o.reach(ctx, client, store)
}

// reach returns an error if the DynamoDB table cannot be read.
func (o *dynamodbFlags) reach(ctx context.Context, client *sdk.Client, store table.Store) error {
	_, err := store.ListRecords(ctx, "", "", 1, table.Strong)
	if _, missing := errors.AsType[*types.ResourceNotFoundException](err); missing {
		return fmt.Errorf("%s does not exist: create it with 'edgetable dynamodb create', or with infra/aws, which also sets up everything else on AWS", o.describe(client))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", o.describe(client), err)
	}
	return nil
}

func (o *dynamodbFlags) connect(ctx context.Context, connections int) (*dynamodb.Store, *sdk.Client, error) {
	if err := o.check(); err != nil {
		return nil, nil, err
	}
	client, err := o.client(ctx, connections)
	if err != nil {
		return nil, nil, err
	}
	store, err := o.open(ctx, client, dynamodb.Options{})
	return store, client, err
}

// sdkLog sends the log of the AWS SDK to the server's log. By default, the SDK would write this log to standard error.
type sdkLog struct{}

// Logf implements smithy's logging.Logger. The level is debug, because the messages only add details to errors.
func (sdkLog) Logf(_ logging.Classification, format string, args ...any) {
	slog.Debug("AWS's client: " + fmt.Sprintf(format, args...))
}
