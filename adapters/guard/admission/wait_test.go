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

// TestLate checks the order of waiting requests. A request becomes late after many others of its account have
// started. Requests in time, even if they have just arrived, must be served before late requests. In the end,
// all requests must be served.
func TestLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		s := stepHandler{next: make(chan struct{}), log: &log}
		l := limited(s, admission.Options{Concurrent: 32, MaxWait: time.Hour})
		send := func(n int, name string) {
			for range n {
				go l.Serve(t.Context(), &protocol.Request{Target: name})
				synctest.Wait()
			}
		}
		end := func(n int) (served string) {
			log.Reset()
			for range n {
				s.next <- struct{}{}
				synctest.Wait()
			}
			return log.String()
		}
		send(200, "a")
		if got, want := l.Stats(), (admission.Stats{Running: 32, Waiting: 168, Admitted: 32}); got != want {
			t.Fatalf("%+v, want %+v", got, want)
		}
		end(48) // a request is late if 48 requests (1½ times the 32 slots) of its account have started while it waited
		send(10, "b")
		if got := end(12); got != strings.Repeat(" b", 10)+" a a" {
			t.Errorf("served%s: the late did not wait", got)
		}
		end(150)
		if got, want := l.Stats(), (admission.Stats{Admitted: 210}); got != want {
			t.Errorf("in the end %+v, want %+v", got, want)
		}
	})
}

// stuck is a handler that serves no request until its channel is closed.
type stuck struct {
	until chan struct{}
	n     atomic.Int64
}

func (s *stuck) Serve(context.Context, *protocol.Request) protocol.Response {
	s.n.Add(1)
	<-s.until
	return protocol.Response{Status: 204}
}

// TestMaxWait checks that a request that waits too long is refused with the service's own error.
func TestMaxWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := wiretest.NewHandler(new(wiretest.Clock))
		l := admission.New(h, admission.Options{Concurrent: 1, MaxReads: 1, MaxWait: 3 * time.Second})
		other := takeTurn(l, t.Context(), protocol.Work{Payer: "other", IsAccount: true})
		begin := time.Now()
		resp := l.Serve(t.Context(), signed(t, "GET /devstoreaccount1/Tables HTTP/1.1\nAccept: application/json\n\n"))
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
		other.End(1)
	})
}

// TestGone checks that a canceled request no longer waits, and that it does not delay the next one.
func TestGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &stuck{until: make(chan struct{})}
		l := limited(s, admission.Options{Concurrent: 1})
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
		if got, want := l.Stats(), (admission.Stats{Running: 1, Waiting: 1, Admitted: 1, Canceled: 1}); got != want {
			t.Errorf("stats are %+v, want %+v", got, want)
		}
		if len(statuses) != 1 || statuses[0] != 503 || s.n.Load() != 1 {
			t.Errorf("answered %v, %d served", statuses, s.n.Load())
		}
		s.until <- struct{}{}
		synctest.Wait()
		s.until <- struct{}{}
		synctest.Wait()
		if got, want := l.Stats(), (admission.Stats{Admitted: 2, Canceled: 1}); got != want {
			t.Errorf("stats are %+v, want %+v", got, want)
		}
	})
}
