package httpserver_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"edgetable/adapters/transport/httpserver"
	"edgetable/core/protocol"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

// bounded is a server with small bounds. It answers a request for /wait when the test allows it, a request for /large
// with a large response, and any other request with a response that is as long as its body.
type bounded struct {
	*httpserver.Server
	t      *testing.T
	addr   string
	answer chan struct{}
}

const large = 16 << 20 // more than the operating system buffers for a client

func newBounded(t *testing.T, b httpserver.Bounds) *bounded {
	t.Helper()
	s := &bounded{t: t, answer: make(chan struct{})}
	account := func(req *protocol.Request) string { return strings.Split(req.Target, "/")[1] }
	s.Server = &httpserver.Server{Bounds: b, Handler: &httpserver.Handler{
		Refuse: func(*protocol.Request, *table.Error) protocol.Response {
			return protocol.Response{Status: 503, Body: []byte("busy")}
		},
		Protocol: protocolFunc(func(_ context.Context, req *protocol.Request) protocol.Response {
			resp := protocol.Response{Status: 200}
			resp.Operation, resp.Account = "Test", account(req)
			switch {
			case strings.HasSuffix(req.Target, "/wait"):
				<-s.answer
			case strings.HasSuffix(req.Target, "/large"):
				resp.Body = make([]byte, large)
			case req.Body != nil:
				req.Body.(interface{ BelongsTo(string) }).BelongsTo(account(req))
				n, err := io.Copy(io.Discard, req.Body)
				if err != nil {
					resp.Status = 503
				}
				resp.Body = fmt.Append(nil, n)
			}
			return resp
		}),
	}}
	s.addr = start(t, s.Server)
	return s
}

// clientConn is the client's end of a connection.
type clientConn struct {
	net.Conn
	*bufio.Reader
	t *testing.T
}

func (s *bounded) connect(source string) clientConn {
	s.t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(source)}}
	c, err := d.Dial("tcp", s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close() })
	return clientConn{c, bufio.NewReader(c), s.t}
}

func (c clientConn) ask(target string) {
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: h\r\n\r\n", target)
}

// status reads the first line of a response and returns its status, or "end" if the connection was closed.
func (c clientConn) status() string {
	line, err := c.ReadString('\n')
	if err != nil {
		return "end"
	}
	return strings.Fields(line)[1]
}

// head reads the head of a response and returns its status.
func (c clientConn) head() string {
	status := c.status()
	for line := ""; status != "end" && line != "\r\n"; {
		var err error
		if line, err = c.ReadString('\n'); err != nil {
			return "end"
		}
	}
	return status
}

// exchange sends a request with a short response, and reads the response.
func (c clientConn) exchange(target string) string {
	c.ask(target)
	return c.head()
}

func (c clientConn) expect(want, why string) {
	c.t.Helper()
	if got := c.exchange("/a/x"); got != want {
		c.t.Errorf("%s: got %s, want %s", why, got, want)
	}
}

// state formats the counters of a server for the error message of a failed wait.
type state func() httpserver.ConnectionStats

func (s state) String() string { return fmt.Sprintf("%+v", s()) }

// waitUntil waits until the function ok returns true for the server's counters.
func (s *bounded) waitUntil(why string, ok func(httpserver.ConnectionStats) bool) {
	s.t.Helper()
	must.Eventually(s.t, why, state(s.Connections), func() bool { return ok(s.Connections()) })
}

func (s *bounded) untilIdle(n int) {
	s.t.Helper()
	s.waitUntil(fmt.Sprint(n, " idle"), func(c httpserver.ConnectionStats) bool { return c.Idle == n })
}

// TestOldestIdleGoesFirst checks that a new connection causes the server to close the connection that has been idle
// for the longest time, and never one with a request in flight.
func TestOldestIdleGoesFirst(t *testing.T) {
	t.Parallel()
	s := newBounded(t, httpserver.Bounds{Connections: 3})
	busy := s.connect("127.0.0.1")
	busy.ask("/a/wait")
	var c []clientConn
	for i := range 2 {
		c = append(c, s.connect("127.0.0.1"))
		c[i].expect("200", "there is room")
		s.untilIdle(i + 1)
	}
	c[0].expect("200", "it is used again, so that it is no more the oldest")
	s.untilIdle(2)
	s.connect("127.0.0.1").expect("200", "one more")
	c[0].expect("200", "not the oldest")
	c[1].expect("end", "the oldest")
	close(s.answer)
	if got := busy.status(); got != "200" {
		t.Errorf("the request under way: %s", got)
	}
	if n := s.Connections(); n.Closed != 1 || n.Refused != 0 || n.Open > 3 {
		t.Errorf("%+v", n)
	}
}

