package call

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// TestClassify checks the class of each error that can occur after a call was sent.
func TestClassify(t *testing.T) {
	t.Parallel()
	answer := func(status int, err error) error {
		return &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}}, Err: err}
	}
	api := func(code string) error { return answer(400, &smithy.GenericAPIError{Code: code}) }
	cancelled := func(codes ...string) error {
		e := new(types.TransactionCanceledException)
		for _, code := range codes {
			e.CancellationReasons = append(e.CancellationReasons, types.CancellationReason{Code: aws.String(code)})
		}
		return answer(400, e)
	}
	for _, row := range []struct {
		err  error
		want Class
	}{
		{errors.New("connection reset"), Ambiguous},
		{&net.OpError{Op: "read", Err: errors.New("reset")}, Ambiguous},
		{&net.OpError{Op: "dial", Err: errors.New("refused")}, Busy},
		{answer(500, errors.New("cut")), Ambiguous},
		{answer(503, &smithy.GenericAPIError{Code: "ServiceUnavailable"}), Ambiguous},
		{answer(400, errors.New("cut")), Busy},
		{answer(200, errors.New("cut")), Ambiguous},
		{answer(400, &types.ConditionalCheckFailedException{}), Conditional},
		{api("ThrottlingException"), Busy},
		{api("ProvisionedThroughputExceededException"), Busy},
		{api("RequestLimitExceeded"), Busy},
		{api("TransactionConflictException"), Busy},
		{api("TransactionInProgressException"), Ambiguous},
		{api("ResourceNotFoundException"), Refused},
		{api("ValidationException"), Refused},
		{fmt.Errorf("operation error DynamoDB: TransactWriteItems: %w", api("ValidationException")), Unreadable},
		{cancelled(), Refused},
		{cancelled("None", "TransactionConflict"), Busy},
		{cancelled("ThrottlingError", "ProvisionedThroughputExceeded"), Busy},
		{cancelled("None", "ConditionalCheckFailed"), Cancelled},
		{cancelled("TransactionConflict", "ConditionalCheckFailed"), Cancelled},
		{cancelled("ItemCollectionSizeLimitExceeded"), Cancelled},
	} {
		if got := classify(row.err); got != row.want {
			t.Errorf("%v: class %d, want %d", row.err, got, row.want)
		}
	}
}
