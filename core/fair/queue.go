package fair

import "strings"

// Queue holds the requests that wait for slots of one kind, and the charges of their payers. The zero Queue is empty.
// A Queue is not safe for concurrent use.
type Queue[T any] struct {
	payers  map[string]*payer[T]
	order   heap[T] // the payers with waiting requests
	waiting int
	begun   int64 // number of changes of payer.since, which get ascending numbers
	clock   int64 // highest charge that a payer had when one of its requests started
}

// payer holds the charge and the waiting requests of one payer.
type payer[T any] struct {
	name     string
	charged  int64 // total charge, including the estimates for running requests
	estimate int64 // expected cost of the next request: the cost of the previous one
	admitted int64
	atWork   int
	line     line[T]
	index    int   // index in the heap, from 1; 0 if the payer has no waiting requests
	since    int64 // order among payers with equal charges: the value of Queue.begun when the payer last started a request or entered the heap
}

// Turn is a running request.
type Turn[T any] struct {
	payer    *payer[T]
	estimate int64 // the charge for this request so far
}

// maxIdle is the number of payers at which the queue begins to forget payers without requests.
const maxIdle = 4096

// Waiting returns the number of waiting requests.
func (q *Queue[T]) Waiting() int { return q.waiting }

// Enter starts a request of the named payer at once, without queueing it.
func (q *Queue[T]) Enter(name string) Turn[T] { return q.begin(q.payer(name)) }

// Push adds a waiting request of the named payer.
func (q *Queue[T]) Push(name string, w *Waiter[T]) {
	p := q.payer(name)
	w.came = p.admitted
	p.line.push(p, w)
	q.waiting++
	if p.index == 0 {
		q.turnOf(p)
		q.order.add(p)
	}
}

// Pop removes the next request from the queue and starts it; it returns nil if none waits. The number of slots
// decides which requests are late.
func (q *Queue[T]) Pop(slots int) *Waiter[T] {
	if q.waiting == 0 {
		return nil
	}
	p := q.order[0]
	w := p.line.next(p.admitted - q.lateAfter(slots))
	w.Turn = q.begin(p)
	q.Remove(w)
	return w
}

// First reports whether the named payer may start a new request before all waiting ones: no waiting payer has a lower
// charge.
func (q *Queue[T]) First(name string) bool {
	return q.waiting == 0 || q.payer(name).charged <= q.order[0].charged
}

// Remove removes a waiting request that will not be served.
func (q *Queue[T]) Remove(w *Waiter[T]) {
	p := w.payer
	p.line.remove(w)
	q.waiting--
	if p.line.n == 0 {
		q.order.remove(p)
	}
}

// Leave ends a running request and charges its payer the actual cost.
func (q *Queue[T]) Leave(t Turn[T], cost int64) {
	p := t.payer
	p.atWork--
	p.estimate = max(cost, 1)
	p.charged += p.estimate - t.estimate
	if p.index > 0 {
		q.order.fix(p)
	}
}

// Displace removes and returns a waiting request to make room for a new request of the named payer. If the new
// request should be refused instead, it returns nil. It takes the request from the longest line or, if no line is
// longer than the payer's own, a late request from the payer's own line.
func (q *Queue[T]) Displace(name string, slots int) *Waiter[T] {
	own, from, n := q.payers[name], q.longest(), 0
	if own != nil {
		n = own.line.n
	}
	longer := from != nil && from.line.n > n+1
	if !longer {
		from = own
	}
	if from == nil || from.line.n == 0 {
		return nil
	}
	w := from.line.last
	if first := from.line.first; first.came <= from.admitted-q.lateAfter(slots) {
		w = first
	} else if !longer {
		return nil
	}
	q.Remove(w)
	return w
}

// longest returns the payer with the longest line. It examines every waiting payer, and is called only when the queue
// is full.
func (q *Queue[T]) longest() (longest *payer[T]) {
	for _, p := range q.order {
		if longest == nil || p.line.n > longest.line.n || p.line.n == longest.line.n && p.name < longest.name {
			longest = p
		}
	}
	return longest
}

// lateAfter returns a number N: a waiting request is late once N other requests of its payer have started.
func (q *Queue[T]) lateAfter(slots int) int64 {
	return max(1, int64(slots)*3/2/int64(max(1, len(q.order))))
}

// payer returns the payer with this name. If the payer has no waiting requests, its charge is raised to the current
// level, so that it gets no credit for idle time.
func (q *Queue[T]) payer(name string) *payer[T] {
	p := q.payers[name]
	if p == nil {
		q.sweep()
		p = &payer[T]{name: strings.Clone(name), estimate: 1}
		q.payers[p.name] = p
	}
	if p.line.n == 0 {
		p.charged = max(p.charged, q.clock)
	}
	return p
}

// begin starts a request of the payer and charges the estimated cost.
func (q *Queue[T]) begin(p *payer[T]) Turn[T] {
	q.clock = max(q.clock, p.charged)
	p.charged += p.estimate
	p.atWork++
	p.admitted++
	q.turnOf(p)
	if p.index > 0 {
		q.order.fix(p)
	}
	return Turn[T]{p, p.estimate}
}

// turnOf puts a payer after all others with an equal charge.
func (q *Queue[T]) turnOf(p *payer[T]) {
	q.begun++
	p.since = q.begun
}

// sweep forgets payers that have no requests when there are too many payers. It first forgets those without a debt.
func (q *Queue[T]) sweep() {
	if q.payers == nil {
		q.payers = make(map[string]*payer[T])
	}
	if len(q.payers) < maxIdle {
		return
	}
	for _, all := range []bool{false, true} {
		for name, p := range q.payers {
			if p.atWork == 0 && p.line.n == 0 && (all || p.charged <= q.clock) {
				delete(q.payers, name)
			}
		}
		if len(q.payers) < maxIdle/2 {
			return
		}
	}
}
