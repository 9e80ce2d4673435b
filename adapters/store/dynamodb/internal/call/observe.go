package call

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
)

// Observer receives the calls of a Table. Its functions must not block. Each function may be nil.
type Observer struct {
	Call  func(Observation)
	Retry func() // Retry is called before a failed attempt is repeated
}

// Observation describes one call.
type Observation struct {
	Action string // name of the API call, for example "PutItem"
	Took   time.Duration
	// Result is the outcome of the call:
	// - "success"
	// - "condition": a condition failed
	// - "busy": the call was throttled or in conflict
	// - "unknown": the call may have taken effect
	// - "failure"
	Result string
	// ReadUnits and WriteUnits are the consumed capacity that DynamoDB reported. DynamoDB reports none for failed
	// calls.
	ReadUnits, WriteUnits float64
}

func resultOf(c Class) string {
	switch c {
	case Conditional, Cancelled, Unreadable, Stale:
		return "condition"
	case Busy:
		return "busy"
	case Ambiguous:
		return "unknown"
	}
	return "failure"
}

// observing makes a client report its calls, and request the consumed capacity from DynamoDB.
func observing(report func(Observation)) func(*dynamodb.Options) {
	step := middleware.InitializeMiddlewareFunc("edgetable.observe", func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (out middleware.InitializeOutput, m middleware.Metadata, err error) {
		askUnits(in.Parameters)
		begin := time.Now()
		out, m, err = next.HandleInitialize(ctx, in)
		o := Observation{Action: middleware.GetOperationName(ctx), Took: time.Since(begin)}
		if err != nil {
			sent, _ := ctx.Value(sentKey{}).(*atomic.Bool)
			o.Result = resultOf(classifyCall(ctx, err, sent == nil || sent.Load()).Class)
		} else {
			o.Result = "success"
			o.ReadUnits, o.WriteUnits = units(out.Result)
		}
		report(o)
		return out, m, err
	})
	return dynamodb.WithAPIOptions(func(s *middleware.Stack) error { return s.Initialize.Add(step, middleware.Before) })
}

func askUnits(parameters any) {
	const total = types.ReturnConsumedCapacityTotal
	switch in := parameters.(type) {
	case *dynamodb.GetItemInput:
		in.ReturnConsumedCapacity = total
	case *dynamodb.BatchGetItemInput:
		in.ReturnConsumedCapacity = total
	case *dynamodb.QueryInput:
		in.ReturnConsumedCapacity = total
	case *dynamodb.PutItemInput:
		in.ReturnConsumedCapacity = total
	case *dynamodb.UpdateItemInput:
		in.ReturnConsumedCapacity = total
	case *dynamodb.DeleteItemInput:
		in.ReturnConsumedCapacity = total
	case *dynamodb.BatchWriteItemInput:
		in.ReturnConsumedCapacity = total
	case *dynamodb.TransactWriteItemsInput:
		in.ReturnConsumedCapacity = total
	}
}

func units(result any) (reads, writes float64) {
	switch out := result.(type) {
	case *dynamodb.GetItemOutput:
		reads = sum(out.ConsumedCapacity)
	case *dynamodb.BatchGetItemOutput:
		reads = sum(pointers(out.ConsumedCapacity)...)
	case *dynamodb.QueryOutput:
		reads = sum(out.ConsumedCapacity)
	case *dynamodb.PutItemOutput:
		writes = sum(out.ConsumedCapacity)
	case *dynamodb.UpdateItemOutput:
		writes = sum(out.ConsumedCapacity)
	case *dynamodb.DeleteItemOutput:
		writes = sum(out.ConsumedCapacity)
	case *dynamodb.BatchWriteItemOutput:
		writes = sum(pointers(out.ConsumedCapacity)...)
	case *dynamodb.TransactWriteItemsOutput:
		writes = sum(pointers(out.ConsumedCapacity)...)
	}
	return reads, writes
}

func sum(list ...*types.ConsumedCapacity) (n float64) {
	for _, c := range list {
		if c != nil && c.CapacityUnits != nil {
			n += *c.CapacityUnits
		}
	}
	return n
}

func pointers(list []types.ConsumedCapacity) (p []*types.ConsumedCapacity) {
	for i := range list {
		p = append(p, &list[i])
	}
	return p
}
