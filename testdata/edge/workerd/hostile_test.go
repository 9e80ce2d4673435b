package workerd_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"edgetable/testdata/edge/workerd"
	waiting "edgetable/testdata/must"
)

// hostile is a request header with a client address that only the attackers in these tests use.
const hostile = "x-from: 2001:db8::1"

// TestHostileReads lets one address send any number of concurrent requests, each of which waits for a slow
// Durable Object. These requests may occupy most wasm instances, but no request of another client must be
// refused.
func TestHostileReads(t *testing.T) {
	s := start(t, "EDGETABLE_OBJECT_WORK=30")
	for _, table := range []string{"hostile", "others"} {
		if status, body := sent(t, s, workerd.Client, "POST", "/Tables", "application/json", `{"TableName":"`+table+`"}`); status != 201 {
			t.Fatalf("%d %s", status, body)
		}
	}
	const connections = 250
	c := workerd.NewClient(connections)
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	defer group.Wait()
	defer stop()
	waited := make(chan struct{}) // closed when the first request is refused because of too many requests
	var once sync.Once
	for range connections {
		group.Go(func() {
			for ctx.Err() == nil {
				r := request{method: "GET", target: "/hostile(PartitionKey='p',RowKey='r')", header: []string{hostile}}
				if resp, _, err := r.send(ctx, s, c); err == nil && resp.StatusCode == http.StatusServiceUnavailable {
					once.Do(func() { close(waited) })
				}
			}
		})
	}
	waiting.Receive(t, "the hostile client is refused", waited, new(strings.Builder))
	for n := range 20 {
		if status, body := sent(t, s, workerd.Client, "GET", "/others(PartitionKey='p',RowKey='r')", "", ""); status != http.StatusNotFound {
			t.Fatalf("request %d of another client: %d %s", n, status, body)
		}
	}
}

// TestHostileBodies lets one address begin large uploads and never complete them. Another client must still
// be able to upload large bodies.
func TestHostileBodies(t *testing.T) {
	s := sharing(t)
	if status, body := sent(t, s, workerd.Client, "POST", "/Tables", "application/json", `{"TableName":"uploads"}`); status != 201 {
		t.Fatalf("%d %s", status, body)
	}
	for range 40 {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.Worker, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := fmt.Fprintf(c, "POST /acme/uploads HTTP/1.1\r\nHost: tables\r\nContent-Length: 4194304\r\n%s\r\n\r\n{", hostile); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 5 {
		entity := fmt.Sprintf(`{"PartitionKey":"p","RowKey":"%d",%s`, n, large(500_000, "v")[1:])
		if status, body := sent(t, s, workerd.Client, "POST", "/uploads", "application/json", entity); status != http.StatusCreated {
			t.Fatalf("insert %d of another client: %d %s", n, status, body)
		}
	}
}
