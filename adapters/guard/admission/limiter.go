package admission

import (
	"context"
	"runtime"
	"sync"
	"time"

	"edgetable/core/protocol"
	"edgetable/core/table"
)

// Protocol serves the requests. *protocol.Handler is one.
type Protocol interface {
	Serve(ctx context.Context, req *protocol.Request) protocol.Response
}

// Options configure a [Limiter].
type Options struct {
	// Concurrent is the number of requests at work that may write; 0 is 64. They
	// wait for the disk, and one sync of the disk serves many of them.
	Concurrent int
	// Reads is the number of requests at work that only read; 0 is four for each
	// processor. They use a processor, and sometimes wait for the disk.
	Reads int
	// Queue is the number of requests of each kind that may wait; 0 is
	// 64 × Concurrent, and a negative number is none.
	Queue int
	// MaxWait is the longest wait, after which a request is refused; 0 is one
	// second.
	MaxWait time.Duration
	// Account returns the account whose share a request takes, or "" if it is
	// unknown. It is called only for requests that wait.
	Account func(*protocol.Request) string
	// Refuse makes the response to a request that is not served.
	Refuse func(*protocol.Request, *table.Error) protocol.Response
}

// spare is the divisor of Concurrent that gives the number of places for late
// requests. Even during a rush there are moments with late requests only. If they
// filled all places, the next request that is not late would have to wait.
const spare = 16

// Limiter is a Protocol in front of a Protocol. It is safe for concurrent use.
type Limiter struct {
	next          Protocol
	refuse        func(*protocol.Request, *table.Error) protocol.Response
	writes, reads places
}

// places holds the requests of one kind at work, and the queue for them.
type places struct {
	Options
	mu    sync.Mutex
	queue queue
	late  int // number of requests at work that were late
	stats Stats
}

// Stats are what a Limiter counts. Every request adds one to Admitted, Refused or
// Gone, and one more after it waited for its body.
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
	if o.Reads <= 0 {
		o.Reads = 4 * runtime.GOMAXPROCS(0)
	}
	if o.Queue == 0 {
		o.Queue = 64 * o.Concurrent
	}
	if o.MaxWait <= 0 {
		o.MaxWait = time.Second
	}
	l := &Limiter{next: next, refuse: o.Refuse}
	l.writes.open(o)
	o.Concurrent = o.Reads
	l.reads.open(o)
	return l
}

func (p *places) open(o Options) {
	p.Options = o
	p.queue.lines = make(map[string]*line)
}

// of returns the places for a request. Only GET and HEAD are sure not to write.
func (l *Limiter) of(req *protocol.Request) *places {
	if req.Method == "GET" || req.Method == "HEAD" {
		return &l.reads
	}
	return &l.writes
}

// Serve serves a request when its turn comes. If ctx ends before that, or the wait
// is too long, the answer is ServerBusy, and nothing was done.
func (l *Limiter) Serve(ctx context.Context, req *protocol.Request) protocol.Response {
	p := l.of(req)
	if p.enter() {
		return l.serve(ctx, req, &visit{places: p, turn: inTime})
	}
	begin := time.Now()
	t := p.wait(ctx, req)
	waited := time.Since(begin)
	if t == refused {
		resp := l.refuse(req, table.ServerBusy.Err())
		resp.Refused, resp.Waited = protocol.RefusedQueue, waited
		return resp
	}
	return l.serve(ctx, req, &visit{places: p, turn: t, waited: waited})
}

// serve serves a request that has a place.
func (l *Limiter) serve(ctx context.Context, req *protocol.Request, v *visit) protocol.Response {
	defer v.leave()
	if !arrived(req.Body) {
		v.ctx, v.req, v.Reader = ctx, req, req.Body
		with := *req
		with.Body = v
		req = &with
	}
	resp := l.next.Serve(ctx, req)
	resp.Waited = v.waited
	if v.busy {
		resp.Refused = protocol.RefusedQueue
	}
	return resp
}

