package workerd_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"edgetable/testdata/edge/workerd"
)

// transact inserts n entities into a partition with one batch.
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

// names counts the names in the KV namespace that begin with the given text.
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

// TestKVTrap checks that after a trap of the wasm module, all requests of the isolate end with 500, and a new
// wasm instance serves later requests. If KV had received a put before the trap, the value must be stored;
// otherwise it must not. A request that waits for KV during the trap has an unknown outcome, because KV may
// still receive its put.
func TestKVTrap(t *testing.T) {
	t.Parallel()
	s := startKV(t)
	demand(t, s, "POST", "/Tables", `{"TableName":"people"}`, 201)
	put := func(row string) (int, string) {
		return do(t, s, "PUT", "/people(PartitionKey='p',RowKey='"+row+"')", `{}`)
	}
	for when, want := range map[string][]int{"put": {404}, "stored": {200}, "serve": {200, 404}} {
		succeed(t, s.Trap(t.Context(), when))
		if status, answer := put(when); status != 500 {
			t.Errorf("%s: %d: %s", when, status, answer)
		}
		if status, answer := do(t, s, "GET", "/people(PartitionKey='p',RowKey='"+when+"')", ""); !slices.Contains(want, status) {
			t.Errorf("what was written before %s: %d, want %v: %s", when, status, want, answer)
		}
		if status, answer := put("after-" + when); status != 204 {
			t.Errorf("after %s: %d: %s", when, status, answer)
		}
	}
}

// TestKVKill kills workerd under load and starts it again with the same data. Acknowledged writes must exist
// afterwards.
func TestKVKill(t *testing.T) {
	t.Parallel()
	o := workerd.Options{Data: t.TempDir(), KV: true, Log: workerd.Log(t), Env: []string{acme}}
	first, err := workerd.Start(o)
	succeed(t, err)
	demand(t, first, "POST", "/Tables", `{"TableName":"people"}`, 201)
	const writers, enough = 6, 300
	var acknowledged [writers]int
	var total atomic.Int64
	var group sync.WaitGroup
	loaded := make(chan struct{})
	for w := range writers {
		group.Go(func() {
			for {
				target := fmt.Sprintf("/people(PartitionKey='w%d',RowKey='%d')", w, acknowledged[w])
				status, answer, err := send(t, first, "PUT", target, "application/json", "{}")
				if err != nil {
					return // workerd was killed
				}
				if status != 204 {
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
	for w, n := range acknowledged {
		if got := rows(t, second, fmt.Sprint("w", w)); got < n || got > n+1 {
			t.Errorf("writer %d: of %d acknowledged entities there are %d", w, n, got)
		}
	}
}

// TestKVPurge checks that the scheduled purge deletes the entities of a deleted table. The purge must wait
// until no isolate can still write to the table. The entities of other tables must remain.
func TestKVPurge(t *testing.T) {
	t.Parallel()
	s := startKV(t, "EDGETABLE_KV_BEST_EFFORT=true")
	for _, name := range []string{"people", "others"} {
		demand(t, s, "POST", "/Tables", `{"TableName":"`+name+`"}`, 201)
		for n := range 3 {
			demand(t, s, "POST", "/"+name, fmt.Sprintf(`{"PartitionKey":"p","RowKey":"%d"}`, n), 201)
		}
	}
	demand(t, s, "DELETE", "/Tables('people')", "", 204)
	succeed(t, s.Schedule(t.Context()))
	if e, x := names(t, s, "e"), names(t, s, "x"); e != 6 || x != 1 {
		t.Errorf("at once: %d entities, %d notes", e, x)
	}
	succeed(t, s.Later(t.Context(), 121*time.Second))
	succeed(t, s.Schedule(t.Context()))
	if e, x := names(t, s, "e"), names(t, s, "x"); e != 3 || x != 0 {
		t.Errorf("later: %d entities, %d notes", e, x)
	}
	demand(t, s, "GET", "/people()", "", 404)
	if got := strings.Count(demand(t, s, "GET", "/others()", "", 200), `"RowKey"`); got != 3 {
		t.Errorf("the other table has %d entities", got)
	}
}
