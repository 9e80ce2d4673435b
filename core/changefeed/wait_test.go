package changefeed_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"edgetable/core/changefeed"
	"edgetable/core/protocol"
	"edgetable/core/sas"
	"edgetable/core/wiretest"
)

// TestWait checks that a request waits until there are changes that the client may see, or until the end of its wait
// or timeout.
func TestWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		s.must(201, "POST", "/Tables", `{"TableName":"other"}`)
		_, from := s.changes("")
		ask := func(query string) <-chan []event {
			got := make(chan []event, 1)
			go func() {
				list, _ := s.changes(query)
				got <- list
			}()
			synctest.Wait()
			return got
		}
		begin := time.Now()
		if s.changes("&wait=20"); time.Since(begin) != 0 {
			t.Errorf("without a position it waited %v", time.Since(begin))
		}
		all := ask("&wait=20&since=" + from)
		m := ask("&wait=20&since=" + from + s.signed(sas.TableValues{Permissions: "r", StartPartition: "m", EndPartition: "m"}))
		if n := s.Waiters.Count(); n != 2 {
			t.Fatalf("%d wait", n)
		}
		time.Sleep(time.Second)
		s.must(204, "PUT", "/other(PartitionKey='m',RowKey='1')", `{}`)
		s.put("a", "1", "x")
		if list := <-all; shorts(list) != "put(PartitionKey='a',RowKey='1')=x" || time.Since(begin) != time.Second {
			t.Errorf("after %v: %s", time.Since(begin), shorts(list))
		}
		synctest.Wait()
		if n := s.Waiters.Count(); n != 1 {
			t.Errorf("%d wait, after a change that only one of them may see", n)
		}
		time.Sleep(time.Second)
		s.put("m", "1", "y")
		if list := <-m; shorts(list) != "put(PartitionKey='m',RowKey='1')=y" || time.Since(begin) != 2*time.Second {
			t.Errorf("after %v: %s", time.Since(begin), shorts(list))
		}
		// A request without visible changes waits for the full time, and its answer has a newer position.
		_, from = s.changes("")
		begin = time.Now()
		s.must(204, "PUT", "/other(PartitionKey='m',RowKey='1')", `{}`)
		list, next := s.changes("&wait=5&since=" + from)
		if len(list) > 0 || next == from || time.Since(begin) != 5*time.Second {
			t.Errorf("after %v: %s, the position is the same: %t", time.Since(begin), shorts(list), next == from)
		}
		begin = time.Now()
		if s.changes("&wait=20&timeout=3&since=" + from); time.Since(begin) != 2*time.Second {
			t.Errorf("with a timeout of 3 s it waited %v", time.Since(begin))
		}
		dropped := ask("&wait=20&since=" + from)
		s.must(204, "DELETE", "/Tables('people')", "")
		if list := <-dropped; shorts(list) != "table.drop" {
			t.Errorf("of a drop: %s", shorts(list))
		}
		if n := s.Waiters.Count(); n != 0 {
			t.Errorf("%d wait at the end", n)
		}
	})
}

// TestShutdown checks that every waiting request gets an answer when the server stops. If the transport does not
// support waiting, a request must get its answer at once.
func TestShutdown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		_, from := s.changes("")
		until, end := context.WithCancel(t.Context())
		s.until = until
		status := make(chan int, 2)
		go func() { status <- s.do("GET", "/people?comp=changes&wait=30&since="+from, "").status }()
		stream := s.must(200, "GET", "/people?comp=changes&since="+from, "", "Accept: text/event-stream")
		go func() {
			_, err := io.ReadAll(stream.stream)
			if stream.end(); err == nil {
				status <- 200
			}
		}()
		synctest.Wait()
		begin := time.Now()
		end()
		if first, second := <-status, <-status; first != 200 || second != 200 || time.Since(begin) != 0 {
			t.Errorf("they end after %v", time.Since(begin))
		}
		synctest.Wait()
		if n := s.Waiters.Count(); n != 0 {
			t.Errorf("%d wait", n)
		}
		s.until = nil
		if s.must(200, "GET", "/people?comp=changes&wait=30&since="+from, ""); time.Since(begin) != 0 {
			t.Errorf("it waited %v", time.Since(begin))
		}
		if r := s.do("GET", "/people?comp=changes", "", "Accept: text/event-stream"); r.status != 501 {
			t.Errorf("a stream: %d", r.status)
		}
	})
}

