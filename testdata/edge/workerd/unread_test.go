package workerd_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"edgetable/core/sharedkey"
	"edgetable/testdata/edge/workerd"
)

// TestUnread checks clients that request the largest pages on many connections and do not read the responses.
// Such clients must not occupy a wasm instance or its memory, so that other clients get their pages. The
// runtime takes each response as soon as the response is complete, and limits the number of responses that it
// buffers.
func TestUnread(t *testing.T) {
	s := sharing(t)
	const object = "application/json"
	if status, body := sent(t, s, workerd.Client, "POST", "/Tables", object, `{"TableName":"unread"}`); status != 201 {
		t.Fatalf("%d %s", status, body)
	}
	for i := range 3 { // the three batches have 2.7 MB, so a response gets a page of the maximum size (2 MiB)
		kind, body := batch("unread", 100*i, 100, 9000)
		if status, body := sent(t, s, workerd.Client, "POST", "/$batch", kind, body); status != 202 || strings.Contains(body, "odata.error") {
			t.Fatalf("%d %s", status, body)
		}
	}
	key, err := sharedkey.ParseKey("c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IDEyMzQ=")
	if err != nil {
		t.Fatal(err)
	}
	ask := func(ctx context.Context) net.Conn {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", strings.TrimPrefix(s.Worker, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.(*net.TCPConn).SetReadBuffer(4096); err != nil {
			t.Fatal(err)
		}
		date := sharedkey.FormatDate(time.Now())
		signature := key.Authorization(sharedkey.SharedKeyLite, "acme", sharedkey.Request{Method: "GET", Path: "/acme/unread()", XMSDate: date})
		_, err = fmt.Fprintf(c, "GET /acme/unread() HTTP/1.1\r\nHost: tables\r\nx-ms-date: %s\r\nx-ms-version: 2019-02-02\r\nAccept: application/json\r\nAuthorization: %s\r\n\r\n", date, signature)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	const slow = 60
	for range slow {
		c := ask(t.Context())
		defer c.Close()
		if _, err := io.ReadFull(c, make([]byte, 12)); err != nil { // the response has begun to arrive
			t.Fatal(err)
		}
	}
	var group sync.WaitGroup
	for n := range 40 {
		group.Go(func() {
			target := "/unread()?$top=1"
			if n%2 == 0 {
				target = "/unread()"
			}
			if status, body := sent(t, s, workerd.Client, "GET", target, object, ""); status != 200 || !strings.Contains(body, `"Age"`) {
				t.Errorf("another client: %d, %.300s", status, body)
			}
		})
	}
	group.Wait()
	if i := instances(t, s, 0); i.Peak > 80_000_000 {
		t.Errorf("the memories have %d bytes", i.Peak)
	}
}
