package workerd_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"edgetable/core/sharedkey"
	"edgetable/testdata/edge/workerd"
)

// startKV runs the Worker on Workers KV alone.
func startKV(t *testing.T, env ...string) *workerd.Server {
	t.Helper()
	s, err := workerd.Start(workerd.Options{Data: t.TempDir(), KV: true, Env: append(env, "EDGETABLE_ACCOUNTS=acme:c2VjcmV0"), Log: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

// do sends a signed request and returns the status and the body. The answer says
// what it is worth.
func do(t *testing.T, s *workerd.Server, method, target, body string) (int, string) {
	t.Helper()
	status, answer, err := send(t, s, method, target, "application/json", body)
	if err != nil {
		t.Error(err)
	}
	return status, answer
}

func send(t *testing.T, s *workerd.Server, method, target, contentType, body string) (int, string, error) {
	t.Helper()
	key, err := sharedkey.ParseKey("c2VjcmV0")
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, s.Worker+"/acme"+target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	path, query, _ := strings.Cut("/acme"+target, "?")
	date := sharedkey.FormatDate(time.Now())
	for name, value := range map[string]string{
		"x-ms-date": date, "x-ms-version": "2019-02-02", "Content-Type": contentType, "Accept": "application/json;odata=minimalmetadata",
		"Authorization": key.Authorization(sharedkey.SharedKeyLite, "acme", sharedkey.Request{Method: method, Path: path, RawQuery: query, ContentType: contentType, XMSDate: date}),
	} {
		req.Header.Set(name, value)
	}
	if method == http.MethodDelete {
		req.Header.Set("If-Match", "*")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if got := resp.Header.Get("x-edgetable-consistency"); got != "eventual" {
		t.Errorf("%s %s: x-edgetable-consistency is %q", method, target, got)
	}
	return resp.StatusCode, string(answer), err
}

func demand(t *testing.T, s *workerd.Server, method, target, body string, status int) string {
	t.Helper()
	got, answer := do(t, s, method, target, body)
	if got != status {
		t.Errorf("%s %s: %d, want %d: %s", method, target, got, status, answer)
	}
	return answer
}

// A single writer has it all. Of inserts that meet one succeeds, as all requests
// of an isolate have one store.
func TestKVSingleWriter(t *testing.T) {
	t.Parallel()
	s := startKV(t, "EDGETABLE_KV_SINGLE_WRITER=true")
	demand(t, s, "POST", "/Tables", `{"TableName":"people"}`, 201)
	demand(t, s, "POST", "/Tables", `{"TableName":"people"}`, 409)
	var group sync.WaitGroup
	var created sync.Map
	for n := range 40 {
		group.Go(func() {
			switch status, answer := do(t, s, "POST", "/people", fmt.Sprintf(`{"PartitionKey":"p","RowKey":"%d","N":%d}`, n%10, n)); status {
			case 201:
				if before, ok := created.Swap(n%10, n); ok {
					t.Errorf("both %d and %d were inserted", before, n)
				}
			case 409:
			default:
				t.Errorf("%d: %s", status, answer)
			}
		})
	}
	group.Wait()
	page := demand(t, s, "GET", "/people()", "", 200)
	for n := range 10 {
		who, ok := created.Load(n)
		if !ok || !strings.Contains(page, fmt.Sprintf(`"RowKey":"%d"`, n)) || !strings.Contains(page, fmt.Sprintf(`"N":%d}`, who)) {
			t.Errorf("row %d of %v is not in %s", n, who, page)
		}
	}
	demand(t, s, "DELETE", "/Tables('people')", "", 204)
	demand(t, s, "GET", "/people()", "", 404)
}

// Without a single writer what would have to compare says so; the rest works.
func TestKVManyWriters(t *testing.T) {
	t.Parallel()
	s := startKV(t)
	demand(t, s, "POST", "/Tables", `{"TableName":"people"}`, 201)
	if got := demand(t, s, "POST", "/people", `{"PartitionKey":"p","RowKey":"1"}`, 501); !strings.Contains(got, "NotImplemented") || !strings.Contains(got, "single writer") {
		t.Errorf("an insert: %s", got)
	}
	if status, got, err := transact(t, s, "p", 2); status != 202 || err != nil || !strings.Contains(got, "501 Not Implemented") || !strings.Contains(got, "single writer") {
		t.Errorf("a transaction: %d, %v: %s", status, err, got)
	}
	// More than an instance has room for if any of it is left behind.
	value := strings.Repeat("v", 30_000)
	for n := range 30 {
		demand(t, s, "PUT", fmt.Sprintf("/people(PartitionKey='p',RowKey='%d')", n), `{"V":"`+value+`","W":"`+value+`"}`, 204)
	}
	for range 60 {
		if got := demand(t, s, "GET", "/people()", "", 200); strings.Count(got, `"RowKey"`) != 30 {
			t.Fatalf("a page has %d entities", strings.Count(got, `"RowKey"`))
		}
	}
}
