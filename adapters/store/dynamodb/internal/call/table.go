// Package call makes calls to one DynamoDB table. It classifies failed calls ([Class]), retries calls ([Policy]) and
// writes expressions ([Expression]).
package call

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/adapters/store/dynamodb/internal/attribute"
	"edgetable/core/edm"
)

// Item is an item, or the key of an item, in the form of the SDK.
type Item = map[string]types.AttributeValue

// Action is a write that is sent by itself or as part of a transaction.
type Action = types.TransactWriteItem

// Names of the two key attributes, whose values are binary.
const (
	Hash = ".p"
	Sort = ".s"
)

// MaxSort is the maximum length of a sort key.
const MaxSort = 1024

// Key returns the key of an item. It shares the memory of its arguments.
func Key(hash, sort []byte) Item {
	return Item{Hash: attribute.Binary(hash), Sort: attribute.Binary(sort)}
}

// Options configure a Table. Only Observer is optional.
type Options struct {
	Client   *dynamodb.Client
	Name     string
	Attempt  time.Duration // timeout of one call
	Now      func() edm.Ticks
	Rand     func() uint64
	Sleep    func(context.Context, time.Duration) error
	Observer Observer
}

// Table makes calls to a DynamoDB table.
type Table struct {
	Options
	ReadOnly bool // if set, writes fail and are not sent to DynamoDB; must be set before the first call
	name     *string
}

// New returns a Table with a separate client, which does not use the SDK's retries.
//
// The client also does not correct clock skew. DynamoDB therefore rejects the calls of a process whose clock is wrong
// by more than a few minutes. Otherwise such a process could remove entities that have not expired, or chunks of writes
// in progress.
func New(o Options) *Table {
	o.Client = dynamodb.New(o.Client.Options(), func(d *dynamodb.Options) {
		d.Retryer = aws.NopRetryer{}
		d.DisableClockSkewCorrection = true
		d.HTTPClient = sentMarker{d.HTTPClient}
		if o.Observer.Call != nil {
			observing(o.Observer.Call)(d)
		}
	})
	return &Table{Options: o, name: aws.String(o.Name)}
}
