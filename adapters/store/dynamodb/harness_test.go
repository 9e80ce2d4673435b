package dynamodb_test

import (
	"cmp"
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"edgetable/adapters/store/dynamodb"
	"edgetable/core/edm"
	"edgetable/core/storetest"
	"edgetable/core/table"
	"edgetable/testdata/dynamodb/local"
	"edgetable/testdata/needs"
)

// serverURL is the URL of DynamoDB Local.
var serverURL string

func TestMain(m *testing.M) {
	if !needs.Asked(needs.AWS) {
		flag.Parse()
		examples := "^Example" // an example cannot call t.Skip, so the flag test.skip excludes all names that begin with Example
		if skip := flag.Lookup("test.skip").Value; skip.String() != "" {
			examples += "|" + skip.String()
		}
		_ = flag.Set("test.skip", examples) // Set cannot fail, since the flag is a string.
		os.Exit(m.Run())
	}
	url, stop, err := local.Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	serverURL = url
	code := m.Run()
	stop()
	os.Exit(code)
}

// connections is the HTTP client of all tests. It closes idle connections after 10
// seconds. The server closes idle connections after half a minute, and could otherwise
// close a connection while a request is being sent.
var connections = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: 10 * time.Second}}

// newClient returns a client that sends its requests to DynamoDB Local through via. If
// via is nil, the client sends them directly.
func newClient(via sdk.HTTPClient) *sdk.Client {
	if via == nil {
		via = connections
	}
	return sdk.New(sdk.Options{
		Region:       "us-east-1",
		BaseEndpoint: aws.String(serverURL),
		HTTPClient:   via,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
		}),
	})
}

// newTable makes a DynamoDB table that is deleted at the end of the test.
func newTable(t testing.TB) string {
	t.Helper()
	needs.These(t, needs.AWS)
	name := "edgetable-" + rand.Text()
	client := newClient(nil)
	if err := dynamodb.Create(t.Context(), client, name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := client.DeleteTable(context.Background(), &sdk.DeleteTableInput{TableName: &name}); err != nil {
			t.Errorf("DeleteTable: %v", err)
		}
	})
	return name
}

// open opens a store. Its timeouts are long enough for a busy machine, unless o sets
// them.
func open(t testing.TB, o dynamodb.Options) *dynamodb.Store {
	t.Helper()
	if o.Client == nil {
		o.Client = newClient(nil)
	}
	o.Attempt = cmp.Or(o.Attempt, 5*time.Minute)
	o.Deadline = cmp.Or(o.Deadline, 10*time.Minute)
	s, err := dynamodb.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// elapsed is a monotonic clock. It advances only when a store waits for at least a
// second, for example for leases; such a wait then takes no real time. Shorter waits,
// between attempts, take a hundredth of their time, because the server is near.
type elapsed struct{ time atomic.Int64 }

func (e *elapsed) now() time.Duration { return time.Duration(e.time.Load()) }

func (e *elapsed) sleep(ctx context.Context, d time.Duration) error {
	if d >= time.Second {
		e.time.Add(int64(d))
		return ctx.Err()
	}
	return hundredth(ctx, d)
}

func hundredth(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d / 100):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// harness runs the storetest suite, with a new DynamoDB table for each test.
func harness(o dynamodb.Options) storetest.Harness {
	return func(t testing.TB, now func() edm.Ticks) storetest.Fixture {
		o, e := o, new(elapsed)
		o.Table, o.Elapsed, o.Sleep = newTable(t), e.now, e.sleep
		share := func(now func() edm.Ticks) table.Store {
			o := o
			o.Now = now
			return open(t, o)
		}
		// A store keeps no state in memory that a restart could lose, so Restart opens another
		// store.
		return storetest.Fixture{Store: share(now), Strengths: storetest.Home("DynamoDB"), Share: share, Restart: share, Remote: true, Lossy: o.Client != nil}
	}
}

// TestStore runs the storetest suite with three buckets per table, so that scans merge
// buckets.
func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, harness(dynamodb.Options{Buckets: 3}))
}

// TestStoreWithoutLeases runs a part of the suite without leases and with one bucket.
// Without leases, every operation reads the table's record. With one bucket, scans merge
// nothing.
func TestStoreWithoutLeases(t *testing.T) {
	t.Parallel()
	h := harness(dynamodb.Options{Lease: -1, Buckets: 1})
	t.Run("Scans", func(t *testing.T) { storetest.Scans(t, h) })
	t.Run("Order", func(t *testing.T) { storetest.Order(t, h) })
	t.Run("Incarnations", func(t *testing.T) { storetest.Incarnations(t, h) })
	t.Run("Concurrency", func(t *testing.T) { storetest.Concurrency(t, h) })
}

// now returns the time of the machine's clock.
func now() edm.Ticks { return edm.TicksOf(time.Now()) }

func BenchmarkStore(b *testing.B) { storetest.Bench(b, harness(dynamodb.Options{})) }
