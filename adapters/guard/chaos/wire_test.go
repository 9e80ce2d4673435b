package chaos_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"edgetable/adapters/guard/chaos"
	"edgetable/core/protocol"
	"edgetable/core/table"
	"edgetable/core/wiretest"
	"edgetable/testdata/memstore"
)

// server is a whole server without a network, with a table named orders.
type server struct {
	*protocol.Handler
	t     *testing.T
	clock *wiretest.Clock
	began time.Time
}

// newServer makes a server that follows the rules. Its clock follows the clock of the test.
func newServer(t *testing.T, rules string) server {
	t.Helper()
	var clock wiretest.Clock
	c := chaos.New(parse(t, rules))
	h := wiretest.NewHandler(&clock)
	var random atomic.Uint64
	h.Service = table.New(c.Store(memstore.New(clock.Now)), table.Options{Now: clock.Now, Rand: func() uint64 { return random.Add(1) }})
	s := server{h, t, &clock, time.Now()}
	if got := s.send("create"); got != "201" {
		t.Fatalf("the table could not be made: %s", got)
	}
	h.Gate = c
	return s
}

// requests are the requests of the tests, by name.
var requests = map[string]string{
	"create":   "POST /devstoreaccount1/Tables HTTP/1.1\nContent-Type: application/json\n\n" + `{"TableName":"orders"}`,
	"drop":     "DELETE /devstoreaccount1/Tables('Orders') HTTP/1.1\n\n",
	"other":    "POST /devstoreaccount1/Tables HTTP/1.1\nContent-Type: application/json\n\n" + `{"TableName":"other"}`,
	"tables":   "GET /devstoreaccount1/Tables HTTP/1.1\nAccept: application/json\n\n",
	"insert":   "POST /devstoreaccount1/orders HTTP/1.1\nContent-Type: application/json\n\n" + `{"PartitionKey":"p1","RowKey":"r"}`,
	"put":      "PUT /devstoreaccount1/orders(PartitionKey='p2',RowKey='r') HTTP/1.1\nContent-Type: application/json\n\n{}",
	"get":      "GET /devstoreaccount1/orders(PartitionKey='p1',RowKey='r') HTTP/1.1\nAccept: application/json\n\n",
	"stranger": "GET /devstoreaccount1/Tables HTTP/1.1\nAuthorization: (wrong key)\n\n",
	"slow":     "GET /devstoreaccount1/orders()?timeout=3 HTTP/1.1\nAccept: application/json\n\n",
	"query":    "GET /devstoreaccount1/orders() HTTP/1.1\nAccept: application/json\n\n",
	"batch": "POST /devstoreaccount1/$batch HTTP/1.1\nContent-Type: multipart/mixed; boundary=b\n\n" +
		"--b\nContent-Type: multipart/mixed; boundary=c\n\n--c\nContent-Type: application/http\nContent-Transfer-Encoding: binary\n\n" +
		"POST /devstoreaccount1/orders HTTP/1.1\nContent-Type: application/json\n\n" + `{"PartitionKey":"p1","RowKey":"r"}` + "\n\n--c--\n--b--\n",
}

// send sends a request and returns its status and error code, or "cut" if there is no response.
func (s server) send(name string) string {
	s.t.Helper()
	s.clock.Set(wiretest.Start.Add(time.Since(s.began)))
	r, err := wiretest.NewRequest(requests[name], wiretest.Start)
	if err != nil {
		s.t.Fatal(err)
	}
	header := make(protocol.Header)
	for _, f := range r.Header {
		key := http.CanonicalHeaderKey(f.Name)
		header[key] = append(header[key], f.Value)
	}
	resp := s.Serve(s.t.Context(), &protocol.Request{
		Method: r.Method, Target: r.Target, Host: r.Host, Scheme: "http",
		Header: header, Body: bytes.NewReader(r.Body), ContentLength: int64(len(r.Body)),
	})
	defer resp.Release()
	if resp.Disconnect {
		return "cut"
	}
	if resp.Code == "" {
		return fmt.Sprint(resp.Status)
	}
	if resp.Code == "ServerBusy" && !strings.Contains(fmt.Sprint(resp.Header), "Retry-After") {
		s.t.Errorf("%s: no Retry-After", name)
	}
	if code := resp.Code; (code == "ServerBusy" || code == "InternalError") && !strings.Contains(string(resp.Body), "simulated by the chaos rule") {
		s.t.Errorf("%s does not say why: %s", name, resp.Body)
	}
	return fmt.Sprint(resp.Status, " ", resp.Code)
}

