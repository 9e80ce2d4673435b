package call

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// signed is an HTTP client that answers calls in place of a DynamoDB whose clock is a day ahead.
type signed struct{ dates []string }

func (s *signed) Do(r *http.Request) (*http.Response, error) {
	s.dates = append(s.dates, r.Header.Get("X-Amz-Date"))
	ahead := time.Now().Add(24 * time.Hour).UTC().Format(http.TimeFormat)
	return &http.Response{StatusCode: 200, Header: http.Header{"Date": {ahead}}, Body: io.NopCloser(strings.NewReader("{}"))}, nil
}

// TestSignedByOwnClock checks that signatures follow the clock of the process, so that AWS refuses the calls of a
// process with a wrong clock. The SDK could correct the times of signatures with the clock of DynamoDB.
func TestSignedByOwnClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s signed
		keys := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret"}, nil
		})
		db := New(Options{
			Client: dynamodb.New(dynamodb.Options{Region: "us-east-1", Credentials: keys, HTTPClient: &s}), Name: "t", Attempt: time.Minute,
			Now: func() edm.Ticks { return 0 },
		})
		for range 2 {
			if _, err := db.Get(t.Context(), Key([]byte("p"), []byte("s")), table.Strong); err != nil {
				t.Fatal(err)
			}
		}
		if s.dates[0] != s.dates[1] {
			t.Errorf("two calls at the same time were signed at %v", s.dates)
		}
	})
}
