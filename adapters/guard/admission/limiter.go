package admission

import (
	"context"
	"runtime"
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
	// Concurrent is how many requests are served at once that may write; 0 is
	// 64. They wait for the disk, which does many at once.
	Concurrent int
	// Reads is how many are served beside them that only read; 0 is four for
	// each processor. They work, and wait for the disk at times.
	Reads int
	// Queue is how many may wait, of either kind; 0 is 64 × Concurrent, negative
	// is none.
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
	next          Protocol
	refuse        func(*protocol.Request, *table.Error) protocol.Response
	writes, reads places
}

// places are those in which requests of one kind are served, and the queue for
// them.
type places struct {
	Options
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

// of are the places for a request. What is not known to read may write.
func (l *Limiter) of(req *protocol.Request) *places {
	if req.Method == "GET" || req.Method == "HEAD" {
		return &l.reads
	}
	return &l.writes
}

// Serve serves a request when its turn comes. If ctx ends before, or there is no
// turn for too long, the answer is ServerBusy, and nothing was done.
func (l *Limiter) Serve(ctx context.Context, req *protocol.Request) protocol.Response {
	p := l.of(req)
	if p.enter() {
		defer p.leave(inTime)
		return l.next.Serve(ctx, req)
	}
	begin := time.Now()
	t := p.wait(ctx, req)
	waited := time.Since(begin)
	if t == refused {
		resp := l.refuse(req, table.ServerBusy.Err())
		resp.Refused, resp.Waited = protocol.RefusedQueue, waited
		return resp
	}
	defer p.leave(t)
	resp := l.next.Serve(ctx, req)
	resp.Waited = waited
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

// Places returns how many requests of each kind are served at once, at most.
func (l *Limiter) Places() (writes, reads int) { return l.writes.Concurrent, l.reads.Concurrent }

func (p *places) count() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Waiting = p.queue.waiting
	return s
}

// enter admits a request if not too many are running. While any waits that is
// not late, all places are taken.
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

// leave gives the place of a request that was served to the next in turn.
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

// giveUp takes a request out of its line and counts it, unless its turn came at
// the same moment: then it is as if it had come before.
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

// displace refuses a request in line to make room for one of this account: of
// the longest line, or of the account's own, if that is as long and its first is
// late. It reports whether there was one.
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

// overdue is the number of admissions at which those came that are late now: half
// as many again as run at once. With many accounts the turns alone take longer,
// and no request is late before two rounds.
func (p *places) overdue() int64 {
	return int64(p.stats.Admitted) - int64(max(p.Concurrent*3/2, len(p.queue.lines)*2))
}
