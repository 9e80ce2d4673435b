package fair

// line holds the waiting requests of one payer in order of arrival.
type line[T any] struct {
	first, last *Waiter[T]
	inTime      *Waiter[T] // the oldest request that is not known to be late (see next), or nil
	n           int
}

// Waiter is a waiting request.
type Waiter[T any] struct {
	// Value belongs to the caller.
	Value T
	// Turn is the running request. [Queue.Pop] sets it when the request starts.
	Turn Turn[T]

	payer      *payer[T] // payer of the request, or nil if the request is not waiting
	came       int64     // value of payer.admitted at the arrival of this request
	prev, next *Waiter[T]
}

// Waits reports whether the request is still in a queue.
func (w *Waiter[T]) Waits() bool { return w.payer != nil }

func (l *line[T]) push(p *payer[T], w *Waiter[T]) {
	w.payer, w.prev = p, l.last
	if l.last == nil {
		l.first = w
	} else {
		l.last.next = w
	}
	l.last = w
	l.n++
	if l.inTime == nil {
		l.inTime = w
	}
}

// next returns the oldest waiting request that is not late (Waiter.came > overdue), or the newest request if all are
// late. A single waiting request is never late.
func (l *line[T]) next(overdue int64) *Waiter[T] {
	if l.n == 1 {
		return l.last
	}
	for l.inTime != nil && l.inTime.came <= overdue {
		l.inTime = l.inTime.next
	}
	if l.inTime != nil {
		return l.inTime
	}
	return l.last
}

func (l *line[T]) remove(w *Waiter[T]) {
	if w.prev == nil {
		l.first = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		l.last = w.prev
	} else {
		w.next.prev = w.prev
	}
	if l.inTime == w {
		l.inTime = w.next
	}
	l.n--
	w.payer, w.prev, w.next = nil, nil, nil
}
