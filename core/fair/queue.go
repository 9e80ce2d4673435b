package fair

import "strings"

// Queue holds the requests that wait for slots of one kind, and what each payer was
// charged. The zero Queue is empty. It is for one goroutine at a time.
type Queue[T any] struct {
	payers  map[string]*payer[T]
	order   heap[T] // the payers with waiting requests
	waiting int
	begun   int64 // counts, to give turns an order
	clock   int64 // what the payer of the last request that began had been charged before
}

// payer is somebody who has a request that waits or is at work, or was charged lately.
type payer[T any] struct {
	name     string
	charged  int64 // including the estimates of requests at work
	estimate int64 // of the cost of its next request: that of its last
	admitted int64
	atWork   int
	line     line[T]
	index    int   // in the heap, from 1; 0: nothing waits
	since    int64 // the count when it was added there, or was last served
}

// Turn is a request at work.
type Turn[T any] struct {
	payer    *payer[T]
	estimate int64 // what was charged for it so far
}

// maxIdle is the number of payers beyond which the queue forgets those that have nothing
// here.
const maxIdle = 4096

// Waiting returns the number of requests that wait.
func (q *Queue[T]) Waiting() int { return q.waiting }

// Enter begins a request without a wait.
func (q *Queue[T]) Enter(name string) Turn[T] { return q.begin(q.payer(name)) }

// Push adds a waiting request.
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

// Pop removes the request whose turn it is, and begins it. It returns nil if none waits.
// The number of slots decides which requests are late.
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

// First reports whether a request of a payer may begin although others wait, because it
// was charged no more than any that waits.
func (q *Queue[T]) First(name string) bool {
	return q.waiting == 0 || q.payer(name).charged <= q.order[0].charged
}

// Remove removes a waiting request.
func (q *Queue[T]) Remove(w *Waiter[T]) {
	p := w.payer
	p.line.remove(w)
	q.waiting--
	if p.line.n == 0 {
		q.order.remove(p)
	}
}

// Leave ends a request, and charges its payer what it has cost.
func (q *Queue[T]) Leave(t Turn[T], cost int64) {
	p := t.payer
	p.atWork--
	p.estimate = max(cost, 1)
	p.charged += p.estimate - t.estimate
	if p.index > 0 {
		q.order.fix(p)
	}
}

// Displace removes and returns a waiting request to make room for one of this payer, or
// returns nil if that one should not wait. The request is of the longest line, or a late
// one of the payer's own line if no line is longer.
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

// longest returns the payer with the longest line. It looks at each payer that waits, and
// is called only when the queue is full.
func (q *Queue[T]) longest() (longest *payer[T]) {
	for _, p := range q.order {
		if longest == nil || p.line.n > longest.line.n || p.line.n == longest.line.n && p.name < longest.name {
			longest = p
		}
	}
	return longest
}

// lateAfter is the number of admissions of its payer after which a request is late.
func (q *Queue[T]) lateAfter(slots int) int64 {
	return max(1, int64(slots)*3/2/int64(max(1, len(q.order))))
}

// payer returns the payer with a name. One that had nothing to wait for has no claim for
// that time.
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

// begin charges the estimate of a request.
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

// turnOf puts a payer behind all others that were charged as much.
func (q *Queue[T]) turnOf(p *payer[T]) {
	q.begun++
	p.since = q.begun
}

// sweep makes room for another payer. It forgets those that have nothing here, first those
// that owe nothing.
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
