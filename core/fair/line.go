package fair

// line holds the waiting requests of one payer in order of arrival.
type line[T any] struct {
	first, last *Waiter[T]
	inTime      *Waiter[T] // the first request not known to be late, or nil
	n           int
}

// Waiter is a waiting request.
type Waiter[T any] struct {
	// Value belongs to the caller.
	Value T
	// Turn is set by [Queue.Pop].
	Turn Turn[T]

	payer      *payer[T] // nil unless the request waits
	came       int64     // how many requests of its payer had been admitted when it arrived
	prev, next *Waiter[T]
}

// Waits reports whether the request is waiting in a queue.
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

// next returns the oldest request in time or, if all are late, the newest. A request is late if at most overdue
// requests of its payer had been admitted when it arrived. The only request in a line is never late.
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
