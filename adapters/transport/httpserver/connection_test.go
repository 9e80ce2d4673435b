package httpserver_test

import (
	"bufio"
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	"edgetable/adapters/transport/httpserver"
	"edgetable/core/protocol"
	"edgetable/core/wiretest"
	"edgetable/testdata/must"
)

// TestKeepAlive checks that the connection stays open after every kind of response, even if the server did not read
// the request's body.
func TestKeepAlive(t *testing.T) {
	t.Parallel()
	var clock wiretest.Clock
	c := &client{addr: serve(t, &httpserver.Handler{Protocol: wiretest.NewHandler(&clock)})}
	defer c.close()
	for _, tt := range []struct {
		request string
		status  int
	}{
		{"POST /devstoreaccount1/Tables HTTP/1.1\nContent-Type: application/json\n\n{\"TableName\":\"people\"}\n", 201},
		{"HEAD /devstoreaccount1/Tables HTTP/1.1\n", 405},
		{"GET /devstoreaccount1/Tables HTTP/1.1\nAccept: application/json\n", 200},
		{"GET /devstoreaccount1/Tables HTTP/1.1\nAuthorization: (wrong key)\n", 403},
		{"PUT /devstoreaccount1/people HTTP/1.1\nContent-Type: text/plain\n\nnot read by anybody\n", 405},
		{"PUT /devstoreaccount1/people(PartitionKey='p',RowKey='r') HTTP/1.1\nTransfer-Encoding: chunked\n\n{}\n", 204},
		{"GET /devstoreaccount1/people() HTTP/1.1\nAccept: application/json\n", 200},
	} {
		req, err := wiretest.NewRequest(tt.request, wiretest.Start)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.do(req)
		if err != nil {
			t.Fatalf("%s: %v", tt.request, err)
		}
		if resp.Status != tt.status {
			t.Errorf("%s: status %d, want %d", tt.request, resp.Status, tt.status)
		}
	}
	if c.dials != 1 {
		t.Errorf("%d connections", c.dials)
	}
}

func dial(t *testing.T) (net.Conn, *bufio.Reader) {
	t.Helper()
	var clock wiretest.Clock
	conn, err := net.Dial("tcp", serve(t, &httpserver.Handler{Protocol: wiretest.NewHandler(&clock)}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn, bufio.NewReader(conn)
}

func send(t *testing.T, conn net.Conn, request string) {
	t.Helper()
	req, err := wiretest.NewRequest(request, wiretest.Start)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write(encode(req)); err != nil {
		t.Fatal(err)
	}
}

func receive(t *testing.T, r *bufio.Reader, method string) *wiretest.Response {
	t.Helper()
	resp, err := readResponse(r, method)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

// TestPipelining checks that pipelined requests are answered in order.
func TestPipelining(t *testing.T) {
	t.Parallel()
	conn, r := dial(t)
	var all []byte
	for _, request := range []string{
		"POST /devstoreaccount1/Tables HTTP/1.1\nContent-Type: application/json\n\n{\"TableName\":\"people\"}\n",
		"GET /devstoreaccount1/Tables('people') HTTP/1.1\nAccept: application/json\n",
		"DELETE /devstoreaccount1/Tables('people') HTTP/1.1\n",
		"GET /devstoreaccount1/Tables('people') HTTP/1.1\nAccept: application/json\n",
	} {
		req, err := wiretest.NewRequest(request, wiretest.Start)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, encode(req)...)
	}
	if _, err := conn.Write(all); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{201, 200, 204, 404} {
		if resp := receive(t, r, "GET"); resp.Status != want {
			t.Errorf("request %d: status %d, want %d", i, resp.Status, want)
		}
	}
}

// TestConnections checks the counts of open and accepted connections.
func TestConnections(t *testing.T) {
	t.Parallel()
	l := listen(t)
	s := httpserver.Server{Log: slog.New(slog.DiscardHandler), Grace: time.Minute, Handler: &httpserver.Handler{
		Protocol: protocolFunc(func(context.Context, *protocol.Request) protocol.Response { return protocol.Response{Status: 204} }),
	}}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	a, b := &client{addr: l.Addr().String()}, &client{addr: l.Addr().String()}
	for _, c := range []*client{a, b, a} {
		if _, err := c.do(&wiretest.Request{Method: "GET", Target: "/", Host: "h"}); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.Connections(); n.Open != 2 || n.Accepted != 2 {
		t.Errorf("%+v", n)
	}
	a.close()
	must.Eventually(t, "one is closed", state(s.Connections), func() bool {
		n := s.Connections()
		return n.Open == 1 && n.Accepted == 2
	})
	b.close()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