// Stats are the counters as of now.
func (l *Limiter) Stats() Stats {
	w, r := l.ByKind()
	return Stats{
		Running: w.Running + r.Running, Waiting: w.Waiting + r.Waiting,
		Admitted: w.Admitted + r.Admitted, Refused: w.Refused + r.Refused, Gone: w.Gone + r.Gone,
	}
}

// ByKind returns the counters of requests that may write, and of those that only
// read.
func (l *Limiter) ByKind() (writes, reads Stats) { return l.writes.count(), l.reads.count() }

// Places returns the largest number of requests of each kind at work.
func (l *Limiter) Places() (writes, reads int) { return l.writes.Concurrent, l.reads.Concurrent }

func (p *places) count() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Waiting = p.queue.waiting
	return s
}

// admit waits for a place if there is none.
func (p *places) admit(ctx context.Context, req *protocol.Request) turn {
	if p.enter() {
		return inTime
	}
	return p.wait(ctx, req)
}

// enter admits a request if there is a free place. It passes no request that is not
// late, because none of those waits while a place is free.
func (p *places) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stats.Running == p.Concurrent {
		return false
	}
	p.stats.Running++
	p.stats.Admitted++
	return true
}

// leave gives the place of a served request to the next request.
func (p *places) leave(t turn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t == late {
		p.late--
	}
	p.stats.Running--
	if p.queue.waiting == 0 {
		return
	}
	w, t := p.queue.pop(p.overdue()), inTime
	if w == nil && p.late < max(1, p.Concurrent/spare) {
		w, t = p.queue.popLate(), late
		p.late++
	}
	if w != nil {
		p.stats.Running++
		p.stats.Admitted++
		w.turn <- t
	}
}

// wait returns how the request was admitted in the end, or refused.
func (p *places) wait(ctx context.Context, req *protocol.Request) turn {
	account := p.Account(req)
	p.mu.Lock()
	if p.stats.Running < p.Concurrent { // others may have ended
		p.stats.Running++
		p.stats.Admitted++
		p.mu.Unlock()
		return inTime
	}
	if p.queue.waiting >= p.Queue && !p.displace(account) {
		p.stats.Refused++
		p.mu.Unlock()
		return refused
	}
	w := &waiter{turn: make(chan turn, 1), came: int64(p.stats.Admitted)}
	p.queue.push(account, w)
	p.mu.Unlock()

	timer := time.NewTimer(p.MaxWait)
	defer timer.Stop()
	select {
	case t := <-w.turn:
		return t
	case <-timer.C:
		return p.giveUp(w, &p.stats.Refused)
	case <-ctx.Done():
		return p.giveUp(w, &p.stats.Gone)
	}
}

// giveUp removes a request from its line and counts it. If its turn came at the same
// moment, giveUp returns that turn.
func (p *places) giveUp(w *waiter, counter *uint64) turn {
	p.mu.Lock()
	if w.line == nil {
		p.mu.Unlock()
		return <-w.turn
	}
	p.queue.remove(w)
	*counter++
	p.mu.Unlock()
	return refused
}

// displace refuses a waiting request to make room for one of this account, and
// reports whether it did. The request is of the longest line, or a late one of the
// account's own line if no line is longer.
func (p *places) displace(account string) bool {
	own, from, n := p.queue.lines[account], p.queue.longest(), 0
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
	if from.first.came <= p.overdue() {
		w = from.first
	} else if !longer {
		return false
	}
	p.queue.remove(w)
	p.stats.Refused++
	w.turn <- refused
	return true
}

// overdue returns the number of admissions before which a request must have come to
// be late now: 1½ × Concurrent ago. With many accounts two turns of each take
// longer, and no request is late before those.
func (p *places) overdue() int64 {
	return int64(p.stats.Admitted) - int64(max(p.Concurrent*3/2, len(p.queue.lines)*2))
}
