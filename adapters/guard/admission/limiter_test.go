package admission_test

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"edgetable/adapters/guard/admission"
	"edgetable/core/protocol"
)

// stepHandler answers one request for each element that it receives from its channel.
type stepHandler struct {
	next chan struct{}
	log  *strings.Builder // targets of the requests in order; a ! precedes the target of a refused request
}

func (s stepHandler) Serve(_ context.Context, req *protocol.Request) protocol.Response {
	s.log.WriteString(" " + req.Target)
	<-s.next
	return protocol.Response{Status: 204}
}

// TestOrder sends all requests before the first response. The handler then answers the requests one after the other.
// The name of a request is a letter for its account, and a number.
func TestOrder(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		why        string
		queue      int
		send, want string
		concurrent int
	}{
		{"what comes while there is room does not wait", 10, "a1 a2", "a1 a2", 2},
		{"one account waits in the order it came", 10, "a1 a2 a3 a4 a5", "a1 a2 a3 a4 a5", 2},
		{"accounts take turns, and who has a slot is not the first", 10, "a1 a2 a3 a4 b1 c1 b2 c2", "a1 a2 b1 c1 a3 b2 c2 a4", 2},
		{"accounts of which nothing is known are one account", 10, "a1 a2 ?1 ?2 b1 a3", "a1 a2 ?1 b1 a3 ?2", 2},
		{"who let half as many again pass as run at once is late: then the newest is first", 10,
			"a1 a2 a3 a4 a5 a6 a7 a8", "a1 a2 a3 a4 a5 a8 a7 a6", 2},
		{"the only request of an account is never late", 10, "a1 a2 b1 c1 d1 e1", "a1 b1 c1 d1 e1 a2", 1},
		{"in time goes before late, whose account it is", 10, "a1 a2 a3 a4 a5 a6 a7 a8 . . . . b1", "a1 a2 a3 a4 a5 a8 b1 a7 a6", 2},
		{"who comes again is in time again", 10, "a1 a2 a3 a4 a5 a6 a7 . . . a8", "a1 a2 a3 a4 a5 a8 a7 a6", 2},
		{"in a full queue the one that comes is refused if its line is as long as any", 2, "a1 a2 a3 a4", "a1 !a4 a2 a3", 1},
		{"in a full queue the longest line gives way to a shorter, with its newest", 3, "a1 a2 a3 a4 b1", "a1 !a4 b1 a2 a3", 1},
		{"but not to one that would then be the longer", 2, "a1 a2 a3 b1 b2", "a1 !a3 !b2 b1 a2", 1},
		{"nor to one that would take its only slot", 1, "a1 a2 b1", "a1 !b1 a2", 1},
		{"a late request gives way to one in time of its own account", 4,
			"a1 a2 a3 a4 a5 a6 . . . a7 a8 a9 a10", "a1 a2 a3 a4 a5 !a6 a7 a8 a9 a10", 2},
		{"nobody waits where there is no queue", -1, "a1 a2 b1", "a1 !a2 !b1", 1},
	} {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var log strings.Builder
				s := stepHandler{next: make(chan struct{}), log: &log}
				l := limited(s, admission.Options{Concurrent: tt.concurrent, Queue: tt.queue, MaxWait: time.Hour})
				for _, name := range strings.Fields(tt.send) {
					if name == "." {
						s.next <- struct{}{}
						synctest.Wait()
						continue
					}
					go func() {
						if l.Serve(t.Context(), &protocol.Request{Target: name, Host: strings.Trim(name[:1], "?")}).Status == 503 {
							log.WriteString(" !" + name)
						}
					}()
					synctest.Wait()
				}
				for l.Stats().Running > 0 {
					s.next <- struct{}{}
					synctest.Wait()
				}
				if got := log.String()[1:]; got != tt.want {
					t.Errorf("got %s, want %s", got, tt.want)
				}
				if got := l.Stats(); got.Waiting != 0 || int(got.Refused) != strings.Count(tt.want, "!") ||
					int(got.Admitted+got.Refused) != len(strings.Fields(tt.want)) {
					t.Errorf("stats are %+v after %s", got, tt.want)
				}
			})
		})
	}
}

type broken struct{}

