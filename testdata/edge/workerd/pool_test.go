package workerd_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"edgetable/testdata/edge/workerd"
)

// list requests the tables of the account from the Worker.
func list(ctx context.Context, s *workerd.Server, c *http.Client) (status int, err error) {
	resp, _, err := request{method: http.MethodGet, target: "/Tables"}.send(ctx, s, c)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, nil
}

// TestManyRequests sends more requests than there are wasm instances, and some clients disconnect. All other
// requests must be answered.
func TestManyRequests(t *testing.T) {
	c := workerd.NewClient(100)
	for range 2 {
		var group sync.WaitGroup
		for n := range 300 {
			group.Go(func() {
				if n%3 == 0 { // this client disconnects at once
					ctx, cancel := context.WithCancel(t.Context())
					go cancel()
					_, _ = list(ctx, server, c)
					return
				}
				if status, err := list(t.Context(), server, c); err != nil || status != http.StatusOK {
					t.Errorf("%d, %v", status, err)
				}
			})
		}
		group.Wait()
	}
}

// TestTrappedRequest checks that a request during which the wasm module traps gets an error of the protocol.
// The trapped instance must serve no further request.
func TestTrappedRequest(t *testing.T) {
	for range 3 {
		r := request{method: http.MethodGet, target: "/Tables", header: []string{"x-fault: trap"}} // makes the module trap; see faults.mjs
		resp, body, err := r.send(t.Context(), server, workerd.Client)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != http.StatusInternalServerError || !strings.Contains(body, "InternalError") || resp.Header.Get("x-ms-request-id") == "" {
			t.Errorf("%s: %s", resp.Status, body)
		}
		if status, err := list(t.Context(), server, workerd.Client); err != nil || status != http.StatusOK {
			t.Errorf("the next request: %d, %v", status, err)
		}
	}
}

// TestFullBehindWrite checks a write after which the memory of its wasm instance is full. The next instance
// must answer the request without repeating the write.
func TestFullBehindWrite(t *testing.T) {
	s := start(t)
	const object = "application/json"
	if status, body := sent(t, s, workerd.Client, "POST", "/Tables", object, `{"TableName":"full"}`); status != 201 {
		t.Fatalf("%d %s", status, body)
	}
	kind, changes := batch("full", 0, 3, 10)
	for n, r := range []request{
		{method: "POST", target: "/full", kind: object, body: `{"PartitionKey":"p","RowKey":"r"}`},
		{method: "POST", target: "/$batch", kind: kind, body: strings.ReplaceAll(changes, "PUT", "MERGE")},
		{method: "DELETE", target: "/full(PartitionKey='p',RowKey='0000')"}, // sent with If-Match: *
		{method: "POST", target: "/Tables", kind: object, body: `{"TableName":"other"}`},
	} {
		made := instances(t, s, 0).Made
		r.header = []string{"x-fault: full"} // fills the memory of the wasm instance; see faults.mjs
		resp, body, err := r.send(t.Context(), s, workerd.Client)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode >= 300 || strings.Contains(body, "odata.error") {
			t.Errorf("%d: %s: %s", n, resp.Status, body)
		}
		if now := instances(t, s, 0).Made; now == made {
			t.Errorf("%d: no other instance answered", n)
		}
	}
	resp, body, err := request{method: "GET", target: "/full()"}.send(t.Context(), s, workerd.Client)
	if err != nil || resp.StatusCode != 200 || strings.Count(body, `"RowKey"`) != 3 {
		t.Errorf("%v, %s", err, body)
	}
}

// TestRecycle checks that wasm instances are replaced after many requests: both the instances that serve
// requests, and the instance that runs the Durable Objects.
func TestRecycle(t *testing.T) {
	s := start(t)
	serve := func() {
		t.Helper()
		for range 3 {
			if status, err := list(t.Context(), s, workerd.Client); err != nil || status != http.StatusOK {
				t.Fatalf("%d, %v", status, err)
			}
		}
	}
	serve()
	before := instances(t, s, 0)
	serve()
	if made := instances(t, s, 1_000_000).Made - before.Made; made != 0 {
		t.Errorf("%d instances were replaced without a reason", made)
	}
	serve()
	after := instances(t, s, 0)
	if made := after.Made - before.Made; made < 2 {
		t.Errorf("after many requests %d instances were replaced", made)
	}
	if after.Memory != before.Memory {
		t.Errorf("%d bytes of memory became %d: it is to go on to the next instance", before.Memory, after.Memory)
	}
	serve()
	if made := instances(t, s, 0).Made - after.Made; made != 0 {
		t.Errorf("instances go on to be replaced: %d", made)
	}
}

// start starts a server for one test.
func start(t *testing.T, env ...string) *workerd.Server {
	t.Helper()
	s, err := workerd.Start(workerd.Options{Data: t.TempDir(), Log: workerd.Log(t), Env: append(env, acme)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

func instances(t *testing.T, s *workerd.Server, uses int) workerd.Instances {
	t.Helper()
	i, err := s.Instances(t.Context(), uses)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// TestLimits checks that limits of rates apply to an isolate as a whole, no matter how many wasm instances
// serve its requests.
func TestLimits(t *testing.T) {
	s := start(t, "EDGETABLE_LIMITS=account=0.01", "EDGETABLE_MAX_FAILURES=0.01")
	c := workerd.NewClient(20)
	var served, unknown atomic.Int32
	var group sync.WaitGroup
	for range 40 {
		group.Go(func() {
			switch status, err := list(t.Context(), s, c); {
			case err == nil && status == http.StatusOK:
				served.Add(1)
			case err != nil || status != http.StatusServiceUnavailable:
				t.Errorf("%d, %v", status, err)
			}
		})
	}
	group.Wait()
	if n := served.Load(); n != 1 {
		t.Errorf("of a rate of one in a hundred seconds, %d were served", n)
	}
	for range 40 {
		group.Go(func() {
			resp, _, err := request{method: http.MethodGet, target: "/Tables", header: []string{"Authorization: SharedKeyLite acme:aHVudGVyMg=="}}.send(t.Context(), s, c)
			if err != nil {
				t.Error(err)
				return
			}
			switch resp.StatusCode {
			case http.StatusForbidden:
				unknown.Add(1)
			case http.StatusServiceUnavailable:
			default:
				t.Error(resp.Status)
			}
		})
	}
	group.Wait()
	if n := unknown.Load(); n != 1 {
		t.Errorf("of a burst of one failed login, %d were looked at", n)
	}
}
