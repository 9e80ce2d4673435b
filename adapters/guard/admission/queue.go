package admission

import "strings"

// queue holds the waiting requests, in a line for each account. The lines with
// requests that may be in time take turns, and so do those with late ones only.
type queue struct {
	lines   map[string]*line
	inTime  ring
	late    ring
	waiting int // in all lines
}

// line holds the requests of one account, in the order in which they came. No line
// is empty.
type line struct {
	account     string
	first, last *waiter
	inTime      *waiter // the first that was not seen to be late, or nil
	n           int
	ring        *ring // the ring of the line; that of late lines if inTime is nil
	prev, next  *line
}

// waiter is a waiting request.
type waiter struct {
	turn       chan turn // gets one value
	came       int64     // number of admissions before it came
	line       *line     // nil after its wait
	prev, next *waiter
}

// turn is the end of a wait.
type turn uint8

const (
	refused turn = iota
	inTime       // admitted, as is one that did not wait
	late         // admitted, but late
)

// push puts w at the end of its account's line. An account that had no request
// in time takes its turn after all others.
func (q *queue) push(account string, w *waiter) {
	l := q.lines[account]
	if l == nil {
		l = &line{account: strings.Clone(account)}
		q.lines[l.account] = l
		l.first = w
	} else {
		l.last.next = w
	}
	w.line, w.prev, l.last = l, l.last, w
	l.n++
	q.waiting++
	if l.inTime == nil {
		l.inTime = w
		l.move(&q.inTime)
	}
}

// pop removes and returns the first request in time of the account whose turn it
// is, or nil if all requests are late. A request is late if it came at the admission
// with the number overdue, or before.
func (q *queue) pop(overdue int64) *waiter {
	for q.inTime.turn != nil {
		l := q.inTime.turn
		q.inTime.turn = l.next
		// The only request of an account is not late because of others of the same
		// account. It takes its turn, however long the round was.
		for l.inTime != nil && l.n > 1 && l.inTime.came <= overdue {
			l.inTime = l.inTime.next
		}
		if w := l.inTime; w != nil {
			q.remove(w)
			return w
		}
		l.move(&q.late)
	}
	return nil
}

// popLate removes and returns the last request of the account whose turn it is. At
// least one request waits, and all of them are late.
func (q *queue) popLate() *waiter {
	l := q.late.turn
	q.late.turn = l.next
	w := l.last
	q.remove(w)
	return w
}

// remove removes w from its line.
func (q *queue) remove(w *waiter) {
	l := w.line
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
	wasInTime := l.inTime != nil
	if l.inTime == w {
		l.inTime = w.next
	}
	w.line, w.prev, w.next = nil, nil, nil
	l.n--
	q.waiting--
	switch {
	case l.n == 0:
		delete(q.lines, l.account)
		l.move(nil)
	case wasInTime && l.inTime == nil:
		l.move(&q.late)
	}
}

// longest returns the longest line. It is called only when the queue is full, and
// looks at the line of each waiting account.
func (q *queue) longest() (longest *line) {
	for _, l := range q.lines {
		if longest == nil || l.n > longest.n || l.n == longest.n && l.account < longest.account {
			longest = l
		}
	}
	return longest
}

// ring holds lines that take turns.
type ring struct{ turn *line }

// move puts a line at the end of a round of another ring, or of none.
func (l *line) move(to *ring) {
	if from := l.ring; from != nil {
		if from.turn == l {
			from.turn = l.next
		}
		if from.turn == l {
			from.turn = nil
		}
		l.prev.next, l.next.prev = l.next, l.prev
	}
	l.ring, l.prev, l.next = to, l, l
	if to == nil {
		return
	}
	if to.turn == nil {
		to.turn = l
		return
	}
	l.prev, l.next = to.turn.prev, to.turn
	l.prev.next, l.next.prev = l, l
}
