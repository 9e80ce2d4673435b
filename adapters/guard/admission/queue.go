package admission

import "strings"

// queue is the requests that wait, in a line for each account. The lines with
// requests that may be in time take turns, and so do those with late ones only.
type queue struct {
	lines   map[string]*line
	inTime  ring
	late    ring
	waiting int // in all lines
}

// line is the requests of one account, in the order in which they came. There
// are no empty lines.
type line struct {
	account     string
	first, last *waiter
	inTime      *waiter // the first that was not seen to be late, or nil
	n           int
	ring        *ring // it is in, late if inTime is nil
	prev, next  *line
}

// waiter is a request that waits.
type waiter struct {
	turn       chan turn // gets one value
	came       int64     // how many had been admitted when it came
	line       *line     // nil: it waits no more
	prev, next *waiter
}

// turn is what becomes of a waiter.
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

// pop takes out the first request in time of the account whose turn it is, or
// returns nil if all are late: those that came before the number overdue of
// admissions, or at it.
func (q *queue) pop(overdue int64) *waiter {
	for q.inTime.turn != nil {
		l := q.inTime.turn
		q.inTime.turn = l.next
		// Who waits with one request cannot be late by a crowd of its own: it
		// takes its turn, however long the round was.
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

// popLate takes out the last request of the account whose turn it is, when all
// that wait are late and some do.
func (q *queue) popLate() *waiter {
	l := q.late.turn
	q.late.turn = l.next
	w := l.last
	q.remove(w)
	return w
}

// remove takes w out of its line.
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

// longest is the longest line. It is looked for when the queue is full, among as
// many as there are accounts in it.
func (q *queue) longest() (longest *line) {
	for _, l := range q.lines {
		if longest == nil || l.n > longest.n || l.n == longest.n && l.account < longest.account {
			longest = l
		}
	}
	return longest
}

// ring is lines that take turns.
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
