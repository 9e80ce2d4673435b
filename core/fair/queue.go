package fair

import "strings"

// Queue holds the requests that wait for slots of one kind, and the charges of their payers. The zero Queue is empty.
// It is not safe for concurrent use.
type Queue[T any] struct {
	payers  map[string]*payer[T]
	order   heap[T]
	waiting int
	begun   int64 // previous value of payer.since
	clock   int64 // highest value of payer.charged when a request started
}

type payer[T any] struct {
	name     string
	charged  int64 // total charge, including estimates for running requests
	estimate int64 // estimated cost of the next request: the cost of the last request that ended
	admitted int64
	atWork   int
	line     line[T]
	index    int   // index in the heap, from 1; 0 if no request is waiting
	since    int64 // number that determines the order among payers with equal charges
}

// Turn is a running request.
type Turn[T any] struct {
	payer    *payer[T]
	estimate int64 // amount already charged for the request
}

// maxIdle is the number of payers at which the queue begins to remove payers without requests.
const maxIdle = 4096

// Waiting returns the number of waiting requests.
func (q *Queue[T]) Waiting() int { return q.waiting }

// Enter starts a request of the named payer without queueing it.
func (q *Queue[T]) Enter(name string) Turn[T] { return q.begin(q.payer(name)) }

// Push adds a request of the named payer to the queue.
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

// Pop removes the next request from the queue and starts it, or returns nil if the queue is empty. The parameter slots
// is the number of requests that can run at once.
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

// First reports whether a new request of the named payer may start before all waiting requests, because no waiting
// payer has a lower charge.
func (q *Queue[T]) First(name string) bool {
	return q.waiting == 0 || q.payer(name).charged <= q.order[0].charged
}

// Remove removes a waiting request from the queue without starting it.
func (q *Queue[T]) Remove(w *Waiter[T]) {
	p := w.payer
	p.line.remove(w)
	q.waiting--
	if p.line.n == 0 {
		q.order.remove(p)
	}
}

// Leave ends a running request and charges its actual cost to its payer.
func (q *Queue[T]) Leave(t Turn[T], cost int64) {
	p := t.payer
	p.atWork--
	p.estimate = max(cost, 1)
	p.charged += p.estimate - t.estimate
	if p.index > 0 {
		q.order.fix(p)
	}
}

// Displace makes room in a full queue for a new request of the named payer. It removes and returns a waiting request,
// or returns nil if the new request should be refused.
func (q *Queue[T]) Displace(name string, slots int) *Waiter[T] {
	own, from, n := q.payers[name], q.longest(), 0
	if own != nil {
		n = own.line.n
	}
	// Remove a request of the payer with the longest line. If the line of the named payer would be as long after it
	// adds the new request, remove only a late request of the named payer.
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

// longest returns the payer with the most waiting requests. It examines all waiting payers and is called only when the
// queue is full.
func (q *Queue[T]) longest() (longest *payer[T]) {
	for _, p := range q.order {
		if longest == nil || p.line.n > longest.line.n || p.line.n == longest.line.n && p.name < longest.name {
			longest = p
		}
	}
	return longest
}

// lateAfter returns the number of other requests of a payer that must start before a waiting request is late.
func (q *Queue[T]) lateAfter(slots int) int64 {
	return max(1, int64(slots)*3/2/int64(max(1, len(q.order))))
}

// payer returns the payer with the given name, creating it if necessary. The charge of a payer without waiting requests
// is raised to q.clock, so that it earns no credit while idle.
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

// turnOf puts a payer last among payers with the same charge. It is called when a request of the payer starts or joins
// the queue.
func (q *Queue[T]) turnOf(p *payer[T]) {
	q.begun++
	p.since = q.begun
}

// sweep removes payers without requests if there are too many payers. Payers without a debt are removed first.
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
