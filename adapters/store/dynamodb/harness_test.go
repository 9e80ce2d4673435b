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

// serverURL is where DynamoDB Local is.
var serverURL string

func TestMain(m *testing.M) {
	if !needs.Asked(needs.AWS) {
		flag.Parse()
		examples := "^Example" // cannot skip themselves
		if skip := flag.Lookup("test.skip").Value; skip.String() != "" {
			examples += "|" + skip.String()
		}
		_ = flag.Set("test.skip", examples) // it is a string
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

// connections are shared by all clients of the tests. They are given up before the
// server, which waits for half a minute, does so in the middle of a request.
var connections = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: 10 * time.Second}}

// newClient reaches DynamoDB Local through via; nil is plain HTTP.
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

// newTable makes a DynamoDB table that is deleted with the test.
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

// open leaves a busy machine time, unless a test is of the lack of it.
func open(t testing.TB, o dynamodb.Options) *dynamodb.Store {
	t.Helper()
	if o.Client == nil {
		o.Client = newClient(nil)
	}
	o.Attempt = cmp.Or(o.Attempt, time.Minute)
	o.Deadline = cmp.Or(o.Deadline, 5*time.Minute)
	s, err := dynamodb.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// elapsed is a monotonic clock that stands still until somebody waits for a lease
// to end: what waits for long takes no time. Short waits, between attempts, are
// real, but of a hundredth: the server is near.
type elapsed struct{ time atomic.Int64 }

func (e *elapsed) now() time.Duration { return time.Duration(e.time.Load()) }

func (e *elapsed) sleep(ctx context.Context, d time.Duration) error {
	if d >= time.Second {
		e.time.Add(int64(d))
		return ctx.Err()
	}
	return hundredth(ctx, d)
}

// hundredth waits for a hundredth of a time, since the server is near.
func hundredth(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d / 100):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// harness runs the suite over a DynamoDB table of its own for each test.
func harness(o dynamodb.Options) storetest.Harness {
	return func(t testing.TB, now func() edm.Ticks) storetest.Fixture {
		o, e := o, new(elapsed)
		o.Table, o.Elapsed, o.Sleep = newTable(t), e.now, e.sleep
		share := func(now func() edm.Ticks) table.Store {
			o := o
			o.Now = now
			return open(t, o)
		}
		// A store keeps nothing that a restart could lose.
		return storetest.Fixture{Store: share(now), Strengths: storetest.Home("DynamoDB"), Share: share, Restart: share, Remote: true, Lossy: o.Client != nil}
	}
}

// Three buckets are merged as any number of them are.
func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, harness(dynamodb.Options{Buckets: 3}))
}

// Without leases every operation on entities reads the table's record, and with
// one bucket nothing is merged.
func TestStoreWithoutLeases(t *testing.T) {
	t.Parallel()
	h := harness(dynamodb.Options{Lease: -1, Buckets: 1})
	t.Run("Scans", func(t *testing.T) { storetest.Scans(t, h) })
	t.Run("Order", func(t *testing.T) { storetest.Order(t, h) })
	t.Run("Incarnations", func(t *testing.T) { storetest.Incarnations(t, h) })
	t.Run("Concurrency", func(t *testing.T) { storetest.Concurrency(t, h) })
}

// now is the clock of the machine.
func now() edm.Ticks { return edm.TicksOf(time.Now()) }

func BenchmarkStore(b *testing.B) { storetest.Bench(b, harness(dynamodb.Options{})) }