// slotCounter counts the requests that hold a slot (permission to run): now, at most at one time, and in total.
type slotCounter struct{ held, most, begun atomic.Int64 }

func (w *slotCounter) Begin(context.Context, protocol.Work) (protocol.Turn, time.Duration) {
	w.begun.Add(1)
	n := w.held.Add(1)
	w.most.Store(max(n, w.most.Load()))
	return w, 0
}

func (w *slotCounter) Pause(context.Context, int64) bool { return false }
func (w *slotCounter) End(int64)                         { w.held.Add(-1) }

// TestWaiters checks that waiting requests hold no slot (permission to run). It also checks the limits on the number
// of waiting requests for each account and in total.
func TestWaiters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		w := new(slotCounter)
		s.Turns = w
		s.Waiters = &changefeed.Waiters{Account: 3, All: 4}
		second := func(path, header string) reply {
			return s.send("GET /secondaccount" + path + " HTTP/1.1\n" + header + "\n")
		}
		for _, text := range []string{"POST /secondaccount/Tables HTTP/1.1\nContent-Type: application/json\n\n{\"TableName\":\"people\"}", "PUT /secondaccount/people?comp=options HTTP/1.1\n\n{\"changes\":{}}"} {
			if r := s.send(text); r.status >= 300 {
				t.Fatalf("%d: %s", r.status, r.body)
			}
		}
		_, from := s.changes("")
		other := second("/people?comp=changes", "").header["x-edgetable-next"]
		done := make(chan int, 4)
		for range 2 {
			go func() { done <- s.do("GET", "/people?comp=changes&wait=30&since="+from, "").status }()
		}
		stream := s.must(200, "GET", "/people?comp=changes&since="+from, "", "Accept: text/event-stream")
		lines := bufio.NewReader(stream.stream)
		go func() {
			for {
				if _, err := lines.ReadString('\n'); err != nil {
					return
				}
			}
		}()
		synctest.Wait()
		if held, waiting := w.held.Load(), s.Waiters.Count(); held != 0 || waiting != 3 {
			t.Errorf("%d hold turns, %d wait", held, waiting)
		}
		refused := func(what string, r reply) {
			t.Helper()
			if r.status != 503 || r.header["retry-after"] == "" || r.header["x-ms-error-code"] != "ServerBusy" {
				t.Errorf("%s: %d %v", what, r.status, r.header)
			}
		}
		refused("a fourth of the account", s.do("GET", "/people?comp=changes&wait=30&since="+from, ""))
		refused("a stream", s.do("GET", "/people?comp=changes", "", "Accept: text/event-stream"))
		s.changes("&since=" + from) // succeeds, because the limit does not apply to a request that may not wait
		go func() { done <- second("/people?comp=changes&wait=30&since="+other, "").status }()
		synctest.Wait()
		refused("a second of another account", second("/people?comp=changes&wait=30&since="+other, ""))
		begun := w.begun.Load()
		time.Sleep(10 * time.Second) // shorter than the interval between heartbeats
		if n := w.begun.Load() - begun; n != 0 {
			t.Errorf("%d turns while nothing happened", n)
		}
		s.put("a", "1", "x")
		for range 2 {
			if status := <-done; status != 200 {
				t.Errorf("status %d", status)
			}
		}
		if status := <-done; status != 200 { // the other account's request must return without events after 30 s
			t.Errorf("status %d", status)
		}
		stream.end()
		synctest.Wait()
		if held, waiting := w.held.Load(), s.Waiters.Count(); held != 0 || waiting != 0 {
			t.Errorf("at the end %d hold turns, %d wait", held, waiting)
		}
	})
}