// TestNothingIdle checks that a new connection is closed at once if all connections have requests in flight.
func TestNothingIdle(t *testing.T) {
	t.Parallel()
	s := newBounded(t, httpserver.Bounds{Connections: 1})
	s.connect("127.0.0.1").ask("/a/wait")
	s.waitUntil("at work", func(n httpserver.ConnectionStats) bool { return n.Open == 1 && n.Idle+n.Waiting == 0 })
	s.connect("127.0.0.1").expect("end", "no room")
	close(s.answer)
	s.untilIdle(1)
	if n := s.Connections(); n.Refused != 1 {
		t.Errorf("%+v", n)
	}
}

// TestSlowRequestsLeaveRoom checks that a new client can connect although other clients send only the start of a
// request on every connection. This must hold even if Bounds allow more requests than connections.
func TestSlowRequestsLeaveRoom(t *testing.T) {
	t.Parallel()
	const connections = 16
	s := newBounded(t, httpserver.Bounds{Connections: connections})
	for i := range 4 * connections {
		fmt.Fprint(s.connect(fmt.Sprint("127.0.0.", 2+i%3)), "GET ")
		s.waitUntil("accepted", func(n httpserver.ConnectionStats) bool { return n.Accepted == uint64(i+1) && n.Idle == 0 })
	}
	for range 2 * connections {
		s.connect("127.0.0.1").expect("200", "a new client")
	}
}

// TestClientsShareConnections checks that a client that opens more and more connections loses only connections of its
// own.
func TestClientsShareConnections(t *testing.T) {
	t.Parallel()
	s := newBounded(t, httpserver.Bounds{Connections: 10})
	flood := func(n int) {
		for range n {
			before := s.Connections().Accepted
			s.connect("127.0.0.1").exchange("/evil/x")
			s.waitUntil("accepted", func(n httpserver.ConnectionStats) bool { return n.Accepted > before })
			s.waitUntil("idle", func(n httpserver.ConnectionStats) bool { return n.Idle == n.Open })
		}
	}
	flood(20)
	var others []clientConn
	for range 3 {
		others = append(others, s.connect("127.0.0.2"))
	}
	for _, c := range others {
		c.expect("200", "another client finds room")
	}
	flood(20)
	for _, c := range others {
		c.expect("200", "a connection of another client stays open")
	}
}

// TestAccountsShareConnections checks that an account that is used from many addresses loses only its own
// connections.
func TestAccountsShareConnections(t *testing.T) {
	t.Parallel()
	s := newBounded(t, httpserver.Bounds{Connections: 10})
	own := s.connect("127.0.0.1")
	own.expect("200", "alone")
	for i := range 30 {
		s.connect(fmt.Sprint("127.0.1.", i+1)).exchange("/evil/x")
		s.waitUntil("idle", func(n httpserver.ConnectionStats) bool { return n.Idle == n.Open })
	}
	own.expect("200", "the oldest of all, but of another account")
}

// TestManyClientsComeAndGo checks that new clients displace connections of a client that has more than its share.
// They must never displace the only connection of another client, however long it has been idle.
func TestManyClientsComeAndGo(t *testing.T) {
	t.Parallel()
	s := newBounded(t, httpserver.Bounds{Connections: 10})
	own := s.connect("127.0.0.1")
	own.expect("200", "alone")
	opened := uint64(1)
	come := func(source, account string) {
		s.connect(source).exchange("/" + account + "/x")
		opened++
		s.waitUntil("idle", func(n httpserver.ConnectionStats) bool { return n.Accepted == opened && n.Idle == n.Open })
	}
	for range 6 {
		come("127.0.0.2", "evil")
	}
	for i := range 7 {
		come(fmt.Sprint("127.0.1.", i+1), fmt.Sprint("other", i))
	}
	own.expect("200", "the oldest of all, but the only one of its client")
	if n := s.Connections(); n.Refused != 0 || n.Open > 10 {
		t.Errorf("%+v", n)
	}
}

// TestClientsShareRequests checks that one client cannot have more incomplete requests than its share. Incomplete
// requests use memory.
func TestClientsShareRequests(t *testing.T) {
	t.Parallel()
	s := newBounded(t, httpserver.Bounds{Requests: 4})
	for range 9 {
		fmt.Fprint(s.connect("127.0.0.1"), "GET ")
	}
	s.waitUntil("waiting", func(n httpserver.ConnectionStats) bool { return n.Waiting == 7 && n.Open == 9 })
	for range 3 {
		s.connect("127.0.0.2").expect("200", "another client")
	}
}

