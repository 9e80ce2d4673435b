package main

import (
	"context"
	"math/rand/v2"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"edgetable/adapters/setting"
	"edgetable/adapters/store/dynamodb"
	"edgetable/core/table"
)

func openStore(c *config) (table.Store, *worker, error) {
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
	options := dynamodb.Options{Client: sdk.New(o), Table: c.table, Buckets: c.buckets, Lease: setting.NegativeIfZero(c.lease)}
	if c.role == dynamodb.SecondaryRole {
		s, err := dynamodb.NewSecondary(options, c.region)
		if err != nil {
			return nil, nil, err
		}
		return s, &worker{role: c.role, region: c.region, replica: s}, nil
	}
	s, err := dynamodb.New(options)
	if err != nil {
		return nil, nil, err
	}
	return s, &worker{role: c.role, region: c.region, store: s, service: table.New(s, table.Options{Now: now, Rand: rand.Uint64})}, nil
}