func (broken) Serve(context.Context, *protocol.Request) protocol.Response { panic("broken") }

// TestPanic checks that a request that panics releases its slot.
func TestPanic(t *testing.T) {
	t.Parallel()
	l := limited(broken{}, admission.Options{Concurrent: 1})
	for range 3 {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was lost")
				}
			}()
			l.Serve(t.Context(), &protocol.Request{})
		}()
	}
	if got, want := l.Stats(), (admission.Stats{Admitted: 3}); got != want {
		t.Errorf("stats are %+v, want %+v", got, want)
	}
}

// countingHandler fails the test if it serves more than limit requests at the same time.
type countingHandler struct {
	t          *testing.T
	limit      int64
	now, total atomic.Int64
}

func (c *countingHandler) Serve(context.Context, *protocol.Request) protocol.Response {
	if n := c.now.Add(1); n > c.limit {
		c.t.Errorf("%d at once", n)
	}
	for range 5 {
		runtime.Gosched() // lets other requests run, so that they begin to wait
	}
	c.total.Add(1)
	c.now.Add(-1)
	return protocol.Response{Status: 204}
}

// TestRace has many goroutines send requests, wait and cancel at the same time.
func TestRace(t *testing.T) {
	t.Parallel()
	c := &countingHandler{t: t, limit: 3}
	l := limited(c, admission.Options{Concurrent: 3, Queue: 20, MaxWait: 50 * time.Microsecond})
	var wg sync.WaitGroup
	var done, busy atomic.Int64
	for g := range 40 {
		wg.Go(func() {
			for i := range 500 {
				ctx, cancel := context.WithCancel(t.Context())
				if (g+i)%4 == 0 { // the request is canceled before, while or after it waits for a slot
					wg.Go(cancel)
				}
				switch l.Serve(ctx, &protocol.Request{Host: "abcdefgh"[g%8 : g%8+1]}).Status {
				case 204:
					done.Add(1)
				case 503:
					busy.Add(1)
				}
				cancel()
			}
		})
	}
	wg.Wait()
	s := l.Stats()
	if s.Running != 0 || s.Waiting != 0 || int64(s.Admitted) != done.Load() || done.Load() != c.total.Load() ||
		int64(s.Refused+s.Canceled) != busy.Load() || done.Load()+busy.Load() != 40*500 {
		t.Errorf("%d served, %d answered, %d busy: %+v", c.total.Load(), done.Load(), busy.Load(), s)
	}
	if s.Refused == 0 || s.Canceled == 0 {
		t.Errorf("nobody was refused, or nobody gave up: %+v", s)
	}
}

// TestReads checks that requests that only read have separate slots.
func TestReads(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		why    string
		reads  int
		send   string
		served admission.Stats // expected counters before any request is answered
	}{
		{"few reads beside many writes", 1, "GET GET HEAD PUT MERGE POST", admission.Stats{Running: 3, Waiting: 3, Admitted: 3}},
		{"few writes beside many reads", 3, "GET HEAD GET PUT PUT DELETE", admission.Stats{Running: 5, Waiting: 1, Admitted: 5}},
		{"some for each processor if not said", 0, "GET GET GET GET", admission.Stats{Running: 4, Admitted: 4}},
		{"an unknown method may write", 5, "get PATCH OPTIONS", admission.Stats{Running: 2, Waiting: 1, Admitted: 2}},
	} {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var log strings.Builder
				s := stepHandler{next: make(chan struct{}), log: &log}
				l := limited(s, admission.Options{Concurrent: 2, MaxReads: tt.reads, MaxWait: time.Hour})
				for _, method := range strings.Fields(tt.send) {
					go l.Serve(t.Context(), &protocol.Request{Method: method})
					synctest.Wait()
				}
				if got := l.Stats(); got != tt.served {
					t.Errorf("stats are %+v, want %+v", got, tt.served)
				}
				for l.Stats().Running > 0 {
					s.next <- struct{}{}
					synctest.Wait()
				}
				if got, want := l.Stats(), (admission.Stats{Admitted: uint64(len(strings.Fields(tt.send)))}); got != want {
					t.Errorf("in the end, stats are %+v, want %+v", got, want)
				}
			})
		})
	}
}
