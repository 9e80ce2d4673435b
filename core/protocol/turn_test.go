package protocol_test

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"testing"
	"time"

	"edgetable/core/protocol"
	"edgetable/core/sas"
	"edgetable/core/sharedkey"
	"edgetable/core/wiretest"
	"edgetable/testdata/must"
)

// turns is a [protocol.Turns] that records the kind and the payer of each request. If busy is set, it refuses every
// request.
type turns struct {
	log   []string
	began int64 // the cost of the last request before its turn
	cost  int64 // the cost of the last request
	busy  bool
	open  bool
}

func (r *turns) Begin(_ context.Context, w protocol.Work) (protocol.Turn, time.Duration) {
	kind := "read"
	switch {
	case w.Write:
		kind = "write"
	case w.Query:
		kind = "query"
	}
	payer := w.Payer
	if !w.IsAccount {
		payer = fmt.Sprintf("%x", payer)
	}
	r.log = append(r.log, kind+" by "+payer)
	r.began = w.Cost
	if r.busy {
		return nil, 0
	}
	r.open = true
	return r, 0
}

func (r *turns) Pause(context.Context, int64) bool { return false }

func (r *turns) End(cost int64) {
	r.open = false
	r.cost = cost
}

// watched is a body that must not be read while the request has its turn (its permission to run).
type watched struct {
	io.Reader
	turns *turns
	t     *testing.T
}

func (w watched) Read(p []byte) (int, error) {
	if w.turns.open {
		w.t.Error("a body is read in a turn")
	}
	return w.Reader.Read(p)
}

// TestTurns checks who pays for a request. An account pays only for its own requests. Nobody pays for a request without
// a key or with a wrong key, which gets no turn (no permission to run). If the server must read from the store to
// verify a request, the client's network address pays for the read.
func TestTurns(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	r := &turns{}
	s.Turns = r
	s.MaxSkew = sharedkey.MaxSkew
	s.Bearer = func(context.Context, string) (protocol.Identity, error) {
		if r.open {
			t.Error("the issuer is waited for in a turn")
		}
		return protocol.Identity{ObjectID: "o", Contributor: true}, nil
	}
	byPolicy, err := sas.TableValues{Table: "people", Identifier: "readers"}.Sign(wiretest.Account, s.key)
	if err != nil {
		t.Fatal(err)
	}
	const address = "3f" + "00000000000000000000ffffc0000201" // the key of 192.0.2.1: a question mark and 16 bytes
	own := func(kind string) []string { return []string{kind + " by " + wiretest.Account} }
	unsigned := func(q *protocol.Request) { delete(q.Header.(protocol.Header), "Authorization") }
	for _, tt := range []struct {
		why                string
		method, path, body string
		change             func(*protocol.Request)
		status             int
		want               []string
	}{
		{"a key", "GET", "/Tables", "", nil, 200, own("read")},
		{"a query", "GET", "/people()", "", nil, 200, own("query")},
		{"a write", "POST", "/Tables", `{"TableName":"pets"}`, nil, 201, own("write")},
		{"a batch is one request", "POST", "/$batch", changesetOfTwo, nil, 202, own("write")},
		{"so is a query in a batch", "POST", "/$batch", batchQuery("GET /" + wiretest.Account + "/people()"), nil, 202, own("write")},
		{"a token of an issuer", "GET", "/Tables", "", func(q *protocol.Request) {
			q.Scheme, q.Header.(protocol.Header)["Authorization"] = "https", []string{"Bearer x"}
		}, 200, own("read")},
		{"no key", "GET", "/people()", "", unsigned, 404, nil},
		{"a forged signature", "GET", "/people()", "", func(q *protocol.Request) {
			q.Header.(protocol.Header)["Authorization"] = []string{"SharedKeyLite " + wiretest.Account + ":bm8="}
		}, 403, nil},
		{"no such account", "GET", "/people()", "", func(q *protocol.Request) { q.Target = "/nobody/people()" }, 404, nil},
		{"a signature with a stored policy that does not exist", "GET", "/people()?" + byPolicy, "", unsigned, 403, []string{"read by " + address}},
		{"a preflight", "OPTIONS", "/people()", "", func(q *protocol.Request) {
			unsigned(q)
			q.Header.(protocol.Header)["Origin"] = []string{"https://a"}
			q.Header.(protocol.Header)["Access-Control-Request-Method"] = []string{"GET"}
		}, 403, []string{"read by " + address}},
		{"a body that is too long", "POST", "/Tables", strings.Repeat(" ", protocol.MaxBody+1), nil, 413, own("write")},
	} {
		contentType := "application/json"
		if strings.HasSuffix(tt.path, "batch") {
			contentType = "multipart/mixed; boundary=b"
		}
		q := s.request(tt.method, tt.path, contentType, []byte(tt.body))
		q.Source = netip.MustParseAddr("192.0.2.1")
		q.Body = watched{q.Body, r, t}
		if tt.change != nil {
			tt.change(q)
		}
		r.log = nil
		resp := s.Serve(t.Context(), q)
		if resp.Status != tt.status || strings.Join(r.log, ", ") != strings.Join(tt.want, ", ") || r.open {
			t.Errorf("%s: %d %s, turns: %q, want %d and %q", tt.why, resp.Status, resp.Body, r.log, tt.status, tt.want)
		}
		resp.Release()
	}
}

