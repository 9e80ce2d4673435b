package httpserver_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"edgetable/adapters/transport/httpserver"
	"edgetable/core/protocol"
)

// TestTooLargeIsRefusedUnread checks a request that announces a body that is too large. The server must refuse the
// request before the client sends the body. It must then close the connection, because the client might still send
// the body.
func TestTooLargeIsRefusedUnread(t *testing.T) {
	t.Parallel()
	conn, r := dial(t)
	send(t, conn, "PUT /devstoreaccount1/people(PartitionKey='p',RowKey='r') HTTP/1.1\nContent-Length: 4194305\n")
	// The server reads only the first 8 KiB before it checks the length.
	fmt.Fprint(conn, strings.Repeat(" ", 8<<10))
	resp := receive(t, r, "PUT")
	if resp.Status != 413 {
		t.Errorf("status %d", resp.Status)
	}
	fmt.Fprint(conn, strings.Repeat(" ", 4<<20-8<<10)+" GET /devstoreaccount1/Tables HTTP/1.1\r\n\r\n")
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if n, err := r.ReadByte(); err != io.EOF {
		t.Errorf("what followed was answered: byte %q, %v", n, err)
	}
}

// TestHeadWithLargeBody checks that the response to HEAD has no body, even if it is the last on its connection.
func TestHeadWithLargeBody(t *testing.T) {
	t.Parallel()
	conn, r := dial(t)
	send(t, conn, "HEAD /devstoreaccount1/Tables HTTP/1.1\nContent-Length: 100000\n")
	fmt.Fprint(conn, strings.Repeat(" ", 100_000))
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if resp := receive(t, r, "HEAD"); resp.Status != 405 {
		t.Errorf("status %d", resp.Status)
	}
	if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
		t.Errorf("a body: %q, %v", rest, err)
	}
}

// TestBodyCutOff checks that a body that is shorter than its length is reported as the client's error, and that
// nothing of it is stored.
func TestBodyCutOff(t *testing.T) {
	t.Parallel()
	conn, r := dial(t)
	send(t, conn, "POST /devstoreaccount1/Tables HTTP/1.1\nContent-Type: application/json\nContent-Length: 100\n\n{\"TableName\":\"people\"}\n")
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if resp := receive(t, r, "POST"); resp.Status != 400 {
		t.Errorf("status %d: %s", resp.Status, resp.Body)
	}
}

// TestExpectContinue checks that a client that sends Expect: 100-continue gets 100 Continue if the server wants the
// body, and otherwise gets the refusal at once.
func TestExpectContinue(t *testing.T) {
	t.Parallel()
	const request = "POST /devstoreaccount1/Tables HTTP/1.1\nContent-Type: application/json\nExpect: 100-continue\nContent-Length: 22\n"
	t.Run("wanted", func(t *testing.T) {
		t.Parallel()
		conn, r := dial(t)
		send(t, conn, request)
		if resp := receive(t, r, "POST"); resp.Status != 100 {
			t.Fatalf("status %d before the body", resp.Status)
		}
		fmt.Fprint(conn, `{"TableName":"people"}`)
		if resp := receive(t, r, "POST"); resp.Status != 201 {
			t.Errorf("status %d: %s", resp.Status, resp.Body)
		}
	})
	t.Run("unwanted", func(t *testing.T) {
		t.Parallel()
		conn, r := dial(t)
		send(t, conn, request+"Authorization: (wrong key)\n")
		if resp := receive(t, r, "POST"); resp.Status != 100 {
			t.Fatalf("status %d before the body", resp.Status)
		}
		fmt.Fprint(conn, `{"TableName":"people"}`)
		if resp := receive(t, r, "POST"); resp.Status != 403 {
			t.Errorf("status %d: %s", resp.Status, resp.Body)
		}
	})
}

// TestTwoLengths checks a request with both chunks and a Content-Length. Bytes after its body must never be served as
// a second request, because a proxy may regard them as part of the body.
func TestTwoLengths(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		why, head string
		read      bool
	}{
		{"a length and chunks", "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", false},
		{"a length and chunks, which are read", "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", true},
		{"chunks and a length", "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", false},
		{"chunks, which are read, and a length", "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", true},
		{"two lengths", "Content-Length: 5\r\nContent-Length: 0\r\n", true},
		{"a length that is none", "Content-Length: +5\r\n", true},
		{"a negative length", "Content-Length: -1\r\n", true},
	} {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			served := make(chan string, 10)
			addr := serve(t, &httpserver.Handler{Protocol: protocolFunc(func(_ context.Context, req *protocol.Request) protocol.Response {
				served <- req.Target
				if tt.read && req.Body != nil {
					_, _ = io.Copy(io.Discard, req.Body)
				}
				return protocol.Response{Status: 204}
			})})
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			fmt.Fprintf(conn, "POST /first HTTP/1.1\r\nHost: h\r\n%s\r\n0\r\n\r\nGET /hidden HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", tt.head)
			if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			answer, err := io.ReadAll(conn)
			if err != nil {
				t.Fatal(err)
			}
			close(served)
			for target := range served {
				if target == "/hidden" {
					t.Errorf("the hidden request was served: %q", answer)
				}
			}
		})
	}
}