// TestFaults checks the response that a client gets for each fault, and whether its request was carried out.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ why, rules, want string }{
		{"no rule, no fault", "", "insert=201 get=200"},
		{"500: nothing is done, and the next try succeeds", "count=1 operation=write fault=500",
			"insert=500 InternalError; get=404 ResourceNotFound; insert=201 get=200"},
		{"503: the same", "count=1 operation=write fault=503",
			"insert=503 ServerBusy; get=404 ResourceNotFound; insert=201 get=200"},
		{"reset: the client does not know, and nothing was done", "count=1 operation=InsertEntity fault=reset",
			"insert=cut get=404 ResourceNotFound; insert=201 get=200"},
		{"lost-reply: the client does not know, but it was done: the second try finds the first", "count=1 operation=InsertEntity fault=lost-reply",
			"insert=cut get=200 insert=409 EntityAlreadyExists"},
		{"the reply to a failure can be lost as well", "every=2 operation=InsertEntity fault=lost-reply",
			"insert=201 insert=cut insert=409 EntityAlreadyExists"},
		{"a query has no reply", "operation=QueryEntities fault=lost-reply", "query=cut get=404 ResourceNotFound"},
		{"a batch is one request", "count=1 operation=EntityGroupTransaction fault=lost-reply", "batch=cut get=200 insert=409 EntityAlreadyExists"},
		{"a batch has a partition", "partition=p1 fault=503", "batch=503 ServerBusy; put=204"},
		{"a partition that is hot, the others are not", "partition=p1 fault=503", "insert=503 ServerBusy; get=503 ServerBusy; put=204 query=200"},
		{"a table that is down", "table=orders fault=500", "get=500 InternalError; drop=500 InternalError; tables=200 other=201"},
		{"who has not the key does not come so far", "fault=reset", "stranger=403 AuthenticationFailed; get=cut"},
		{"being-deleted: the name is not free for a while", "being-deleted=30s",
			"drop=204 create=409 TableBeingDeleted; get=404 TableNotFound; other=201 wait create=201 get=404 ResourceNotFound"},
		{"being-deleted of other tables", "being-deleted=30s table=o*r", "drop=204 create=201"},
		{"being-deleted, once", "being-deleted=30s count=1 table=orders",
			"drop=204 create=409 TableBeingDeleted; wait create=201 drop=204 create=201"},
		{"a table that was not there is not being deleted", "being-deleted=30s", "drop=204 wait drop=404 ResourceNotFound; create=201"},
		{"a table that could not be deleted is not being deleted", "being-deleted=30s; fault=500 operation=DeleteTable", "drop=500 InternalError; create=409 TableAlreadyExists"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t, tt.rules)
				for rest := tt.want; rest != ""; {
					step, _, _ := strings.Cut(rest, " ")
					if step == "wait" {
						time.Sleep(30 * time.Second)
						rest = strings.TrimPrefix(rest[len("wait"):], " ")
						continue
					}
					name, _, _ := strings.Cut(step, "=")
					got := name + "=" + s.send(name)
					after, ok := strings.CutPrefix(rest, got)
					if !ok {
						t.Fatalf("%s, want %s", got, rest)
					}
					rest = strings.TrimLeft(after, "; ")
				}
			})
		})
	}
}

// TestSlowRequest checks that a rule with a latency delays a request. If the timeout of the request is shorter
// than the latency, the request must fail after the timeout.
func TestSlowRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, "operation=read latency=10s")
		begin := time.Now()
		if got := s.send("query"); got != "200" || time.Since(begin) != 10*time.Second {
			t.Errorf("answered %s after %v", got, time.Since(begin))
		}
		begin = time.Now()
		if got := s.send("slow"); got != "500 OperationTimedOut" || time.Since(begin) != 3*time.Second {
			t.Errorf("with a timeout of 3 s, answered %s after %v", got, time.Since(begin))
		}
	})
}
