package workerd_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"edgetable/testdata/edge/workerd"
)

// transact inserts n entities into a partition, by one transaction.
func transact(t *testing.T, s *workerd.Server, partition string, n int) (int, string, error) {
	t.Helper()
	var b strings.Builder
	b.WriteString("--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n")
	for i := range n {
		fmt.Fprintf(&b, "--c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"+
			"POST %s/acme/people HTTP/1.1\r\nContent-Type: application/json\r\nPrefer: return-no-content\r\n\r\n"+
			"{\"PartitionKey\":%q,\"RowKey\":\"%d\"}\r\n", s.Worker, partition, i)
	}
	b.WriteString("--c--\r\n--b--\r\n")
	return send(t, s, "POST", "/$batch", "multipart/mixed; boundary=b", b.String())
}

func rows(t *testing.T, s *workerd.Server, partition string) int {
	t.Helper()
	return strings.Count(demand(t, s, "GET", "/people()?$filter=PartitionKey%20eq%20'"+partition+"'", "", 200), `"RowKey"`)
}

// names counts those in a space of the namespace.
func names(t *testing.T, s *workerd.Server, space string) (n int) {
	t.Helper()
	for cursor := ""; ; {
		keys, next, err := s.Namespace().List(t.Context(), space, cursor, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if n += len(keys); next == "" {
			return n
		}
		cursor = next
	}
}

func succeed(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The module is trapped in a request: all that are under way are told to try
// again, a transaction is there or not, reads go on. As a single writer has lost
// what it wrote, it does not write until KV is sure to show that.
func TestKVTrap(t *testing.T) {
	t.Parallel()
	s := startKV(t, "EDGETABLE_KV_SINGLE_WRITER=true")
	demand(t, s, "POST", "/Tables", `{"TableName":"people"}`, 201)
	for when, want := range map[string]int{"put": 0, "stored": 5, "serve": 0} {
		demand(t, s, "POST", "/people", fmt.Sprintf(`{"PartitionKey":"p","RowKey":%q}`, when), 201)
		var group sync.WaitGroup
		for range 8 { // which have to wait, since the name rests
			group.Go(func() {
				if status, answer := do(t, s, "PUT", "/people(PartitionKey='p',RowKey='"+when+"')", `{}`); status != 204 && status != 500 && status != 503 {
					t.Errorf("meanwhile: %d: %s", status, answer)
				}
			})
		}
		succeed(t, s.Trap(t.Context(), when))
		status, answer, err := transact(t, s, when, 5)
		group.Wait()
		if when != "serve" && (status != 500 || err != nil) { // or another request met it
			t.Errorf("%s: a request that was trapped: %d, %v: %s", when, status, err, answer)
		}
		if got := rows(t, s, when); got != want && (when != "serve" || got != 5) {
			t.Errorf("%s: there are %d entities", when, got)
		}
		if got := demand(t, s, "POST", "/people", `{"PartitionKey":"q","RowKey":"q"}`, 503); !strings.Contains(got, "begin anew") {
			t.Errorf("a write after it: %s", got)
		}
		succeed(t, s.Later(t.Context(), 121*time.Second))
		demand(t, s, "POST", "/people", fmt.Sprintf(`{"PartitionKey":"after","RowKey":%q}`, when), 201)
	}
}

// An instance that has grown too large is replaced between two requests. The next
// one knows all that was written, though KV shows nothing of it yet.
func TestKVHandOver(t *testing.T) {
	t.Parallel()
	s := startKV(t, "EDGETABLE_KV_SINGLE_WRITER=true")
	demand(t, s, "POST", "/Tables", `{"TableName":"people"}`, 201)
	demand(t, s, "POST", "/people", `{"PartitionKey":"p","RowKey":"1"}`, 201)
	demand(t, s, "POST", "/people", `{"PartitionKey":"p","RowKey":"gone"}`, 201)
	demand(t, s, "DELETE", "/people(PartitionKey='p',RowKey='gone')", "", 204)
	if status, answer, err := transact(t, s, "q", 5); status != 202 || err != nil {
		t.Fatalf("%d, %v: %s", status, err, answer)
	}
	succeed(t, s.Blind(t.Context(), true))
	for n := range 3 {
		succeed(t, s.Grow(t.Context(), 30<<20))
		demand(t, s, "POST", "/people", `{"PartitionKey":"p","RowKey":"1"}`, 409)
		demand(t, s, "GET", "/people(PartitionKey='p',RowKey='gone')", "", 404)
		if p, q := rows(t, s, "p"), rows(t, s, "q"); p != 1+n || q != 5 {
			t.Errorf("there are %d and %d entities", p, q)
		}
		demand(t, s, "POST", "/people", fmt.Sprintf(`{"PartitionKey":"p","RowKey":"more %d"}`, n), 201)
	}
	// Two minutes later KV is all that there is.
	succeed(t, s.Later(t.Context(), 121*time.Second))
	demand(t, s, "GET", "/people()", "", 404)
	succeed(t, s.Blind(t.Context(), false))
	if p, q := rows(t, s, "p"), rows(t, s, "q"); p != 4 || q != 5 {
		t.Errorf("in the end there are %d and %d entities", p, q)
	}
}

// workerd is killed under load and started again over the same data: what was
// acknowledged is there, transactions are whole, and in the end every entity is
// where it belongs.
func TestKVKill(t *testing.T) {
	t.Parallel()
	o := workerd.Options{Data: t.TempDir(), KV: true, Env: []string{
		"EDGETABLE_ACCOUNTS=acme:c2VjcmV0", "EDGETABLE_KV_SINGLE_WRITER=true", "EDGETABLE_KV_INTERVAL=0.01",
	}}
	first, err := workerd.Start(o)
	succeed(t, err)
	demand(t, first, "POST", "/Tables", `{"TableName":"people"}`, 201)
	const writers, size, enough = 6, 5, 120
	var acknowledged [writers]int
	var total atomic.Int64
	var group sync.WaitGroup
	loaded := make(chan struct{})
	for w := range writers {
		group.Go(func() {
			for {
				status, answer, err := transact(t, first, fmt.Sprintf("w%d-%d", w, acknowledged[w]), size)
				if err != nil {
					return // it is dead
				}
				if status != 202 || !strings.Contains(answer, "204 No Content") {
					t.Errorf("%d: %s", status, answer)
				}
				acknowledged[w]++
				if total.Add(1) == enough {
					close(loaded)
				}
			}
		})
	}
	<-loaded
	succeed(t, first.Kill())
	group.Wait()
	second, err := workerd.Start(o)
	succeed(t, err)
	t.Cleanup(second.Stop)
	whole := 0
	for round := range 3 { // as it was found; moved; forgotten by journals
		whole = 0
		for w := range writers {
			for n := range acknowledged[w] + 1 {
				partition := fmt.Sprintf("w%d-%d", w, n)
				got := rows(t, second, partition)
				if got != size+round && (n < acknowledged[w] || got != round) {
					t.Errorf("round %d: of transaction %d of %d acknowledged ones there are %d entities", round, n, acknowledged[w], got-round)
				}
				if got == size+round {
					whole++
				}
				demand(t, second, "POST", "/people", fmt.Sprintf(`{"PartitionKey":%q,"RowKey":"after %d"}`, partition, round), 201)
			}
		}
		succeed(t, second.Later(t.Context(), 121*time.Second))
	}
	if entities, left := names(t, second, "e"), names(t, second, "j"); entities < whole*(size+3) || left > 0 {
		t.Errorf("of %d transactions there are %d entities and %d journals", whole, entities, left)
	}
}

// What a deleted table leaves behind is deleted by the schedule, once nobody can
// write into it any more; that of others stays.
func TestKVPurge(t *testing.T) {
	t.Parallel()
	s := startKV(t, "EDGETABLE_KV_SINGLE_WRITER=true")
	for _, name := range []string{"people", "others"} {
		demand(t, s, "POST", "/Tables", `{"TableName":"`+name+`"}`, 201)
		for n := range 3 {
			demand(t, s, "POST", "/"+name, fmt.Sprintf(`{"PartitionKey":"p","RowKey":"%d"}`, n), 201)
		}
	}
	if status, answer, err := transact(t, s, "q", 5); status != 202 || err != nil {
		t.Fatalf("%d, %v: %s", status, err, answer)
	}
	demand(t, s, "DELETE", "/Tables('people')", "", 204)
	succeed(t, s.Schedule(t.Context()))
	if e, j, x := names(t, s, "e"), names(t, s, "j"), names(t, s, "x"); e != 6 || j != 1 || x != 1 {
		t.Errorf("at once: %d entities, %d journals, %d notes", e, j, x)
	}
	succeed(t, s.Later(t.Context(), 121*time.Second))
	succeed(t, s.Schedule(t.Context()))
	if e, j, x := names(t, s, "e"), names(t, s, "j"), names(t, s, "x"); e != 3 || j != 0 || x != 0 {
		t.Errorf("later: %d entities, %d journals, %d notes", e, j, x)
	}
	demand(t, s, "GET", "/people()", "", 404)
	if got := strings.Count(demand(t, s, "GET", "/others()", "", 200), `"RowKey"`); got != 3 {
		t.Errorf("the other table has %d entities", got)
	}
}
