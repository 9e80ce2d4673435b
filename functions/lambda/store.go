package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"edgetable/adapters/store/dynamodb"
)

// openStore makes the one SDK client there is.
func openStore(c *config) (*dynamodb.Store, error) {
	o := sdk.Options{
		Region:     c.region,
		HTTPClient: c.http,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return c.credentials(), nil
		}),
	}
	if endpoint := c.endpoint("dynamodb"); endpoint != "" {
		o.BaseEndpoint = aws.String(endpoint)
	}
	return dynamodb.New(dynamodb.Options{Client: sdk.New(o), Table: c.table, Buckets: c.buckets, Lease: never(c.lease)})
}

// never makes 0, by which options mean the usual time, one that has always passed.
func never(d time.Duration) time.Duration {
	if d == 0 {
		return -1
	}
	return d
}
