package workerd_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"edgetable/testdata/edge/workerd"
)

// startKV starts the Worker with Workers KV only, without Durable Objects.
func startKV(t *testing.T, env ...string) *workerd.Server {
	t.Helper()
	s, err := workerd.Start(workerd.Options{Data: t.TempDir(), KV: true, Env: append(env, acme), Log: workerd.Log(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

// do sends a signed request and returns the status and the body.
func do(t *testing.T, s *workerd.Server, method, target, body string) (int, string) {
	t.Helper()
	status, answer, err := send(t, s, method, target, "application/json", body)
	if err != nil {
		t.Error(err)
	}
	return status, answer
}

func send(t *testing.T, s *workerd.Server, method, target, kind, body string) (int, string, error) {
	t.Helper()
	r := request{method: method, target: target, kind: kind, body: body, header: []string{"Accept: application/json;odata=minimalmetadata"}}
	resp, answer, err := r.send(t.Context(), s, workerd.Client)
	if err != nil {
		return 0, "", err
	}
	if got := resp.Header.Get("x-edgetable-consistency"); got != "eventual" {
		t.Errorf("%s %s: x-edgetable-consistency is %q", method, target, got)
	}
	return resp.StatusCode, answer, nil
}

func demand(t *testing.T, s *workerd.Server, method, target, body string, status int) string {
	t.Helper()
	got, answer := do(t, s, method, target, body)
	if got != status {
		t.Errorf("%s %s: %d, want %d: %s", method, target, got, status, answer)
	}
	return answer
}

// TestKVBestEffort checks that inserts, ETags and batches work if EDGETABLE_KV_BEST_EFFORT is set, and
// that deleted tables disappear at once.
func TestKVBestEffort(t *testing.T) {
	t.Parallel()
	s := startKV(t, "EDGETABLE_KV_BEST_EFFORT=true")
	demand(t, s, "POST", "/Tables", `{"TableName":"people"}`, 201)
	demand(t, s, "POST", "/Tables", `{"TableName":"people"}`, 409)
	demand(t, s, "POST", "/people", `{"PartitionKey":"p","RowKey":"1"}`, 201)
	demand(t, s, "POST", "/people", `{"PartitionKey":"p","RowKey":"1"}`, 409)
	if status, answer, err := transact(t, s, "q", 5); status != 202 || err != nil || strings.Count(answer, "204 No Content") != 5 {
		t.Errorf("a batch: %d, %v: %s", status, err, answer)
	}
	var group sync.WaitGroup
	for n := range 40 {
		group.Go(func() {
			demand(t, s, "PUT", fmt.Sprintf("/people(PartitionKey='p',RowKey='%d')", n), `{}`, 204)
		})
	}
	group.Wait()
	if p, q := rows(t, s, "p"), rows(t, s, "q"); p != 40 || q != 5 {
		t.Errorf("there are %d and %d entities", p, q)
	}
	demand(t, s, "DELETE", "/Tables('people')", "", 204)
	demand(t, s, "GET", "/people()", "", 404)
}

// TestKVRefusals checks that inserts and batches get 501 unless EDGETABLE_KV_BEST_EFFORT is set, and that the
// error text explains this. Upserts and queries must work without the variable.
func TestKVRefusals(t *testing.T) {
	t.Parallel()
	s := startKV(t)
	demand(t, s, "POST", "/Tables", `{"TableName":"people"}`, 201)
	const reason = "profile with Durable Objects"
	if got := demand(t, s, "POST", "/people", `{"PartitionKey":"p","RowKey":"1"}`, 501); !strings.Contains(got, "NotImplemented") || !strings.Contains(got, reason) {
		t.Errorf("an insert: %s", got)
	}
	if status, got, err := transact(t, s, "p", 2); status != 202 || err != nil || !strings.Contains(got, "501 Not Implemented") || !strings.Contains(got, reason) {
		t.Errorf("a batch: %d, %v: %s", status, err, got)
	}
	// Together, these requests need more memory than a wasm instance has. They succeed only if each request
	// frees its memory.
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
