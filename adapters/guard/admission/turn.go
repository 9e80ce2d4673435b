package admission

import (
	"context"
	"sync"
	"time"

	"edgetable/core/fair"
	"edgetable/core/protocol"
)

const (
	// slice is the cost after which a query must let other requests run: a quarter of a millisecond.
	slice = 250_000
	// largeQuery is the minimum mean cost of an account's last queries for its next query to count as large.
	largeQuery = 2 * slice
	// largeWrite is the minimum cost of a large write: the cost of a body of 256 KiB. Smaller writes need no separate
	// slots, because many of them share one sync of the disk.
	largeWrite = 10 * (256 << 10)
)

type turn struct {
	limiter *Limiter
	payer   string
	query   bool
	large   bool // the query was still running at its first pause while several accounts were active
	kind    kind
	at      fair.Turn[chan bool]
	began   time.Time
	paid    int64 // cost that was charged when earlier slots were released
	until   int64 // cost at which the query must next let other requests run
}

var turns = sync.Pool{New: func() any { return new(turn) }}

// Begin implements protocol.Turns.
func (l *Limiter) Begin(ctx context.Context, w protocol.Work) (protocol.Turn, time.Duration) {
	now := time.Now()
	l.mu.Lock()
	k := l.choose(w, now)
	p := &l.kinds[k]
	var at fair.Turn[chan bool]
	var waited time.Duration
	if l.canStart(k) {
		p.Running++
		p.Admitted++
		at = p.queue.Enter(w.Payer)
		l.mu.Unlock()
	} else {
		var ok bool
		at, ok = l.wait(ctx, k, w.Payer)
		waited = time.Since(now)
		l.mu.Lock()
		switch {
		case ok:
			p.Admitted++
		case ctx.Err() != nil:
			p.Canceled++
		default:
			p.Refused++
		}
		l.mu.Unlock()
		if !ok {
			return nil, waited
		}
	}
	t := turns.Get().(*turn)
	*t = turn{limiter: l, payer: w.Payer, query: w.Query && w.IsAccount, kind: k, at: at, until: slice, began: now.Add(waited)}
	return t, waited
}

// choose returns the kind of slot that a request needs.
func (l *Limiter) choose(w protocol.Work, now time.Time) kind {
	several := false
	if w.IsAccount {
		l.active.recordRequest(w.Payer, now)
		several = l.active.severalActive(now)
	}
	switch {
	case several && (w.Write && w.Cost >= largeWrite || w.Query && l.costs[w.Payer] >= largeQuery):
		return large
	case w.Write:
		return writes
	}
	return reads
}

// Pause implements protocol.Turn.
func (t *turn) Pause(ctx context.Context, cost int64) (end bool) {
	if cost < t.until {
		return false
	}
	if t.kind == none {
		return true
	}
	t.until = cost + slice
	l, now := t.limiter, time.Now()
	l.mu.Lock()
	l.active.recordRequest(t.payer, now)
	if !l.active.severalActive(now) {
		l.next(large) // Only one account is active now, so its large requests may use more slots.
		l.mu.Unlock()
		return false
	}
	t.large = true
	from, p := t.releaseSlot(cost), &l.kinds[large]
	if from != large {
		l.next(from)
	}
	if p.Running < l.limit(large) && p.queue.First(t.payer) {
		p.Running++
		t.kind, t.at = large, p.queue.Enter(t.payer)
		l.mu.Unlock()
		yield()
		return false
	}
	l.next(large)
	if l.paused >= l.MaxReads { // each paused query occupies memory and a snapshot, so their number is limited
		l.mu.Unlock()
		return true
	}
	l.paused++
	at, ok := l.wait(ctx, large, t.payer)
	l.mu.Lock()
	l.paused--
	l.mu.Unlock()
	if ok {
		t.kind, t.at = large, at
	}
	return !ok
}

// End implements protocol.Turn.
func (t *turn) End(cost int64) {
	l := t.limiter
	l.mu.Lock()
	switch k := t.kind; {
	case k == none:
	case k == large && !t.query && l.active.severalActive(time.Now()):
		t.releaseSlot(cost)
		l.reserveLarge(min(time.Since(t.began), activePeriod)) // the duration is limited, because much of it may have been a wait for a slow disk
	default:
		l.next(t.releaseSlot(cost))
	}
	if t.query {
		if t.large { // a large query that ended its page early may have had a low cost
			cost = max(cost, 2*largeQuery)
		}
		l.costs[t.payer] = (3*l.costs[t.payer] + cost) / 4
	}
	l.mu.Unlock()
	*t = turn{}
	turns.Put(t)
}

// reserveLarge is called after a large write, with the duration d of the write. It blocks one slot for large requests
// for the same time. The write could not pause for small requests, so the small requests get the CPU now. mu must be
// held.
func (l *Limiter) reserveLarge(d time.Duration) {
	l.kinds[large].Running++
	time.AfterFunc(d, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.kinds[large].Running--
		l.next(large)
	})
}

// releaseSlot charges the cost, releases the slot and returns the kind of the slot. The Limiter's mu must be held.
func (t *turn) releaseSlot(cost int64) (from kind) {
	from, t.kind = t.kind, none
	p := &t.limiter.kinds[from]
	p.Running--
	p.queue.Leave(t.at, cost-t.paid)
	t.paid = cost
	return from
}

// active contains the accounts of the latest requests, to find out whether several accounts are active.
type active struct {
	last, other     string // the two accounts with the most recent requests; last is the account of the latest request
	lastAt, otherAt time.Time
}

// activePeriod is how long an account counts as active after its last request.
const activePeriod = 100 * time.Millisecond

func (a *active) recordRequest(account string, now time.Time) {
	if account != a.last {
		a.other, a.otherAt = a.last, a.lastAt
		a.last = account
	}
	a.lastAt = now
}

func (a *active) severalActive(now time.Time) bool {
	return a.other != "" && now.Sub(a.otherAt) < activePeriod && now.Sub(a.lastAt) < activePeriod
}
