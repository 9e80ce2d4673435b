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

// Class is what a failed call says about its effect.
type Class uint8

const (
	// Refused means no effect, now or later. The same call would fail again.
	Refused Class = iota
	// Conditional means no effect, because the condition of a single write failed.
	Conditional
	// Cancelled means no effect, because actions of a transaction failed.
	Cancelled
	// Unreadable means that a transaction had no effect, and that its reasons are too large for a reply.
	Unreadable
	// Stale means no effect, because the state is not the one that was read before. The next attempt reads it again,
	// unless the failure has returned it.
	Stale
	// Busy means no effect. The same call may succeed later.
	Busy
	// Ambiguous means that the call may have had its effect, or may have it later.
	Ambiguous
)

// Error is a failed call with its class. It matches [table.ErrBusy] or [table.ErrUnknown] if the class implies that.
type Error struct {
	Class Class
	Err   error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Is implements the interface of [errors.Is].
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

// classify returns the class of an error from a call that was sent.
func classify(err error) Class {
	var answer *smithyhttp.ResponseError
	if errors.As(err, &answer) && answer.HTTPStatusCode() >= http.StatusInternalServerError {
		return Ambiguous
	}
	var api smithy.APIError
	if !errors.As(err, &api) {
		if answer != nil && answer.HTTPStatusCode() >= http.StatusBadRequest {
			return Busy // refused, but the reason did not arrive
		}
		if dial := (*net.OpError)(nil); errors.As(err, &dial) && dial.Op == "dial" {
			return Busy // there was no connection to send it on
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
		// The total size of the items that failed conditions return is limited, and this limit has no error code of
		// its own. If the error had another cause, reading the items finds nothing new.
		if strings.Contains(err.Error(), "TransactWriteItems") {
			return Unreadable
		}
	}
	return Refused
}

// cancellation distinguishes a transaction that conflicted with others, and may be sent again, from one that cannot
// be carried out.
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

// Reasons returns the reasons of a cancelled transaction, one for each action, or nil if err is something else.
func Reasons(err error) []types.CancellationReason {
	if c := (*types.TransactionCanceledException)(nil); errors.As(err, &c) {
		return c.CancellationReasons
	}
	return nil
}

// Failed reports whether the condition of an action failed.
func Failed(r *types.CancellationReason) bool { return aws.ToString(r.Code) == reasonCondition }

// Held reports whether the condition of an action held. If it neither held nor failed, the action conflicted with
// another transaction.
func Held(r *types.CancellationReason) bool { return aws.ToString(r.Code) == reasonNone }

// OldItem returns the item for which the condition of a single write failed, or nil if there was none.
func OldItem(err error) Item {
	if c := (*types.ConditionalCheckFailedException)(nil); errors.As(err, &c) {
		return c.Item
	}
	return nil
}
