package admission

import (
	"cmp"
	"context"
	"runtime"
	"sync"
	"time"

	"edgetable/core/fair"
	"edgetable/core/protocol"
)

// Options configures a [Limiter].
type Options struct {
	// Concurrent is the maximum number of running requests that may write; 0 means 64. It can be high, because one sync
	// of the disk serves many writes.
	Concurrent int
	// MaxReads is the maximum number of running requests that only read; 0 means four per CPU.
	MaxReads int
	// MaxLarge is the maximum number of running large requests while several accounts are active; 0 means half the
	// number of CPUs, but at least one.
	MaxLarge int
	// Queue is the maximum number of waiting requests of each kind; 0 means 64 × Concurrent, and a negative number
	// means that no request may wait.
	Queue int
	// MaxWait is how long a request may wait before it is refused; 0 means one second.
	MaxWait time.Duration
}

// Limiter limits the running requests of a handler. It implements protocol.Turns. It is safe for concurrent use.
type Limiter struct {
	handler *protocol.Handler
	Options

	mu     sync.Mutex
	kinds  [kinds]slots
	active active
	costs  map[string]int64 // mean cost of the last queries of each account
	paused int              // number of queries that wait for their next slice
}

type kind uint8

const (
	writes kind = iota
	reads
	large
	kinds
	none // the query has no slot: it released its slot at a pause and did not get another slot
)

type slots struct {
	queue fair.Queue[chan bool]
	Stats
}

// Stats are the counters of a Limiter. Each request is counted exactly once: in Admitted, Refused or Canceled.
type Stats struct {
	Running, Waiting int    // current numbers of requests
	Admitted         uint64 // numbers of requests since the start
	Refused          uint64
	Canceled         uint64 // requests whose context ended while they waited
}

// New returns a Limiter and installs it as the handler's Turns.
func New(h *protocol.Handler, o Options) *Limiter {
	if o.Concurrent <= 0 {
		o.Concurrent = 64
	}
	if o.MaxReads <= 0 {
		o.MaxReads = 4 * runtime.GOMAXPROCS(0)
	}
	if o.MaxLarge <= 0 {
		o.MaxLarge = max(1, runtime.GOMAXPROCS(0)/2)
	}
	o.Queue = cmp.Or(o.Queue, 64*o.Concurrent)
	if o.MaxWait <= 0 {
		o.MaxWait = time.Second
	}
	l := &Limiter{handler: h, Options: o, costs: make(map[string]int64)}
	h.Turns = l
	return l
}

// Serve passes a request to the handler. It delays the refusal of a client that failed to sign in too often or has too
// many bytes in flight.
func (l *Limiter) Serve(ctx context.Context, req *protocol.Request) protocol.Response {
	resp := l.handler.Serve(ctx, req)
	if resp.Refused == protocol.RefusedFailures || resp.Refused == protocol.RefusedMemory {
		select {
		case <-time.After(detention):
		case <-ctx.Done():
		}
	}
	return resp
}

// detention is how long Serve delays a response. It equals the minimum value of Retry-After.
const detention = time.Second

// Kind describes a kind of slot.
type Kind struct {
	Name  string
	Slots int // current maximum number of running requests
	Stats
}

// Kinds returns the counters of writes, reads and large requests. A query that turns out to be large after its start is
// counted as an admitted read.
func (l *Limiter) Kinds() [3]Kind {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := [kinds]Kind{{Name: "write"}, {Name: "read"}, {Name: "large"}}
	for k := range kinds {
		p := &l.kinds[k]
		list[k].Slots, list[k].Stats = l.limit(k), p.Stats
		list[k].Waiting = p.queue.Waiting()
	}
	return list
}

// Stats returns the counters summed over all kinds.
func (l *Limiter) Stats() (sum Stats) {
	for _, k := range l.Kinds() {
		sum.Running += k.Running
		sum.Waiting += k.Waiting
		sum.Admitted += k.Admitted
		sum.Refused += k.Refused
		sum.Canceled += k.Canceled
	}
	return sum
}

func (l *Limiter) limit(k kind) int {
	switch {
	case k == writes:
		return l.Concurrent
	case k == reads:
		return l.MaxReads
	case l.active.severalActive(time.Now()):
		return l.MaxLarge
	}
	return max(l.Concurrent, l.MaxReads)
}

// canStart reports whether a request of a kind can start now without overtaking a waiting request.
func (l *Limiter) canStart(k kind) bool {
	p := &l.kinds[k]
	return p.queue.Waiting() == 0 && p.Running < l.limit(k)
}

// next grants the free slots of a kind to waiting requests.
func (l *Limiter) next(k kind) {
	p := &l.kinds[k]
	if p.queue.Waiting() == 0 {
		return
	}
	for n := l.limit(k); p.Running < n && p.queue.Waiting() > 0; {
		w := p.queue.Pop(n)
		p.Running++
		w.Value <- true
	}
}

// wait waits for a slot, and reports whether the request got one. l.mu must be held; wait releases it.
func (l *Limiter) wait(ctx context.Context, k kind, payer string) (at fair.Turn[chan bool], ok bool) {
	p := &l.kinds[k]
	if p.queue.Waiting() >= l.Queue {
		w := p.queue.Displace(payer, l.limit(k))
		if w == nil {
			l.mu.Unlock()
			return at, false
		}
		w.Value <- false
	}
	w := &fair.Waiter[chan bool]{Value: make(chan bool, 1)}
	p.queue.Push(payer, w)
	l.mu.Unlock()

	timer := time.NewTimer(l.MaxWait)
	defer timer.Stop()
	select {
	case ok = <-w.Value:
		return w.Turn, ok
	case <-timer.C:
	case <-ctx.Done():
	}
	l.mu.Lock()
	if w.Waits() {
		p.queue.Remove(w)
		l.mu.Unlock()
		return at, false
	}
	l.mu.Unlock() // the request was granted a slot, or was removed from the queue, just before the wait ended
	ok = <-w.Value
	return w.Turn, ok
}
