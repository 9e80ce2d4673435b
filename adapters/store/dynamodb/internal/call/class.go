package call

import (
	"errors"
	"net"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"edgetable/core/table"
)

// Class is the effect of a failed call on the DynamoDB table.
type Class uint8

const (
	// Refused means that the call had no effect. The same call would fail again.
	Refused Class = iota
	// Conditional means that a single write had no effect, because its condition failed.
	Conditional
	// Cancelled means that a transaction had no effect, because one of its actions failed.
	Cancelled
	// Unreadable means that a transaction had no effect. The reply does not say which actions failed, because their
	// items were too large for the reply.
	Unreadable
	// Stale means that the call had no effect, because the state has changed since it was read. The caller reads the
	// state again and retries.
	Stale
	// Busy means that the call had no effect. The same call may succeed later.
	Busy
	// Ambiguous means that the outcome is unknown: the call may have taken effect, or may still do so.
	Ambiguous
)

// Error is a failed call with its class. [errors.Is] reports that it is [table.ErrBusy] or [table.ErrUnknown] if the
// class implies that.
type Error struct {
	Class Class
	Err   error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Is, which [errors.Is] calls, compares the class of e with [table.ErrBusy] and [table.ErrUnknown].
func (e *Error) Is(target error) bool {
	switch target {
	case table.ErrBusy:
		return e.Class == Busy || e.Class == Stale
	case table.ErrUnknown:
		return e.Class == Ambiguous
	}
	return false
}

// ClassOf returns the class of an error. An error that is not an *[Error] is Refused.
func ClassOf(err error) Class {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.Class
	}
	return Refused
}

func classify(err error) Class {
	var answer *smithyhttp.ResponseError
	if errors.As(err, &answer) && answer.HTTPStatusCode() >= http.StatusInternalServerError {
		return Ambiguous
	}
	var api smithy.APIError
	if !errors.As(err, &api) {
		if answer != nil && answer.HTTPStatusCode() >= http.StatusBadRequest {
			return Busy // the service refused the call, but the error code was lost
		}
		if dial := (*net.OpError)(nil); errors.As(err, &dial) && dial.Op == "dial" {
			return Busy // no connection could be made, so the request was not sent
		}
		return Ambiguous
	}
	switch api.ErrorCode() {
	case "ConditionalCheckFailedException":
		return Conditional
	case "TransactionCanceledException":
		return cancellation(err)
	case "TransactionConflictException", "ReplicatedWriteConflictException",
		"ProvisionedThroughputExceededException", "ThrottlingException", "Throttling", "RequestLimitExceeded":
		return Busy
	case "TransactionInProgressException":
		return Ambiguous
	case "ValidationException":
		// This code can also mean that the transaction is valid, but that its failed conditions return too many bytes.
		// The caller reads the items to find out the reason.
		if strings.Contains(err.Error(), "TransactWriteItems") {
			return Unreadable
		}
	}
	return Refused
}

// cancellation returns Busy for a transaction that failed only because of conflicts or throttling, and Cancelled or
// Refused otherwise.
func cancellation(err error) Class {
	reasons := Reasons(err)
	if len(reasons) == 0 {
		return Refused
	}
	for i := range reasons {
		switch aws.ToString(reasons[i].Code) {
		case reasonNone, "TransactionConflict", "ProvisionedThroughputExceeded", "ThrottlingError":
		default:
			return Cancelled
		}
	}
	return Busy
}

const (
	reasonNone      = "None"
	reasonCondition = "ConditionalCheckFailed"
)

// Reasons returns the reasons of a cancelled transaction, one for each action. It returns nil for any other error.
func Reasons(err error) []types.CancellationReason {
	if c := (*types.TransactionCanceledException)(nil); errors.As(err, &c) {
		return c.CancellationReasons
	}
	return nil
}

// ConditionFailed returns true if the condition of an action was false.
func ConditionFailed(r *types.CancellationReason) bool {
	return aws.ToString(r.Code) == reasonCondition
}

// ConditionHeld returns true if the condition of an action was true. If both ConditionHeld and ConditionFailed return
// false, the action conflicted with another transaction.
func ConditionHeld(r *types.CancellationReason) bool { return aws.ToString(r.Code) == reasonNone }

// OldItem returns the stored item that made the condition of a single write false, or nil if there was no item.
func OldItem(err error) Item {
	if c := (*types.ConditionalCheckFailedException)(nil); errors.As(err, &c) {
		return c.Item
	}
	return nil
}