// TestStream checks the server-sent events of a stream: whole commits with their positions, heartbeats, and the end
// of the stream.
func TestStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		_, from := s.changes("")
		s.put("a", "1", "x")
		open := func(query string, header ...string) (reply, *bufio.Reader) {
			r := s.must(200, "GET", "/people?comp=changes"+query, "", append(header, "Accept: text/event-stream")...)
			if r.header["content-type"] != "text/event-stream" || r.header["cache-control"] != "no-store" {
				t.Errorf("%v", r.header)
			}
			return r, bufio.NewReader(r.stream)
		}
		r, lines := open("&since=" + from)
		got, id := frame(t, lines)
		if shorts(got) != "" || id != "" { // the first event has only the field retry
			t.Errorf("the first one: %s %s", shorts(got), id)
		}
		got, first := frame(t, lines)
		if shorts(got) != "put(PartitionKey='a',RowKey='1')=x" || first == "" {
			t.Errorf("%s %q", shorts(got), first)
		}
		s.must(202, "POST", "/$batch", changeset("PUT /devstoreaccount1/people(PartitionKey='b',RowKey='1')", "PUT /devstoreaccount1/people(PartitionKey='b',RowKey='2')"), "Content-Type: multipart/mixed; boundary=b")
		got, id = frame(t, lines)
		if shorts(got) != "put(PartitionKey='b',RowKey='1')=batch" || id != "" {
			t.Errorf("%s %q: a position in a commit", shorts(got), id)
		}
		got, id = frame(t, lines)
		if shorts(got) != "put(PartitionKey='b',RowKey='2')=batch" || id == "" {
			t.Errorf("%s %q", shorts(got), id)
		}
		begin := time.Now()
		got, alive := frame(t, lines)
		if len(got) > 0 || alive == "" || time.Since(begin) != 15*time.Second {
			t.Errorf("after %v: %s", time.Since(begin), shorts(got))
		}
		if list, _ := s.changes("&since=" + alive); len(list) > 0 {
			t.Errorf("after the sign of life: %s", shorts(list))
		}
		for err := error(nil); err == nil; _, err = lines.ReadString('\n') {
		}
		if took := time.Since(begin); took != 15*time.Minute {
			t.Errorf("it ends after %v", took)
		}
		r.end()
		// A browser that resumes sends Last-Event-ID. The server then ignores the position in the URL.
		r, lines = open("&since="+from, "Last-Event-ID: "+first)
		frame(t, lines)
		if got, _ = frame(t, lines); shorts(got) != "put(PartitionKey='b',RowKey='1')=batch" {
			t.Errorf("resumed with %s", shorts(got))
		}
		r.end()
		// The stream ends when its signature expires, and when the table is dropped.
		begin = time.Now()
		s.clock.Set(wiretest.Start)
		r, lines = open(s.signed(sas.TableValues{Permissions: "r", Expiry: wiretest.Start.Add(time.Minute).Format("2006-01-02T15:04:05Z")}))
		if _, err := io.ReadAll(lines); err != nil || time.Since(begin) > time.Minute || time.Since(begin) < 59*time.Second {
			t.Errorf("with a signature for a minute it ends after %v: %v", time.Since(begin), err)
		}
		r.end()
		r, lines = open("")
		s.must(204, "DELETE", "/Tables('people')", "")
		frame(t, lines)
		if got, id = frame(t, lines); shorts(got) != "table.drop" || id == "" {
			t.Errorf("of a drop: %s", shorts(got))
		}
		if _, err := lines.ReadByte(); err != io.EOF {
			t.Errorf("after the drop: %v", err)
		}
		r.end()
		r.end()
		if r := s.do("GET", "/people?comp=changes", "", "Accept: text/event-stream", "Last-Event-ID: "+id); r.status != 410 {
			t.Errorf("resumed after the drop: %d", r.status)
		}
		if n := s.Waiters.Count(); n != 0 {
			t.Errorf("%d wait", n)
		}
	})
}

// frame reads server-sent events up to a blank line.
func frame(t *testing.T, r *bufio.Reader) (list []event, id string) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		line = strings.TrimSuffix(line, "\n")
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "":
			if line == "" {
				return list, id
			}
		case "id":
			id = value
		case "data":
			var e event
			if err := json.Unmarshal([]byte(value), &e); err != nil {
				t.Fatal(fmt.Errorf("%w: %s", err, value))
			}
			list = append(list, e)
		}
	}
}
