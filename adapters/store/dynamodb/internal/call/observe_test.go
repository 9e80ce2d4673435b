package call

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// answers is an HTTP client that answers calls in place of DynamoDB.
type answers struct {
	asked  string // value of ReturnConsumedCapacity in the last request
	status int
	body   string
	err    error
}

func (a *answers) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if a.asked = ""; strings.Contains(string(body), `"ReturnConsumedCapacity":"TOTAL"`) {
		a.asked = "TOTAL"
	}
	if err = cmp.Or(err, a.err); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: a.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(a.body))}, nil
}

// TestObserver checks that the observer gets each call with its action, its result and
// its cost.
func TestObserver(t *testing.T) {
	t.Parallel()
	var a answers
	var seen []Observation
	keys := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret"}, nil
	})
	db := New(Options{
		Client: dynamodb.New(dynamodb.Options{Region: "us-east-1", Credentials: keys, HTTPClient: &a}), Name: "t", Attempt: time.Minute,
		Now: func() edm.Ticks { return 0 }, Rand: func() uint64 { return 0 }, Sleep: func(context.Context, time.Duration) error { return errors.New("no second try") },
		Observer: Observer{Call: func(o Observation) { seen = append(seen, o) }},
	})
	key := Key([]byte("p"), []byte("s"))
	const one, list = `{"ConsumedCapacity":{"CapacityUnits":1.5}}`, `{"ConsumedCapacity":[{"CapacityUnits":1},{"CapacityUnits":2}]}`
	get := func() { _, _ = db.Get(t.Context(), key, table.Strong) }
	write := func(act Action) func() { return func() { _ = db.Write(t.Context(), Once, act) } }
	for _, row := range []struct {
		why    string
		call   func()
		status int
		body   string
		err    error
		want   Observation
	}{
		{"get", get, 200, one, nil, Observation{Action: "GetItem", Result: "success", ReadUnits: 1.5}},
		{"a server that does not tell", get, 200, `{}`, nil, Observation{Action: "GetItem", Result: "success"}},
		{"query", func() { _, _ = db.Query(t.Context(), Query{}) }, 200, one, nil, Observation{Action: "Query", Result: "success", ReadUnits: 1.5}},
		{"batch get", func() { _ = db.BatchGet(t.Context(), []Item{key}, table.Strong, func(Item) {}) }, 200, list, nil, Observation{Action: "BatchGetItem", Result: "success", ReadUnits: 3}},
		{"put", write(db.Put(key, &Expression{})), 200, one, nil, Observation{Action: "PutItem", Result: "success", WriteUnits: 1.5}},
		{"update", write(db.Update(key, &Expression{})), 200, one, nil, Observation{Action: "UpdateItem", Result: "success", WriteUnits: 1.5}},
		{"delete", write(db.Delete(key, &Expression{})), 200, one, nil, Observation{Action: "DeleteItem", Result: "success", WriteUnits: 1.5}},
		{"batch write", func() { _, _ = db.BatchWrite(t.Context(), []types.WriteRequest{PutRequest(key)}) }, 200, list, nil, Observation{Action: "BatchWriteItem", Result: "success", WriteUnits: 3}},
		{"transaction", func() { _ = db.Transact(t.Context(), []Action{db.Put(key, &Expression{})}) }, 200, list, nil, Observation{Action: "TransactWriteItems", Result: "success", WriteUnits: 3}},
		{"a condition failed", write(db.Put(key, &Expression{})), 400, `{"__type":"ConditionalCheckFailedException"}`, nil, Observation{Action: "PutItem", Result: "condition"}},
		{"throttled", get, 400, `{"__type":"ThrottlingException"}`, nil, Observation{Action: "GetItem", Result: "busy"}},
		{"a lost reply", write(db.Put(key, &Expression{})), 0, "", errors.New("reset"), Observation{Action: "PutItem", Result: "unknown"}},
		{"no such table", get, 400, `{"__type":"ResourceNotFoundException"}`, nil, Observation{Action: "GetItem", Result: "failure"}},
	} {
		a, seen = answers{status: row.status, body: row.body, err: row.err}, nil
		row.call()
		if len(seen) != 1 || seen[0].Took <= 0 {
			t.Fatalf("%s: observed %+v", row.why, seen)
		}
		seen[0].Took = 0
		if seen[0] != row.want || a.asked != "TOTAL" {
			t.Errorf("%s: observed %+v, want %+v; asked for units: %q", row.why, seen[0], row.want, a.asked)
		}
	}
}