// TestTurns checks that all connections are served even if there are more connections than requests can run at the
// same time, and if each connection always has another request.
func TestTurns(t *testing.T) {
	t.Parallel()
	s := newBounded(t, httpserver.Bounds{Requests: 4})
	done := make(chan string, 10)
	stop := make(chan struct{})
	defer close(stop)
	for range cap(done) {
		c := s.connect("127.0.0.1")
		go func() {
			for range 5 {
				if got := c.exchange("/a/x"); got != "200" {
					done <- got
					return
				}
			}
			done <- ""
			for { // send requests without a pause
				select {
				case <-stop:
					return
				default:
					c.exchange("/a/x")
				}
			}
		}()
	}
	for range cap(done) {
		if got := <-done; got != "" {
			t.Errorf("got %s", got)
		}
	}
}

// TestSentAhead checks that pipelined requests use at most half of the processors, and that other requests do not
// wait for them.
func TestSentAhead(t *testing.T) {
	t.Parallel()
	s := newBounded(t, httpserver.Bounds{})
	var atWork, most atomic.Int32
	s.Handler.Own = func(*protocol.Request) protocol.Response {
		if n := atWork.Add(1); n > most.Load() {
			most.Store(n)
		}
		for range 100 {
			runtime.Gosched() // let all other goroutines run
		}
		atWork.Add(-1)
		return protocol.Response{Status: 200}
	}
	const connections, ahead = 16, 50
	done := make(chan error, connections)
	for range connections {
		c := s.connect("127.0.0.1")
		fmt.Fprint(c, "GET /a/wait HTTP/1.1\r\nHost: h\r\n\r\n"+strings.Repeat("GET /_/x HTTP/1.1\r\nHost: h\r\n\r\n", ahead))
		go func() {
			for range 1 + ahead {
				resp, err := http.ReadResponse(c.Reader, nil)
				if err != nil {
					done <- err
					return
				}
				resp.Body.Close()
			}
			done <- nil
		}()
	}
	for range connections {
		s.answer <- struct{}{}
	}
	s.connect("127.0.0.2").expect("200", "another client")
	for range connections {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if got, want := int(most.Load()), max(1, runtime.GOMAXPROCS(0)/2); got > want {
		t.Errorf("%d were at work at once, want %d", got, want)
	}
}

// TestAnswersThatNobodyReads checks that a client that does not read its responses cannot use up the memory. This
// client gets 503, and another client still gets its response.
func TestAnswersThatNobodyReads(t *testing.T) {
	t.Parallel()
	s := newBounded(t, httpserver.Bounds{Bytes: 3 * large})
	first := s.connect("127.0.0.1")
	first.ask("/evil/large")
	if got := first.status(); got != "200" {
		t.Fatalf("the first: %s", got)
	}
	for range 20 {
		c := s.connect("127.0.0.1")
		c.ask("/evil/large")
		if got := c.status(); got != "503" {
			t.Errorf("one more: %s", got)
		}
	}
	c := s.connect("127.0.0.3")
	c.ask("/evil/large")
	if got := c.status(); got != "503" {
		t.Errorf("another client of the account: %s", got)
	}
	other := s.connect("127.0.0.2")
	other.ask("/acme/large")
	if got := other.status(); got != "200" {
		t.Errorf("another client and account: %s", got)
	}
	if used, refused := s.Room(); used != 2*large || refused != 21 {
		t.Errorf("%d bytes are held, %d were refused", used, refused)
	}
	first.Close()
	if _, err := io.CopyN(io.Discard, other.Reader, large); err != nil {
		t.Error(err)
	}
	s.waitUntil("all given back", func(httpserver.ConnectionStats) bool { used, _ := s.Room(); return used == 0 })
}

// TestBodiesThatDoNotCome checks that a client whose bodies arrive slowly gets 503 once these bodies use the client's
// share of the memory.
func TestBodiesThatDoNotCome(t *testing.T) {
	t.Parallel()
	s := newBounded(t, httpserver.Bounds{Bytes: 1 << 20})
	slow := func(source, target string) clientConn {
		c := s.connect(source)
		fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: h\r\nContent-Length: 400000\r\n\r\n%s", target, strings.Repeat("x", 300_000))
		return c
	}
	used := func(least int64) {
		t.Helper()
		s.waitUntil(fmt.Sprint(least, " bytes"), func(httpserver.ConnectionStats) bool { n, _ := s.Room(); return n >= least })
	}
	first := slow("127.0.0.1", "/evil/x")
	used(300_000)
	second := slow("127.0.0.1", "/evil/x")
	if got := second.status(); got != "503" {
		t.Errorf("the second of a client: %s", got)
	}
	second.Close() // without this, the refused client would still send the rest of its body
	other := slow("127.0.0.2", "/acme/x")
	fmt.Fprint(other, strings.Repeat("x", 100_000))
	if got := other.status(); got != "200" {
		t.Errorf("another client: %s", got)
	}
	fmt.Fprint(first, strings.Repeat("x", 100_000))
	if got := first.status(); got != "200" {
		t.Errorf("the first: %s", got)
	}
	s.waitUntil("all given back", func(httpserver.ConnectionStats) bool { n, _ := s.Room(); return n == 0 })
}
