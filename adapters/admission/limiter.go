package admission

import (
	"context"
	"sync"
	"time"

	"edgetable/core/protocol"
	"edgetable/core/table"
)

// Protocol is what serves the requests; *protocol.Handler is one.
type Protocol interface {
	Serve(ctx context.Context, req *protocol.Request) protocol.Response
}

// Options of a [Limiter].
type Options struct {
	// Concurrent is how many requests are served at once; 0 is 64.
	Concurrent int
	// Queue is how many may wait; 0 is 64 × Concurrent, negative is none.
	Queue int
	// MaxWait is after how long a request that waits is refused; 0 is a second.
	MaxWait time.Duration
	// Account is whose share a request takes, "" if that is not known. It is
	// asked of requests that have to wait.
	Account func(*protocol.Request) string
	// Refuse makes the response to a request that is not served.
	Refuse func(*protocol.Request, *table.Error) protocol.Response
}

// spare is the part of Concurrent that late requests may take: there are moments
// without any other also in a rush, and if they filled them, their wait would be
// what clients see.
const spare = 16

// Limiter is a Protocol in front of a Protocol. It is safe for concurrent use.
type Limiter struct {
	next Protocol
	o    Options

	mu    sync.Mutex
	queue queue
	late  int // how many of those that run were late
	stats Stats
}

// Stats are what a Limiter counts. Every request adds one to Admitted, Refused or
// Gone.
type Stats struct {
	Running, Waiting int    // now
	Admitted         uint64 // since the beginning, as are the next two
	Refused          uint64
	Gone             uint64 // their context ended while they waited
}

// New puts a Limiter in front of next.
func New(next Protocol, o Options) *Limiter {
	if o.Concurrent <= 0 {
		o.Concurrent = 64
	}
	if o.Queue == 0 {
		o.Queue = 64 * o.Concurrent
	}
	if o.MaxWait <= 0 {
		o.MaxWait = time.Second
	}
	l := &Limiter{next: next, o: o}
	l.queue.lines = make(map[string]*line)
	return l
}

// Serve serves a request when its turn comes. If ctx ends before, or there is no
// turn for too long, the answer is ServerBusy, and nothing was done.
func (l *Limiter) Serve(ctx context.Context, req *protocol.Request) protocol.Response {
	t := inTime
	if !l.enter() {
		if t = l.wait(ctx, req); t == refused {
			return l.o.Refuse(req, table.ServerBusy.Err())
		}
	}
	defer l.leave(t)
	return l.next.Serve(ctx, req)
}

// Stats are the counters as of now.
func (l *Limiter) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.stats
	s.Waiting = l.queue.waiting
	return s
}

// enter admits a request if not too many are running. While any waits that is
// not late, all places are taken.
func (l *Limiter) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stats.Running == l.o.Concurrent {
		return false
	}
	l.stats.Running++
	l.stats.Admitted++
	return true
}

// leave gives the place of a request that was served to the next in turn.
func (l *Limiter) leave(t turn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t == late {
		l.late--
	}
	l.stats.Running--
	if l.queue.waiting == 0 {
		return
	}
	w, t := l.queue.pop(l.overdue()), inTime
	if w == nil && l.late < max(1, l.o.Concurrent/spare) {
		w, t = l.queue.popLate(), late
		l.late++
	}
	if w != nil {
		l.stats.Running++
		l.stats.Admitted++
		w.turn <- t
	}
}

// wait returns how the request was admitted in the end, or refused.
func (l *Limiter) wait(ctx context.Context, req *protocol.Request) turn {
	account := l.o.Account(req)
	l.mu.Lock()
	if l.stats.Running < l.o.Concurrent { // meanwhile
		l.stats.Running++
		l.stats.Admitted++
		l.mu.Unlock()
		return inTime
	}
	if l.queue.waiting >= l.o.Queue && !l.displace(account) {
		l.stats.Refused++
		l.mu.Unlock()
		return refused
	}
	w := &waiter{turn: make(chan turn, 1), came: int64(l.stats.Admitted)}
	l.queue.push(account, w)
	l.mu.Unlock()

	timer := time.NewTimer(l.o.MaxWait)
	defer timer.Stop()
	select {
	case t := <-w.turn:
		return t
	case <-timer.C:
		return l.giveUp(w, &l.stats.Refused)
	case <-ctx.Done():
		return l.giveUp(w, &l.stats.Gone)
	}
}

// giveUp takes a request out of its line and counts it, unless its turn came at
// the same moment: then it is as if it had come before.
func (l *Limiter) giveUp(w *waiter, counter *uint64) turn {
	l.mu.Lock()
	if w.line == nil {
		l.mu.Unlock()
		return <-w.turn
	}
	l.queue.remove(w)
	*counter++
	l.mu.Unlock()
	return refused
}

// displace refuses a request in line to make room for one of this account: of
// the longest line, or of the account's own, if that is as long and its first is
// late. It reports whether there was one.
func (l *Limiter) displace(account string) bool {
	own, from, n := l.queue.lines[account], l.queue.longest(), 0
	if own != nil {
		n = own.n
	}
	longer := from != nil && from.n > n+1
	if !longer {
		from = own
	}
	if from == nil {
		return false
	}
	w := from.last
	if from.first.came <= l.overdue() {
		w = from.first
	} else if !longer {
		return false
	}
	l.queue.remove(w)
	l.stats.Refused++
	w.turn <- refused
	return true
}

// overdue is the number of admissions at which those came that are late now: half
// as many again as run at once. With many accounts the turns alone take longer,
// and nobody is late for the length of two rounds.
func (l *Limiter) overdue() int64 {
	return int64(l.stats.Admitted) - int64(max(l.o.Concurrent*3/2, len(l.queue.lines)*2))
}
