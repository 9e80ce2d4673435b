package workerd_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"edgetable/testdata/edge/workerd"
)

// list asks the Worker for tables.
func list(ctx context.Context, s *workerd.Server, c *http.Client) (status int, err error) {
	resp, _, err := request{method: http.MethodGet, target: "/Tables"}.send(ctx, s, c)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, nil
}

// More requests than there are instances, and clients that hang up: every other
// one is answered.
func TestManyRequests(t *testing.T) {
	c := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 100, MaxIdleConnsPerHost: 100}}
	defer c.CloseIdleConnections()
	for range 2 {
		var group sync.WaitGroup
		for n := range 300 {
			group.Go(func() {
				if n%3 == 0 { // gone at once
					ctx, cancel := context.WithCancel(t.Context())
					context.AfterFunc(ctx, c.CloseIdleConnections)
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

// The module is trapped while it serves a request: that one gets the protocol's
// own answer, and the instance serves no other.
func TestTrappedRequest(t *testing.T) {
	for range 3 {
		r := request{method: http.MethodGet, target: "/Tables", header: []string{"x-fault: trap"}} // see faults.mjs
		resp, body, err := r.send(t.Context(), server, http.DefaultClient)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != http.StatusInternalServerError || !strings.Contains(body, "InternalError") || resp.Header.Get("x-ms-request-id") == "" {
			t.Errorf("%s: %s", resp.Status, body)
		}
		if status, err := list(t.Context(), server, http.DefaultClient); err != nil || status != http.StatusOK {
			t.Errorf("the next request: %d, %v", status, err)
		}
	}
}

// Instances that served many requests are replaced: those for requests and the
// one for objects.
func TestRecycle(t *testing.T) {
	s := start(t)
	serve := func() {
		t.Helper()
		for range 3 {
			if status, err := list(t.Context(), s, http.DefaultClient); err != nil || status != http.StatusOK {
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

// start starts a server of its own for a test.
func start(t *testing.T, env ...string) *workerd.Server {
	t.Helper()
	s, err := workerd.Start(workerd.Options{Data: t.TempDir(), Env: append(env, "EDGETABLE_ACCOUNTS=acme:c2VjcmV0")})
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

// sent sends a request and returns the status and the body.
func sent(t *testing.T, s *workerd.Server, c *http.Client, method, target, kind, body string) (int, string) {
	t.Helper()
	resp, answer, err := request{method: method, target: target, kind: kind, body: body}.send(t.Context(), s, c)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	return resp.StatusCode, answer
}

// batch is one of upserts, each with a text of so many bytes.
func batch(table string, first, n, size int) (kind, body string) {
	var b strings.Builder
	b.WriteString("--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n")
	for i := first; i < first+n; i++ {
		b.WriteString("--c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n")
		fmt.Fprintf(&b, "PUT http://host/acme/%s(PartitionKey='p',RowKey='%04d') HTTP/1.1\r\nContent-Type: application/json\r\n\r\n{", table, i)
		for at := 0; at < size; at += 30_000 {
			fmt.Fprintf(&b, `"V%d":"%s",`, at, strings.Repeat("v", min(size-at, 30_000)))
		}
		b.WriteString("\"Age\":36}\r\n")
	}
	return "multipart/mixed; boundary=b", b.String() + "--c--\r\n--b--\r\n"
}

// What moves much, as much at once as clients like: all of it is answered, and the
// memories of the isolate stay below 64 MB.
func TestMemory(t *testing.T) {
	s := start(t)
	c := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 64, MaxIdleConnsPerHost: 64}}
	defer c.CloseIdleConnections()
	const object = "application/json"
	for _, table := range []string{"rows", "large", "written"} {
		if status, body := sent(t, s, c, "POST", "/Tables", object, `{"TableName":"`+table+`"}`); status != 201 {
			t.Fatalf("%d %s", status, body)
		}
	}
	for i := range 10 {
		kind, body := batch("rows", 100*i, 100, 1000)
		if status, body := sent(t, s, c, "POST", "/$batch", kind, body); status != 202 || strings.Contains(body, "odata.error") {
			t.Fatalf("%d %s", status, body)
		}
	}
	var group sync.WaitGroup
	for n := range 192 {
		group.Go(func() {
			switch n % 6 {
			case 0: // the largest page, in several
				if status, body := sent(t, s, c, "GET", "/rows()", object, ""); status != 200 || strings.Count(body, `"Age"`) != 1000 {
					t.Errorf("a page: %d, %.300s", status, body)
				}
			case 1: // the largest entity
				target := fmt.Sprintf("/large(PartitionKey='p',RowKey='%d')", n)
				text := strings.Repeat("v", 30_000)
				body := `{"Age":36`
				for i := range 17 {
					body += fmt.Sprintf(`,"V%d":"%s"`, i, text)
				}
				if status, body := sent(t, s, c, "PUT", target, object, body+"}"); status != 204 {
					t.Errorf("a large entity: %d, %.300s", status, body)
				}
				if status, got := sent(t, s, c, "GET", target, object, ""); status != 200 || strings.Count(got, text) != 17 {
					t.Errorf("a large entity: %d, %.300s", status, got)
				}
			case 2: // a page of them
				if status, body := sent(t, s, c, "GET", "/large()", object, ""); status != 200 {
					t.Errorf("a page of large entities: %d, %.300s", status, body)
				}
			case 3: // the largest batch
				kind, body := batch("written", 100*n, 100, 38_000)
				if status, body := sent(t, s, c, "POST", "/$batch", kind, body); status != 202 || strings.Count(body, "HTTP/1.1 204") != 100 {
					t.Errorf("a batch: %d, %.300s", status, body)
				}
			default:
				if status, err := list(t.Context(), s, c); err != nil || status != 200 {
					t.Errorf("a small request: %d, %v", status, err)
				}
			}
		})
	}
	group.Wait()
	i := instances(t, s, 0)
	t.Logf("%d bytes at most, %d now, in %d instances one after the other", i.Peak, i.Memory, i.Made)
	if i.Peak > 64_000_000 {
		t.Errorf("the memories have %d bytes", i.Peak)
	}
}

// The rates are those of an isolate, however many instances serve requests at the
// same time.
func TestLimits(t *testing.T) {
	s := start(t, "EDGETABLE_LIMITS=account=0.01", "EDGETABLE_MAX_FAILURES=0.01")
	c := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 20, MaxIdleConnsPerHost: 20}}
	defer c.CloseIdleConnections()
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