// TestNoTurn checks that a request has no effect if Turns does not permit it to run, and that its response has the
// header Retry-After.
func TestNoTurn(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.Turns = &turns{busy: true}
	resp := s.Serve(t.Context(), s.request("POST", "/Tables", "application/json", []byte(`{"TableName":"pets"}`)))
	if resp.Status != 503 || resp.Refused != protocol.RefusedQueue || field(&resp, "Retry-After") == "" {
		t.Errorf("%d %q", resp.Status, resp.Refused)
	}
	byPolicy, err := sas.TableValues{Table: "people", Identifier: "readers"}.Sign(wiretest.Account, s.key)
	must.OK(t, err)
	req := s.request("GET", "/people()?"+byPolicy, "", nil)
	delete(req.Header.(protocol.Header), "Authorization")
	if resp := s.Serve(t.Context(), req); resp.Status != 503 || resp.Refused != protocol.RefusedQueue {
		t.Errorf("a read of a policy: %d %q", resp.Status, resp.Refused)
	}
	s.Turns = nil
	if status, body := s.do(t, "GET", "/Tables('pets')", "", nil); status != 404 {
		t.Errorf("%d %s", status, body)
	}
}

// TestCosts checks that a request costs more if it reads, sends or receives more, even if its client does not ask for
// the cost.
func TestCosts(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	r := &turns{}
	s.Turns = r
	cost := func(method, path, body string) int64 {
		t.Helper()
		if status, text := s.do(t, method, path, "application/json", []byte(body)); status >= 300 {
			t.Fatalf("%s %s: %d %s", method, path, status, text)
		}
		return r.cost
	}
	small := cost("PUT", "/people(PartitionKey='a',RowKey='0')", `{}`)
	large := cost("PUT", "/people(PartitionKey='a',RowKey='1')", `{"A":"`+strings.Repeat("a", 30000)+`"}`)
	for i := range 200 {
		cost("PUT", fmt.Sprintf("/people(PartitionKey='b',RowKey='%d')", i), `{"A":"`+strings.Repeat("a", 1000)+`"}`)
	}
	point := cost("GET", "/people(PartitionKey='a',RowKey='0')", "")
	scan := cost("GET", "/people()?$filter=A%20eq%20'b'", "")
	if r.began <= 0 || r.began >= scan {
		t.Errorf("the scan cost %d before its turn and %d at its end", r.began, scan)
	}
	page := cost("GET", "/people()", "")
	if !(small < large && point < scan && 3*point < scan && scan < page) {
		t.Errorf("small write %d, large write %d, point read %d, scan of 200 entities %d, page with them %d", small, large, point, scan, page)
	}
}
