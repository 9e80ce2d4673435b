package admission_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"edgetable/adapters/guard/admission"
	"edgetable/core/protocol"
	"edgetable/core/wiretest"
)

// TestLate: the late take a sixteenth of the places and leave the others to who
// comes in time; and all of them are served in the end.
func TestLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		s := served{next: make(chan struct{}), log: &log}
		l := admission.New(s, admission.Options{Concurrent: 32, MaxWait: time.Hour, Account: account, Refuse: refuse})
		send := func(n int) {
			for range n {
				go l.Serve(t.Context(), &protocol.Request{})
				synctest.Wait()
			}
		}
		end := func(n int) {
			for range n {
				s.next <- struct{}{}
				synctest.Wait()
			}
		}
		expect := func(when string, want admission.Stats) {
			t.Helper()
			if got := l.Stats(); got != want {
				t.Fatalf("%s: %+v, want %+v", when, got, want)
			}
		}
		send(200)
		expect("all have come", admission.Stats{Running: 32, Waiting: 168, Admitted: 32})
		end(48)
		expect("half as many again as run let pass", admission.Stats{Running: 32, Waiting: 120, Admitted: 80})
		end(32)
		expect("the rest is late", admission.Stats{Running: 2, Waiting: 118, Admitted: 82})
		send(40)
		expect("who comes finds the other places free", admission.Stats{Running: 32, Waiting: 128, Admitted: 112})
		end(32 + 10)
		expect("and is served before the late", admission.Stats{Running: 2, Waiting: 116, Admitted: 124})
		end(118)
		expect("in the end", admission.Stats{Admitted: 240})
	})
}

// stuck serves nothing until its channel is closed.
type stuck struct {
	until chan struct{}
	n     atomic.Int64
}

func (s *stuck) Serve(context.Context, *protocol.Request) protocol.Response {
	s.n.Add(1)
	<-s.until
	return protocol.Response{Status: 204}
}

// TestMaxWait: the handler refuses a request that waits too long, in the words of
// the service.
func TestMaxWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := wiretest.NewHandler(new(wiretest.Clock))
		s := &stuck{until: make(chan struct{})}
		l := admission.New(s, admission.Options{Concurrent: 1, Reads: 1, MaxWait: 3 * time.Second, Account: h.AccountName, Refuse: h.Refuse})
		send := func() protocol.Response {
			return l.Serve(t.Context(), &protocol.Request{
				Method: "GET", Target: "/devstoreaccount1/Tables", Host: "127.0.0.1:10002", Scheme: "http", Header: protocol.Header{},
			})
		}
		go send()
		synctest.Wait()
		begin := time.Now()
		resp := send()
		if waited := time.Since(begin); waited != 3*time.Second {
			t.Errorf("waited %v", waited)
		}
		header := make(map[string]string)
		for _, f := range resp.Header {
			header[f.Name] = f.Value
		}
		if resp.Status != 503 || resp.Code != "ServerBusy" || header["Retry-After"] != "1" || !strings.Contains(string(resp.Body), "ServerBusy") {
			t.Errorf("refused with %d %v %s", resp.Status, resp.Header, resp.Body)
		}
		if resp.Refused != protocol.RefusedQueue || resp.Waited != 3*time.Second {
			t.Errorf("the summary says %q after %v", resp.Refused, resp.Waited)
		}
		if got, want := l.Stats(), (admission.Stats{Running: 1, Admitted: 1, Refused: 1}); got != want {
			t.Errorf("stats are %+v, want %+v", got, want)
		}
		close(s.until)
	})
}

// TestGone: who does not wait any longer is out of the line, and the next is not
// delayed by it.
func TestGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &stuck{until: make(chan struct{})}
		l := admission.New(s, admission.Options{Concurrent: 1, Account: account, Refuse: refuse})
		ctx, cancel := context.WithCancel(t.Context())
		var statuses []int
		send := func(ctx context.Context) {
			status := l.Serve(ctx, &protocol.Request{}).Status
			statuses = append(statuses, status)
		}
		go send(t.Context())
		synctest.Wait()
		go send(ctx)
		synctest.Wait()
		go send(t.Context())
		synctest.Wait()
		cancel()
		synctest.Wait()
		if got, want := l.Stats(), (admission.Stats{Running: 1, Waiting: 1, Admitted: 1, Gone: 1}); got != want {
			t.Errorf("stats are %+v, want %+v", got, want)
		}
		if len(statuses) != 1 || statuses[0] != 503 || s.n.Load() != 1 {
			t.Errorf("answered %v, %d served", statuses, s.n.Load())
		}
		s.until <- struct{}{}
		synctest.Wait()
		s.until <- struct{}{}
		synctest.Wait()
		if got, want := l.Stats(), (admission.Stats{Admitted: 2, Gone: 1}); got != want {
			t.Errorf("stats are %+v, want %+v", got, want)
		}
	})
}
